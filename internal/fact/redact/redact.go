// Package redact decides which parts of a host's files and command outputs an audit may see.
// It works by an allow-list: names known to the kernel, rc(8), the loader or a firewall,
// numbers, and words of a vocabulary. Comments, commands and the values of unknown names
// never pass, whatever they look like.
//
// The list is one table (rules.txt): kinds of text, each a small lexer. Two engines use
// it, Text here and redact.awk in the capture script; a test runs both on the same lines.
package redact

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// Mark replaces what was left out. It is a plain word, so that parsers of the redacted text find
// the same structure.
const Mark = "REDACTED"

// Left counts what was left out of a text.
type Left struct {
	// Comments counts comments, Texts other texts that are not allowed.
	Comments, Texts int
}

// Any reports whether something was left out.
func (l Left) Any() bool { return l.Comments+l.Texts > 0 }

// String returns, for example, "3 comments, 1 text".
func (l Left) String() string {
	var parts []string
	for _, c := range []struct {
		n    int
		noun string
	}{{l.Comments, "comment"}, {l.Texts, "text"}} {
		if c.n > 1 {
			c.noun += "s"
		}
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.noun))
		}
	}
	return strings.Join(parts, ", ")
}

// maxValue is the maximum length of a number or a word; keys are longer.
const maxValue = 24

// Text returns the redacted text of a kind, line by line, and what was left out. Nothing passes in
// an unknown kind.
func Text(kind, text string) (string, Left) {
	if kind == Whole {
		return text, Left{}
	}
	return seen.text(kind, text)
}

// look is Text without the cache.
func look(kind, text string) (string, Left) {
	s := sieve{start: kind, state: kind}
	if utf16(text) {
		return text[:2], Left{Texts: 1} // the byte order mark identifies it
	}
	var out strings.Builder
	bom := strings.HasPrefix(text, "\xef\xbb\xbf")
	if bom {
		out.WriteString(text[:3])
		text = text[3:]
	}
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			out.WriteByte('\n')
		}
		line, end := strings.CutSuffix(line, "\r")
		s.out.Reset()
		s.masked = false
		s.line(line)
		out.WriteString(s.out.String())
		if end {
			out.WriteByte('\r')
		}
	}
	return out.String(), s.left
}

// utf16 reports a text in UTF-16, which no program of these systems reads.
func utf16(text string) bool {
	return strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff")
}

// sieve is the state of redacting one text.
type sieve struct {
	start, state string
	out          strings.Builder
	masked       bool // out ends in Mark
	left         Left
}

// maxLine is how many bytes of a line are examined; the rest is masked.
const maxLine = 8192

// line writes the redacted line.
func (s *sieve) line(rest string) {
	t := compiled()
	beyond := rest[min(len(rest), maxLine):]
	rest = rest[:len(rest)-len(beyond)]
	for steps := 0; rest != ""; steps++ {
		n, r := t.match(s.state, rest)
		if r == nil || steps == maxSteps {
			s.mask(rest)
			break
		}
		s.emit(r, rest[:n])
		rest = rest[n:]
		if r.to != "" {
			s.state = r.to
		}
	}
	s.mask(beyond)
	if to, ok := t.eol[s.state]; ok {
		s.state = to
	} else {
		s.state = s.start
	}
}

// maxSteps is the maximum number of tokens per line.
const maxSteps = 4096

func (s *sieve) emit(r *rule, token string) {
	switch r.act {
	case keep:
		s.write(token)
	case value:
		if good(token) {
			s.write(token)
		} else {
			s.mask(token)
		}
	case mask:
		s.mask(token)
	case drop:
		if strings.Trim(token, " \t") != "" {
			s.left.Texts++
		}
	case comment:
		text := strings.TrimLeft(token, " \t")
		sign := 1
		if strings.HasPrefix(text, "//") {
			sign = 2
		}
		if len(text) > sign {
			s.left.Comments++
		}
		s.write(token[:len(token)-len(text)+sign])
	}
}

func (s *sieve) write(text string) {
	if text != "" {
		s.out.WriteString(text)
		s.masked = false
	}
}

func (s *sieve) mask(text string) {
	if text == Mark {
		s.write(Mark)
		s.masked = true
		return
	}
	if text == "" || s.masked {
		return
	}
	s.left.Texts++
	s.out.WriteString(Mark)
	s.masked = true
}

// good reports whether a token is a number or a word of the vocabulary.
func good(token string) bool {
	t := compiled()
	if _, ok := t.words[setWord+" "+token]; ok {
		return true
	}
	if _, ok := t.words[setWord+" "+lower(token)]; ok {
		return true
	}
	return len(token) <= maxValue && t.number.MatchString(token)
}

// lower lowers ASCII letters, like awk in the C locale.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, s)
}

// table holds the rules in the form for this engine.
type table struct {
	rules  map[string][]*rule
	eol    map[string]string
	words  map[string]struct{}
	number *regexp.Regexp
}

var compiled = sync.OnceValue(func() *table {
	w := written()
	t := &table{rules: map[string][]*rule{}, eol: w.eol, words: map[string]struct{}{}, number: regexp.MustCompilePOSIX(w.number)}
	for _, r := range w.rules {
		t.rules[r.at] = append(t.rules[r.at], r)
	}
	for _, w := range allWords() {
		t.words[w] = struct{}{}
	}
	return t
})

// match returns the first rule of a state that matches the beginning of a text, and the length of
// the match.
func (t *table) match(state, text string) (int, *rule) {
	for _, r := range t.rules[state] {
		r.once.Do(r.compile)
		at := r.matches.FindStringIndex(text)
		if at == nil || at[1] == 0 && (r.to == "" || r.to == state) {
			continue
		}
		if r.set != "" {
			if _, ok := t.words[r.set+" "+strings.Trim(text[:at[1]], " \t=+:\"'-")]; !ok {
				continue
			}
		}
		if r.follows != nil && !r.follows.MatchString(text[at[1]:]) {
			continue
		}
		return at[1], r
	}
	return 0, nil
}

// memo caches redacted texts: a fleet's hosts have mostly the same ones, and redaction costs more
// than the rest of an inspection. It never evicts, and stops at its limit.
type memo struct {
	mu    sync.RWMutex
	known map[memoKey]memoValue
	bytes int
}

type memoKey struct{ kind, text string }

type memoValue struct {
	clean string
	left  Left
}

const (
	memoBytes = 24 << 20 // of all texts
	memoText  = 32 << 10 // of one text
)

var seen = memo{known: map[memoKey]memoValue{}}

// text returns the redacted text, from the cache if possible.
func (m *memo) text(kind, text string) (string, Left) {
	if len(text) > memoText {
		return look(kind, text)
	}
	key := memoKey{kind, text}
	m.mu.RLock()
	v, ok := m.known[key]
	m.mu.RUnlock()
	if ok {
		return v.clean, v.left
	}
	clean, left := look(kind, text)
	if clean == text {
		clean = text // share one copy
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if size := len(text) + len(clean) + 96; m.bytes+size <= memoBytes {
		m.bytes += size
		m.known[key] = memoValue{clean, left}
	}
	return clean, left
}

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
