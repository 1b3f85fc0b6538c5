package accesslog

import "bytes"

// plan takes a line apart from its front, up to the last field that is needed.
type plan []step

// step is the search for the literal that ends a variable.
type step struct {
	literal string // "": the variable is the rest of the line
	quoted  bool   // the literal's first byte is a quote, which servers escape in the variable
	word    bool   // the variable is the last word of the rest
	capture Field
}

// compile plans how to reach the needed fields of a format.
func (f *Format) compile(need fields) plan {
	if need.has(Path) && f.holds(Request) {
		need = need.with(Request)
	}
	end := 0
	for i, t := range f.tokens[1:] {
		if t.field != None && need.has(t.field) {
			end = i + 1
		}
	}
	p := plan{{literal: f.tokens[0].literal}}
	for i := 1; i <= end; i++ {
		t := f.tokens[i]
		p = append(p, step{literal: t.literal, quoted: quoted(f.tokens[i-1].literal, t.literal), word: t.plain, capture: t.field})
	}
	return p
}

// span is where a field stands in a line.
type span struct{ from, to int }

// spans of the fields that a plan captured.
type spans [numFields]span

// run takes line apart; false means that it does not have the format.
func (p plan) run(line []byte, at *spans) bool {
	if !bytes.HasPrefix(line, []byte(p[0].literal)) {
		return false
	}
	pos := len(p[0].literal)
	for i := range p[1:] {
		s := &p[i+1]
		k := s.find(line[pos:])
		if k < 0 {
			return false
		}
		if s.literal == "" && s.word {
			pos += bytes.LastIndexByte(line[pos:], ' ') + 1
			k = len(line) - pos
		}
		at[s.capture] = span{pos, pos + k}
		pos += k + len(s.literal)
	}
	return true
}

// find returns where the step's literal begins in b, or -1.
func (s *step) find(b []byte) int {
	if s.literal == "" {
		return len(b)
	}
	for off := 0; ; {
		i := bytes.Index(b[off:], []byte(s.literal))
		if i < 0 {
			return -1
		}
		if i += off; !s.quoted || !escaped(b, i) {
			return i
		}
		off = i + 1
	}
}

// escaped reports whether an odd number of backslashes stands before b[k].
func escaped(b []byte, k int) bool {
	n := 0
	for k-n > 0 && b[k-n-1] == '\\' {
		n++
	}
	return n%2 == 1
}
