package audit

import (
	"fmt"
	"io"
	"strings"
)

// Style says how Write shows a report.
type Style struct {
	// Colour uses ANSI colours.
	Colour bool
	// Floor leaves out findings less severe; they are counted.
	Floor Severity
	// Width is where lines are broken; 0 takes 80.
	Width int
}

var colours = map[Severity]string{Error: "\x1b[31m", Warning: "\x1b[33m", Info: "\x1b[36m"}

// printer writes a report and remembers the first error.
type printer struct {
	w     io.Writer
	style Style
	err   error
}

func (p *printer) f(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// Write shows a report to people: worst first, grouped by kind, each line
// quoted with its place, what is wrong, why, and what to do.
func (r *Report) Write(w io.Writer, s Style) error {
	if s.Width == 0 {
		s.Width = 80
	}
	p := &printer{w: w, style: s}
	p.head(r)
	hidden := 0
	for i, f := range r.Findings {
		if s.Floor != "" && !f.Severity.AtLeast(s.Floor) {
			hidden++
			continue
		}
		if i == 0 || f.Severity != r.Findings[i-1].Severity || f.Kind != r.Findings[i-1].Kind {
			p.heading(f)
		}
		p.finding(f)
	}
	p.tail(r, hidden)
	return p.err
}

func (p *printer) head(r *Report) {
	name := osName(r.OS)
	if r.Release != "" {
		name += " " + r.Release
	}
	if r.Host != "" {
		name = r.Host + ", " + name
	}
	p.f("%s\n", clean(name))
	if r.Role != "" {
		p.f("role: %s (%s)\n", r.Role, clean(strings.Join(r.RoleReasons, "; ")))
	}
}

func (p *printer) heading(f Finding) {
	colour, end := "", ""
	if p.style.Colour {
		colour, end = colours[f.Severity], "\x1b[0m"
	}
	p.f("\n%s%s%s  %s: %s\n", colour, strings.ToUpper(string(f.Severity)), end, f.Kind, f.Kind.Describe())
}

func (p *printer) finding(f Finding) {
	p.f("\n  %s\n", clean(f.ID))
	if f.File != "" {
		place := f.File
		if f.Line > 0 {
			place = fmt.Sprintf("%s:%d", f.File, f.Line)
		}
		p.f("    %s: %s\n", clean(place), clean(f.Text))
	}
	p.paragraph("    ", "    ", f.Message)
	p.paragraph("    ", "    ", f.Why)
	p.paragraph("    → ", "      ", f.Fix)
}

// paragraph breaks a text into lines no wider than the style's.
func (p *printer) paragraph(first, rest, text string) {
	line, indent := first, true
	for _, word := range strings.Fields(clean(text)) {
		if !indent && len([]rune(line))+1+len([]rune(word)) > p.style.Width {
			p.f("%s\n", line)
			line, indent = rest, true
		}
		if !indent {
			line += " "
		}
		line, indent = line+word, false
	}
	if !indent {
		p.f("%s\n", line)
	}
}

// clean keeps control characters of hostile files off the terminal.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' {
			return ' '
		}
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return '?'
		}
		return r
	}, strings.TrimSpace(s))
}

func (p *printer) tail(r *Report, hidden int) {
	for _, u := range r.Unread {
		p.f("\nnot read: %s (%s)", clean(u.Source), clean(u.Reason))
	}
	if len(r.Unread) > 0 {
		p.f("\n")
	}
	for _, s := range r.Stale {
		p.f("\nsuppression %s: %s (%s)", clean(s.Pattern), s.Why, clean(s.Reason))
	}
	if len(r.Stale) > 0 {
		p.f("\n")
	}
	errors, warnings := r.Count(Error), r.Count(Warning)-r.Count(Error)
	p.f("\n%s, %s, %d info", plural(errors, "error"), plural(warnings, "warning"), len(r.Findings)-errors-warnings)
	if hidden > 0 {
		p.f(" (%d not shown)", hidden)
	}
	if len(r.Suppressed) > 0 {
		p.f(", %d suppressed", len(r.Suppressed))
	}
	if len(r.Findings) == 0 || r.Coverage.blind() {
		p.f(": %s", r.Coverage.verdict())
	}
	p.f("\n")
	if r.Lines > 0 {
		p.f("%s read; nothing to say of %d\n", plural(r.Lines, "line"), r.Quiet)
	}
	p.paragraph("", "  ", r.Coverage.sentences())
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
