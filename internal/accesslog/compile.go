package accesslog

import (
	"bytes"
	"strings"
)

// A plan takes a line apart: steps from its front, then steps from its end.
// It reaches the needed fields by as few searches as it can.
type plan struct {
	front []step
	back  []step
}

// step is one search in a line.
type step struct {
	op      op
	first   byte   // of literal
	rest    []byte // of literal, after first
	length  int    // of literal
	capture Field  // None: skip
}

type op uint8

const (
	prefix     op = iota // the line must begin with the literal
	upTo                 // up to the literal
	upToQuoted           // up to the literal, whose first byte is a quote that is not escaped
	toEnd                // the rest of the line
	last                 // after the last occurrence of the literal (steps from the end)
)

func newStep(o op, literal string, f Field) step {
	s := step{op: o, capture: f, length: len(literal)}
	if literal != "" {
		s.first, s.rest = literal[0], []byte(literal[1:])
	}
	return s
}

// compile plans how to reach the needed fields of a format.
func (f *Format) compile(need fields) plan {
	need = expandRequest(f, need)
	tail := f.tailStart(need)
	p := plan{back: f.backSteps(tail)}
	end := 0 // the last token that must be reached from the front
	for i := 1; i < tail; i++ {
		if need.has(f.tokens[i].field) && f.tokens[i].field != None {
			end = i
		}
	}
	if end == 0 {
		return p
	}
	if lead := f.tokens[0].literal; lead != "" {
		p.front = append(p.front, newStep(prefix, lead, None))
	}
	for i := 1; i <= end; i++ {
		p.front = append(p.front, f.frontStep(i, need))
	}
	p.front = mergeSkips(p.front)
	return p
}

// expandRequest lets the request line stand for the method and path in it.
func expandRequest(f *Format, need fields) fields {
	for _, t := range f.tokens {
		if t.field == Request && (need.has(Path) || need.has(Method)) {
			return need.with(Request)
		}
	}
	return need
}

func (f *Format) frontStep(i int, need fields) step {
	t, field := f.tokens[i], None
	if need.has(t.field) {
		field = t.field
	}
	switch {
	case t.literal == "":
		return newStep(toEnd, "", field)
	case quoted(f.tokens[i-1].literal, t.literal):
		return newStep(upToQuoted, t.literal, field)
	}
	return newStep(upTo, t.literal, field)
}

// tailStart is the first token that is best reached from the line's end: of
// the one-word variables that end the line.
func (f *Format) tailStart(need fields) int {
	n := len(f.tokens)
	start := n
	if f.tokens[n-1].literal != "" {
		return n // something ends the line that steps from the front check
	}
	for i := n - 1; i > 0; i-- {
		if !f.tokens[i].plain || f.tokens[i-1].literal == "" {
			break
		}
		if need.has(f.tokens[i].field) && f.tokens[i].field != None {
			start = i
		}
	}
	return start
}

// backSteps reach tokens from the end down to start.
func (f *Format) backSteps(start int) []step {
	var steps []step
	n := len(f.tokens)
	for i := n - 1; i >= start && i > 0; i-- {
		steps = append(steps, newStep(last, f.tokens[i-1].literal, f.tokens[i].field))
	}
	return steps
}

// mergeSkips turns a run of skipped unquoted variables that ends at a quote
// into one search for the quote: servers escape quotes inside variables, so
// none of those can hold one.
func mergeSkips(steps []step) []step {
	var out []step
	for i := 0; i < len(steps); i++ {
		j := i
		for j < len(steps) && (steps[j].op == upTo || steps[j].op == prefix) && steps[j].capture == None && !hasQuote(steps[j]) {
			j++
		}
		if j > i && j < len(steps) && steps[j].op == upTo && steps[j].capture == None && hasQuote(steps[j]) {
			lit := string(steps[j].first) + string(steps[j].rest)
			out = append(out, newStep(upTo, lit[strings.IndexByte(lit, '"'):], None))
			i = j
			continue
		}
		out = append(out, steps[i])
	}
	return out
}

func hasQuote(s step) bool { return s.first == '"' || bytes.IndexByte(s.rest, '"') >= 0 }

// span is where a field stands in a line.
type span struct{ from, to int }

// spans of the fields that a plan captured.
type spans [numFields]span

// run takes line apart; false means that it does not have the format.
func (p *plan) run(line []byte, at *spans) bool {
	end, last := len(line), len(line)
	for i := range p.back {
		s := &p.back[i]
		k := lastIndex(line[:last], s)
		if k < 0 {
			return false
		}
		at[s.capture] = span{k + s.length, last}
		// The literal also ends what steps from the front reach.
		end, last = k+s.length, k
	}
	pos := 0
	for i := range p.front {
		s := &p.front[i]
		k := s.find(line[pos:end])
		if k < 0 {
			return false
		}
		at[s.capture] = span{pos, pos + k}
		pos += k + s.length
	}
	return true
}

// find returns where the step's literal begins in b, or -1.
func (s *step) find(b []byte) int {
	switch s.op {
	case prefix:
		if len(b) >= s.length && b[0] == s.first && bytes.Equal(b[1:s.length], s.rest) {
			return 0
		}
		return -1
	case toEnd:
		return len(b)
	}
	for off := 0; ; {
		k := bytes.IndexByte(b[off:], s.first)
		if k < 0 {
			return -1
		}
		k += off
		if len(b)-k >= s.length && (s.length == 1 || bytes.Equal(b[k+1:k+s.length], s.rest)) &&
			(s.op == upTo || !escaped(b, k)) {
			return k
		}
		off = k + 1
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

// lastIndex is bytes.LastIndex for a step's literal; the fields it finds are
// short, so it walks.
func lastIndex(b []byte, s *step) int {
	if s.length == 0 {
		return 0
	}
	for k := len(b) - s.length; k >= 0; k-- {
		if b[k] == s.first && (s.length == 1 || bytes.Equal(b[k+1:k+s.length], s.rest)) {
			return k
		}
	}
	return -1
}
