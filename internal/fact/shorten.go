package fact

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// maxValue is the size in bytes above which a value is shown by its ends: the
// kernels take no sysctl of more than a page.
const maxValue = 4096

// Shorten cuts the middle out of a text that is longer than most bytes, and
// says how long it was.
func Shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	head, tail := most/2, len(s)-most/8
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return fmt.Sprintf("%s…(%d bytes)…%s", s[:head], len(s), s[tail:])
}

// Shortened is the facts for people to read: what a file gives more than a
// page for is there by its ends. The facts themselves stay whole.
func (f *Facts) Shortened() *Facts {
	g := *f
	g.Settings, g.Problems = slices.Clone(f.Settings), slices.Clone(f.Problems)
	for i := range g.Settings {
		s := &g.Settings[i]
		s.Name = Shorten(s.Name, maxValue)
		for _, v := range []**string{&s.Live, &s.Env} {
			if *v != nil {
				short := Shorten(**v, maxValue)
				*v = &short
			}
		}
		s.Lines = slices.Clone(s.Lines)
		for j := range s.Lines {
			l := &s.Lines[j]
			l.Name, l.Value, l.Text, l.Note = Shorten(l.Name, maxValue), Shorten(l.Value, maxValue), Shorten(l.Text, maxValue), Shorten(l.Note, maxValue)
		}
	}
	for i := range g.Problems {
		p := &g.Problems[i]
		p.Text, p.Message = Shorten(p.Text, maxValue), Shorten(p.Message, maxValue)
	}
	return &g
}
