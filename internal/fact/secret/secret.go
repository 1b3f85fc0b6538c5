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

var (
	base64   = regexp.MustCompile(`[A-Za-z0-9+/]{43}=`)
	wordByte = regexp.MustCompile(`[A-Za-z0-9]`)
	hexKey   = regexp.MustCompile(`0[xX][0-9a-fA-F]{32,}`)
	// block is a line of a key or a certificate that nothing begins.
	block = regexp.MustCompile(`^[ \t]*[A-Za-z0-9+/=]{44,}[ \t\r]*$`)
	// checksum is pfctl's, of the rules.
	checksum = regexp.MustCompile(`^Checksum: 0x[0-9a-f]{32} *$`)
	// zone is a line of vmstat -z: a kernel's memory zone may be called PWD.
	zone = regexp.MustCompile(`^[^:=]+: +[0-9]+, *[0-9]+, *[0-9]+, *[0-9]+, *[0-9]+, *[0-9, ]+$`)
	// prose begins a comment that is no line switched off.
	prose = regexp.MustCompile(`#+[ \t]`)
	// plainWord follows "password" in a sentence.
	plainWord = regexp.MustCompile(`^[a-z]+[.,:)]*$`)
	// wideEnd ends a value that a blank stands before.
	wideEnd = regexp.MustCompile(`[;"'}]|[ \t]#`)
)

// minHash is the length below which a crypt(3) pattern is something else:
// "$1$2" of a shell.
const minHash = 16

// Line returns a line without its secrets, and whether it held one.
func Line(s string) (string, bool) {
	if checksum.MatchString(s) || zone.MatchString(s) {
		return s, false
	}
	if block.MatchString(s) && mixed(s) {
		return Mark, true
	}
	out, low := s, lower(s)
	for _, r := range rulesRE {
		if containsAny(low, r.words) {
			out = replaceValues(out, r.before, len(out), false)
		}
	}
	if suspicious(low) {
		if at := restRE.FindStringIndex(lower(out)); at != nil {
			out = out[:at[1]] + Mark
		}
		out = replaceValues(out, assignmentRE, len(out), true)
		out = replaceValues(out, optionRE, comment(out), false)
	}
	if len(s) >= minHash {
		out = hashes(out)
	}
	return out, out != s
}

// mixed tells a key from a long number, name or path.
func mixed(s string) bool {
	return !strings.HasPrefix(s, "/") && strings.ContainsAny(s, "0123456789") && lower(s) != s && strings.ToUpper(s) != s
}

// hashes takes out what is a key or a hash by its form. Most lines lack the
// signs that every one of them has.
func hashes(s string) string {
	if strings.Contains(s, "//") || strings.Contains(s, "iscsi:") {
		s = loginRE.ReplaceAllString(s, "${1}"+Mark+"@")
	}
	if low := lower(s); containsAny(low, services) {
		s = forms(s, low)
	}
	if strings.IndexByte(s, '$') >= 0 {
		s = cryptRE.ReplaceAllStringFunc(s, func(m string) string {
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

// services are signs that every form of what services give out has.
var services = []string{"gh", "glpat-", "xox", "tskey-", "hvs.", "sk_live_", "dop_v1_", "aiza", "eyj", "slack", "/bot", "github_pat_", "grub.pb"}

// forms takes out what services give out.
func forms(s, low string) string {
	var out strings.Builder
	from := 0
	for _, at := range issuedRE.FindAllStringIndex(low, -1) {
		if at[1]-at[0] >= minIssued {
			out.WriteString(s[from:at[0]] + Mark)
			from = at[1]
		}
	}
	return out.String() + s[from:]
}

// minIssued is the length below which it is a word that begins alike.
const minIssued = 20

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
	"token", "community", "credential", "setkey", "keydata", "_pw", "_key", "-key", "key=", "key =", "key:", "key\"", "key'", "key\t",
	"wep", "sig", "key-string", "createuser", "com2sec"}

func suspicious(low string) bool { return containsAny(low, telling) }

func containsAny(s string, parts []string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
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
// on the line is a sentence: "no password here" tells nothing. After a blank
// some values have blanks of their own: wide.
func replaceValues(s string, pattern *regexp.Regexp, words int, wide bool) string {
	var out strings.Builder
	low, whole := lower(s), len(s)
	unit := wide && strings.Contains(low, "environment")
	for {
		at := pattern.FindStringIndex(low)
		if at == nil {
			break
		}
		n := valueLength(s[at[1]:])
		if c := s[at[1]-1]; wide && (c == ' ' || c == '\t') {
			n = wideLength(s[at[1]:], n)
		} else if unit && at[0] > 0 && strings.IndexByte(`"'`, s[at[0]-1]) >= 0 {
			n = textLength(s[at[1]:], s[at[0]-1:at[0]]) // systemd's "NAME=a value"
		}
		value := s[at[1] : at[1]+n]
		out.WriteString(s[:at[1]])
		inWords := whole-len(s)+at[1] > words && plainWord.MatchString(value)
		if inWords || harmlessRE.MatchString(low[at[0]:at[1]]) || empty(value) {
			out.WriteString(value)
		} else {
			out.WriteString(quoted(value))
		}
		s, low = s[at[1]+n:], low[at[1]+n:]
	}
	out.WriteString(s)
	return out.String()
}

// wideLength is how far a value of words goes, at least n.
func wideLength(s string, n int) int {
	if s == "" || strings.IndexByte("\"'\\", s[0]) >= 0 {
		return n
	}
	if at := wideEnd.FindStringIndex(s); at != nil {
		s = s[:at[0]]
	}
	return max(n, len(strings.TrimRight(s, " \t")))
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
	switch v := strings.ToLower(strings.Trim(value, `"'`)); v {
	case "", "yes", "no", "on", "off", "true", "false", "none", "0", "1", "ask", "=", ":", Mark:
		return true
	default:
		return plainRE.MatchString(v)
	}
}

func quoted(value string) string {
	if value[0] == '"' || value[0] == '\'' {
		return value[:1] + Mark + value[:1]
	}
	return Mark
}
