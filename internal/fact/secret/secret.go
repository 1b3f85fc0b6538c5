// Package secret takes secrets out of lines of configuration: passwords,
// keys, community strings, hashes. What it decides is what the capture
// script's redact.awk decides; a test holds both to the same lines.
package secret

import (
	"regexp"
	"strings"
)

// Mark stands where a secret was.
const Mark = "<redacted>"

const words = `(pass(word|wd|phrase|code)|secret|psk|presharedkey|preshared_key|wep-?key|wireless-key|mka-cak|wpakey|private_?key|privkey|auth_?key|api_?key|token|community|credential|setkey|fastopen_key|keydata|_pw)`

var (
	// assignment is a name that tells a secret, and its equals sign; a name
	// that ends in _key, pass or pwd, or is "key", tells one too.
	assignment = regexp.MustCompile(`([a-z0-9_.-]*` + words + `[a-z0-9_.-]*|[a-z0-9_.-]*([_-]key|pass|pwd)|(^|[^a-z0-9_])key)["']?[ \t]*[=:][ \t]*`)
	// option is a word that a secret follows, as in ifconfig's "wepkey 0x…".
	option = regexp.MustCompile(`(wireless-key[0-9]*|wep-key[0-9]*|wepkey|wpakey|psk|presharedkey|preshared-key|private-key|authkey|passphrase|password|passwd|sopass|secret|community|authorization: *(basic|bearer))[ \t]+`)
	// carp is ifconfig's "vhid 1 pass mekmitasdigoat".
	carp     = regexp.MustCompile(`[ \t"']pass[ \t]+`)
	carpLine = regexp.MustCompile(`vhid|ifconfig_|create_args_`)
	// macsec is ip's "key 01 8181…".
	macsec = regexp.MustCompile(`[ \t]key[ \t]+[0-9a-f]+[ \t]+`)
	// rest is a line of interfaces(5), whose value ends with the line.
	rest = regexp.MustCompile(`^[ \t]*(wpa-(psk|passphrase|password|pin|wep-key[0-9]*)|wireless-key[0-9]*)[ \t]+`)
	// login is the user and the password of an address.
	login    = regexp.MustCompile(`://[^/@ \t"']*:[^/@ \t"']*@`)
	crypt    = regexp.MustCompile(`\$(1|2[abxy]?|3|5|6|7|y|gy|md5|sha1|argon2[a-z]*)\$[./A-Za-z0-9$=,]+`)
	base64   = regexp.MustCompile(`[A-Za-z0-9+/]{43}=`)
	wordByte = regexp.MustCompile(`[A-Za-z0-9]`)
	hexKey   = regexp.MustCompile(`0[xX][0-9a-fA-F]{32,}`)
	// checksum is pfctl's, of the rules.
	checksum = regexp.MustCompile(`^Checksum: 0x[0-9a-f]{32} *$`)
	// prose begins a comment that is no line switched off.
	prose = regexp.MustCompile(`#+[ \t]`)
	// plainWord follows "password" in a sentence.
	plainWord = regexp.MustCompile(`^[a-z]+[.,:)]*$`)
	pemBegin  = regexp.MustCompile(`-----begin [a-z0-9 ]*(key|certificate)`)
)

// minHash is the length below which a crypt(3) pattern is something else:
// "$1$2" of a shell.
const minHash = 16

// harmless names look like secrets by a word of theirs, and are none.
var harmless = regexp.MustCompile(`^(kern\.geom\.eli\.[a-z_]*(tries|visible_passphrase|overwrites|boot_passcache)|net\.key\.|net\.inet\.tcp\.fastopen\.(psk_enable|(max|num)psks)|security\.|geom_eli_passphrase_prompt|.*(tokens?_?(rate|bucket|size|limit)|_passthrough|passthru|bypass|one_pass|secret_interval|_pwr_)|[^ ]*_(program|enable|format|file|files|path|dir|user|group)["']?[ \t]*[=:])`)

// Line returns a line without its secrets, and whether it held one.
func Line(s string) (string, bool) {
	if checksum.MatchString(s) {
		return s, false
	}
	out := s
	if low := lower(s); suspicious(low) {
		if at := rest.FindStringIndex(low); at != nil {
			out = out[:at[1]] + Mark
		}
		out = replaceValues(out, assignment, len(out))
		out = replaceValues(out, option, comment(out))
		if carpLine.MatchString(low) {
			out = replaceValues(out, carp, len(out))
		}
		if strings.Contains(low, "macsec") {
			out = replaceValues(out, macsec, len(out))
		}
	}
	if len(s) < minHash {
		return out, out != s
	}
	out = hashes(out)
	return out, out != s
}

// hashes takes out what is a key or a hash by its form. Most lines lack the
// signs that every one of them has.
func hashes(s string) string {
	if strings.Contains(s, "://") {
		s = login.ReplaceAllString(s, "://"+Mark+"@")
	}
	if strings.IndexByte(s, '$') >= 0 {
		s = crypt.ReplaceAllStringFunc(s, func(m string) string {
			if len(m) < minHash {
				return m
			}
			return Mark
		})
	}
	if strings.IndexByte(s, '=') >= 0 {
		s = keys(s)
	}
	if strings.Contains(s, "0x") || strings.Contains(s, "0X") {
		s = hexKey.ReplaceAllString(s, Mark)
	}
	return s
}

