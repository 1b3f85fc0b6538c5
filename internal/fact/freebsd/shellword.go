package freebsd

import (
	"strings"

	"linerate/internal/lazy"
)

// word reads one word: quotes, backslashes and expansions that need no execution. It always
// advances by at least one byte.
func (s *shell) word() word {
	w := &wordReader{shell: s, word: word{known: true, eq: -1, bare: true}}
	for s.pos < len(s.text) && w.more(s.text[s.pos]) {
	}
	w.word.text = w.out.String()
	return w.word
}

type wordReader struct {
	*shell
	word
	out strings.Builder
}

// more reads the next piece of a word; it returns false at the end.
func (w *wordReader) more(c byte) bool {
	switch {
	case c == '\'':
		w.bare = false
		w.singleQuoted()
	case c == '"':
		w.bare = false
		w.doubleQuoted()
	case c == '\\':
		w.bare = false
		w.escaped()
	case c == '$':
		w.bare = false
		w.dollar()
	case c == '`':
		w.bare = false
		w.backquoted()
	case c == '\n' || c == ' ' || c == '\t' || strings.IndexByte(";&|<>()", c) >= 0:
		return false
	default:
		if c == '=' && w.eq < 0 && w.bare && variable().MatchString(w.out.String()) {
			w.eq = w.out.Len()
		}
		w.put(c)
		w.pos++
	}
	return true
}

func (w *wordReader) put(c byte) {
	if w.out.Len() < maxValue {
		w.out.WriteByte(c)
		return
	}
	w.unknown("it is too long")
}

func (w *wordReader) puts(v string) {
	if w.out.Len()+len(v) <= maxValue {
		w.out.WriteString(v)
		return
	}
	w.unknown("it is too long")
}

func (w *wordReader) unknown(why string) {
	if w.known {
		w.known, w.why = false, why
	}
}

func (w *wordReader) singleQuoted() {
	w.pos++
	for w.pos < len(w.text()) && w.text()[w.pos] != '\'' {
		w.put(w.text()[w.pos])
		w.advance()
	}
	w.close()
}

// close skips a closing quote, which may be missing in a truncated file.
func (w *wordReader) close() {
	if w.pos >= len(w.text()) {
		w.unknown("a quote is not closed")
		w.broken("Unterminated quoted string")
		return
	}
	w.pos++
}

func (w *wordReader) text() string { return w.shell.text }

func (w *wordReader) doubleQuoted() {
	w.pos++
	for w.pos < len(w.text()) && w.text()[w.pos] != '"' {
		switch c := w.text()[w.pos]; c {
		case '$':
			w.dollar()
		case '`':
			w.backquoted()
		case '\\':
			w.escapedInQuotes()
		default:
			w.put(c)
			w.advance()
		}
	}
	w.close()
}

// escapedInQuotes handles a backslash between double quotes, where it only escapes $ ` " \ and
// newline.
func (w *wordReader) escapedInQuotes() {
	if w.pos+1 >= len(w.text()) {
		w.pos++
		return
	}
	next := w.text()[w.pos+1]
	switch {
	case next == '\n':
	case strings.IndexByte("$`\"\\", next) >= 0:
		w.put(next)
	default:
		w.put('\\')
		w.put(next)
	}
	w.pos++
	w.advance()
}

func (w *wordReader) escaped() {
	w.pos++
	if w.pos >= len(w.text()) {
		return
	}
	if c := w.text()[w.pos]; c != '\n' {
		w.put(c)
	}
	w.advance()
}

// backquoted skips a command substitution.
func (w *wordReader) backquoted() {
	w.unknown("it is a command's output")
	w.pos++
	for w.pos < len(w.text()) && w.text()[w.pos] != '`' {
		if w.text()[w.pos] == '\\' && w.pos+1 < len(w.text()) {
			w.pos++
		}
		w.advance()
	}
	if w.pos >= len(w.text()) {
		w.broken("EOF in backquote substitution")
	}
	w.close()
}

// plain matches the characters of names at the start of a text.
var plain = lazy.Regexp(`^[A-Za-z0-9_]*`)

