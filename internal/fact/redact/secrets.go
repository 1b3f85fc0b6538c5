package redact

import "regexp"

// bare matches an unquoted value; a final quote belongs to the line.
const bare = `[^\s;"']+(?:["'][^\s;"']+)*`

// secrets match what looks secret in any kind of file; the first group, if any, is kept.
var secrets = []*regexp.Regexp{
	// A telling name with its value: wpa-psk WORD, PASSWORD=WORD, "token": "WORD".
	regexp.MustCompile(`(?i)([a-z0-9_.-]*(?:passphrase|password|passwd|secret|credentials?|token|psk|private[_-]?key|preshared[_-]?key|api[_-]?key|auth[_-]?key|wep[_-]?key[0-9]?)["']?(?:[ \t]*[:=][ \t]*|[ \t]+))(?:"[^"]*"?|'[^']*'?|` + bare + `)`),
	regexp.MustCompile(`(?i)(\b(?:pass|pwd|pw|pin|key|auth|community)["']?[ \t]*[:=][ \t]*)(?:"[^"]*"?|'[^']*'?|` + bare + `)`),
	// CARP's password follows the word pass, which is a rule of pf elsewhere.
	regexp.MustCompile(`(\bvhid\b[^"\n]*\bpass[ \t]+)` + bare),
	// Credentials in command lines and URLs.
	regexp.MustCompile(`((?:^|[ \t])(?:-u|--user|-U|--proxy-user)[ \t=]*["']?)[^\s:"']+:[^\s"']+`),
	regexp.MustCompile(`(?i)(\b(?:authorization|x-[a-z-]*(?:key|token)):[ \t]*)[^"'\n]+`),
	regexp.MustCompile(`(://)[^/\s:@"']*:[^/\s"'@]+`),
	// Password hashes, hexadecimal keys, and words of mixed-case letters and digits longer than
	// names are.
	regexp.MustCompile(`\$[0-9a-z]{1,3}\$[^\s:"']+`),
	regexp.MustCompile(`\b(?:0x)?[0-9a-fA-F]{32,}\b`),
}

// random matches a word that may be a base64 key.
var random = regexp.MustCompile(`[A-Za-z0-9+/_-]{20,}`)

var classes = []*regexp.Regexp{regexp.MustCompile(`[a-z]`), regexp.MustCompile(`[A-Z]`), regexp.MustCompile(`[0-9]`)}

// Secrets masks only what looks secret. It is for texts shown to the owner of the file, on the
// terminal and in a patch of that file.
func Secrets(text string) string {
	for _, re := range secrets {
		with := Mark
		if re.NumSubexp() > 0 {
			with = "${1}" + Mark
		}
		text = re.ReplaceAllString(text, with)
	}
	return random.ReplaceAllStringFunc(text, func(word string) string {
		for _, c := range classes {
			if !c.MatchString(word) {
				return word
			}
		}
		return Mark
	})
}