func inBase64(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '+' || r == '/'
}

// keys takes out 32 bytes in base64 or more; what goes on after the = is a name and its
// value.
func keys(s string) string {
	var out strings.Builder
	for {
		at := base64.FindStringIndex(s)
		if at == nil {
			return out.String() + s
		}
		from := len(strings.TrimRightFunc(s[:at[0]], inBase64))
		out.WriteString(s[:from])
		if rest := s[at[1]:]; rest != "" && wordByte.MatchString(rest[:1]) {
			out.WriteString(s[from:at[1]])
		} else {
			out.WriteString(Mark)
		}
		s = s[at[1]:]
	}
}

// telling are parts that every secret's name has: most lines have none, and
// need no further look.
var telling = []string{"pass", "pwd", "macsec", "secret", "psk", "presharedkey", "preshared", "wepkey", "wpakey", "mka-cak", "private", "privkey", "auth", "api",
	"token", "community", "credential", "setkey", "keydata", "_pw", "_key", "-key", "key=", "key =", "key:", "key\"", "key'", "key\t"}

func suspicious(low string) bool {
	for _, t := range telling {
		if strings.Contains(low, t) {
			return true
		}
	}
	return false
}

// comment is where a comment in words begins, the line's length without one.
func comment(s string) int {
	if at := prose.FindStringIndex(s); at != nil {
		return at[0]
	}
	return len(s)
}

// replaceValues replaces the value after each match of a pattern. From words
// on the line is a sentence: "no password here" tells nothing.
func replaceValues(s string, pattern *regexp.Regexp, words int) string {
	var out strings.Builder
	low, whole := lower(s), len(s)
	for {
		at := pattern.FindStringIndex(low)
		if at == nil {
			break
		}
		n := valueLength(s[at[1]:])
		value := s[at[1] : at[1]+n]
		out.WriteString(s[:at[1]])
		inWords := whole-len(s)+at[1] > words && plainWord.MatchString(value)
		if inWords || harmless.MatchString(low[at[0]:at[1]]) || empty(value) {
			out.WriteString(value)
		} else {
			out.WriteString(quoted(value))
		}
		s, low = s[at[1]+n:], low[at[1]+n:]
	}
	out.WriteString(s)
	return out.String()
}

// lower lowers ASCII letters only, so that places in both texts are the same.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// valueLength is how far a value goes: to its closing quote and what is joined
// on to it, else to a space, a quote or a semicolon; what a backslash stands
// before is no end.
func valueLength(s string) int {
	switch {
	case s == "":
		return 0
	case strings.HasPrefix(s, `\"`) || strings.HasPrefix(s, `\'`):
		if end := strings.Index(s[2:], s[:2]); end >= 0 {
			return end + 4
		}
		return len(s)
	case s[0] != '"' && s[0] != '\'':
		return textLength(s, " \t\"';")
	}
	q, n := s[:1], 0
	for again := true; again; again = strings.HasPrefix(tail(s, n), q) {
		n += 1 + textLength(tail(s, n+1), q) + 1
		for strings.HasPrefix(tail(s, n), `\`) {
			n += 2
		}
	}
	return min(n, len(s))
}

// textLength is how far it is to one of the ends; in single quotes a backslash
// is a letter.
func textLength(s, ends string) int {
	escapes := ends != "'"
	for n := 0; n < len(s); n++ {
		switch {
		case escapes && s[n] == '\\':
			n++
		case strings.IndexByte(ends, s[n]) >= 0:
			return n
		}
	}
	return len(s)
}

func tail(s string, from int) string { return s[min(from, len(s)):] }

// empty values and plain switches tell nothing: password="", YES, 0.
func empty(value string) bool {
	switch strings.ToLower(strings.Trim(value, `"'`)) {
	case "", "yes", "no", "on", "off", "true", "false", "none", "0", "1", "ask", "=", ":", Mark,
		"string", "opaque", "integer", "node", "unsigned", "long", "int8_t", "int16_t", "int32_t", "int64_t",
		"uint8_t", "uint16_t", "uint32_t", "uint64_t": // what sysctl -t says of a key
		return true
	}
	return false
}

func quoted(value string) string {
	if value[0] == '"' || value[0] == '\'' {
		return value[:1] + Mark + value[:1]
	}
	return Mark
}

// Text is Line over a text; blocks of PEM are dropped as a whole. It returns
// the numbers of the lines that held secrets.
func Text(s string) (string, []int) {
	var out strings.Builder
	var hit []int
	inside := false
	for i, line := range strings.Split(s, "\n") {
		if i > 0 {
			out.WriteByte('\n')
		}
		low := lower(line)
		begins := pemBegin.MatchString(low)
		if inside || begins {
			hit = append(hit, i+1)
			out.WriteString(Mark)
			inside = !strings.Contains(low, "-----end ")
			continue
		}
		clean, found := Line(line)
		if found {
			hit = append(hit, i+1)
		}
		out.WriteString(clean)
	}
	return out.String(), hit
}