// dollar expands $name, ${name} and ${name:-default}; command substitutions and arithmetic are
// unknown.
func (w *wordReader) dollar() {
	w.pos++
	rest := w.text()[w.pos:]
	switch {
	case strings.HasPrefix(rest, "("):
		w.unknown("it is a command's output")
		w.skipParens()
	case strings.HasPrefix(rest, "{"):
		w.pos++
		w.braced()
	default:
		name := plain().FindString(rest)
		if !variable().MatchString(name) {
			w.special(rest)
			return
		}
		w.pos += len(name)
		w.refs = append(w.refs, name)
		w.puts(w.rc.vars[name])
	}
}

// special handles a dollar sign without a name after it.
func (w *wordReader) special(rest string) {
	if rest != "" && strings.IndexByte("?$!#@*-0123456789", rest[0]) >= 0 {
		w.unknown("it uses $" + rest[:1])
		w.pos++
		return
	}
	w.put('$')
}

// skipParens skips a balanced pair of parentheses.
func (w *wordReader) skipParens() {
	depth := 0
	for w.pos < len(w.text()) {
		switch w.text()[w.pos] {
		case '(':
			depth++
		case ')':
			depth--
		}
		w.advance()
		if depth == 0 {
			return
		}
	}
}

// braced expands ${…} after the brace.
func (w *wordReader) braced() {
	start := w.pos
	depth := 1
	for w.pos < len(w.text()) && depth > 0 {
		switch w.text()[w.pos] {
		case '{':
			depth++
		case '}':
			depth--
		case '\\':
			if w.pos+1 < len(w.text()) {
				w.pos++
			}
		}
		w.advance()
	}
	if depth > 0 {
		w.unknown("a brace is not closed")
		w.broken("missing '}'")
		return
	}
	w.parameter(w.text()[start : w.pos-1])
}

// parameter expands the content of ${…}.
func (w *wordReader) parameter(inside string) {
	name := plain().FindString(inside)
	op := inside[len(name):]
	if !variable().MatchString(name) {
		w.unknown("it uses ${" + clip(inside, 20) + "}")
		return
	}
	value, set := w.rc.vars[name]
	w.refs = append(w.refs, name)
	if op == "" {
		w.puts(value)
		return
	}
	if colon := strings.HasPrefix(op, ":"); colon {
		op = op[1:]
		set = set && value != ""
	}
	if op == "" {
		w.unknown("it uses ${" + clip(inside, 20) + "}")
		return
	}
	w.alternative(name, value, op, set)
}

// alternative expands ${name-word}, ${name=word} and ${name+word}.
func (w *wordReader) alternative(name, value, op string, set bool) {
	other, plain := w.plainWord(op[1:])
	switch op[0] {
	case '-', '=':
		if set {
			w.puts(value)
			return
		}
		if plain && op[0] == '=' {
			line := w.line
			w.assign(word{text: name + "=" + other, eq: len(name), known: true}, line, w.raw(w.begin, w.pos))
		}
	case '+':
		if !set {
			return
		}
	default:
		w.unknown("it edits ${" + name + "} with a pattern")
		return
	}
	if !plain {
		w.unknown("its default needs execution")
		return
	}
	w.puts(other)
}

// reference matches a variable in the word of ${name:+word}.
var reference = lazy.Regexp(`\$([A-Za-z_]\w*|\{[A-Za-z_]\w*\})`)

// plainWord returns the word of ${name-word} with quotes removed and plain references expanded;
// false if it has other expansions, or grows too long.
func (w *wordReader) plainWord(s string) (string, bool) {
	rest := reference().ReplaceAllString(s, "")
	if strings.ContainsAny(rest, "$`\\") || len(rest) < len(s) && strings.Contains(rest, "'") {
		return "", false
	}
	s = strings.NewReplacer(`"`, "", `'`, "").Replace(s)
	room := maxValue
	s = reference().ReplaceAllStringFunc(s, func(ref string) string {
		value := w.rc.vars[strings.Trim(ref, "${}")]
		if room -= len(value); room < 0 {
			return ""
		}
		return value
	})
	return s, room >= 0 && len(s) <= maxValue
}
