package redact

import "regexp"

// bare is a value without quotes of its own; one that ends it is its line's.
const bare = `[^\s;"']+(?:["'][^\s;"']+)*`

// secrets are what looks secret in a text, whatever kind of file it is in; the first
// group, where there is one, stays.
var secrets = []*regexp.Regexp{
	// A name that says so, and its value: wpa-psk WORD, PASSWORD=WORD, "token": "WORD".
	regexp.MustCompile(`(?i)([a-z0-9_.-]*(?:passphrase|password|passwd|secret|credentials?|token|psk|private[_-]?key|preshared[_-]?key|api[_-]?key|auth[_-]?key|wep[_-]?key[0-9]?)["']?(?:[ \t]*[:=][ \t]*|[ \t]+))(?:"[^"]*"?|'[^']*'?|` + bare + `)`),
	regexp.MustCompile(`(?i)(\b(?:pass|pwd|pw|pin|key|auth|community)["']?[ \t]*[:=][ \t]*)(?:"[^"]*"?|'[^']*'?|` + bare + `)`),
	// CARP's password is a word behind another: pass is a rule of pf elsewhere.
	regexp.MustCompile(`(\bvhid\b[^"\n]*\bpass[ \t]+)` + bare),
	// Credentials of a command line and of an address.
	regexp.MustCompile(`((?:^|[ \t])(?:-u|--user|-U|--proxy-user)[ \t=]*["']?)[^\s:"']+:[^\s"']+`),
	regexp.MustCompile(`(?i)(\b(?:authorization|x-[a-z-]*(?:key|token)):[ \t]*)[^"'\n]+`),
	regexp.MustCompile(`(://)[^/\s:@"']*:[^/\s"'@]+`),
	// Hashes of passwords, keys in hexadecimal, and words with capitals, letters and digits
	// that are longer than names are.
	regexp.MustCompile(`\$[0-9a-z]{1,3}\$[^\s:"']+`),
	regexp.MustCompile(`\b(?:0x)?[0-9a-fA-F]{32,}\b`),
}

// random is a word that may be a key in base64.
var random = regexp.MustCompile(`[A-Za-z0-9+/_-]{20,}`)

var classes = []*regexp.Regexp{regexp.MustCompile(`[a-z]`), regexp.MustCompile(`[A-Z]`), regexp.MustCompile(`[0-9]`)}

// Secrets masks only what looks secret. It is for texts shown to the owner of the file, on
// the terminal and in a patch of that file.
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
