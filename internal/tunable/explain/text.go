package explain

import (
	"fmt"
	"io"
	"strings"
)

// Style is how a page is written in a terminal.
type Style struct {
	// Width is the columns to fill; 0 is 80.
	Width int
	// Colour marks headings and verdicts.
	Colour bool
}

// page writes sections with wrapped paragraphs; the first error sticks.
type page struct {
	w     io.Writer
	style Style
	err   error
}

// Text writes the page for people.
func (p Page) Text(w io.Writer, style Style) error {
	if style.Width <= 20 {
		style.Width = 80
	}
	o := &page{w: w, style: style}
	o.head(p)
	o.facts(p)
	o.advice(p)
	o.claims(p)
	o.rest(p)
	return o.err
}

func (o *page) head(p Page) {
	on := p.OS
	if p.Release != "" {
		on += " " + p.Release
	}
	o.line("%s  (%s, %s, %s)", o.bold(p.Name), on, p.Mechanism, p.Subsystem)
	if p.Asked != "" {
		o.line("asked as %s", p.Asked)
	}
	o.line("")
	o.wrap("", "", p.Summary)
}

func (o *page) facts(p Page) {
	o.line("")
	kind := string(p.Type)
	if p.Unit != "" {
		kind += ", " + p.Unit
	}
	if p.Bounds != "" {
		kind += ", " + p.Bounds
	}
	for _, f := range [][2]string{
		{"Set in", p.Where}, {"Default", p.defaultText()}, {"Value", kind}, {"Governs", p.Scope},
		{"Costs", p.Cost}, {"Becomes", p.becomes()}, {"Module", p.Module}, {"Kernel option", p.Option},
	} {
		if f[1] != "" {
			o.wrap(fmt.Sprintf("  %-14s", f[0]), strings.Repeat(" ", 16), f[1])
		}
	}
	if len(p.History) > 1 {
		o.heading("By release")
		for _, h := range p.History {
			o.wrap(fmt.Sprintf("  %-14s", h.Releases), strings.Repeat(" ", 16), h.Is)
		}
	}
	if p.Value != nil {
		o.value(*p.Value)
	}
	o.list("Sources in the default mask", p.Decoded)
}

func (o *page) value(v Value) {
	o.heading("The value " + v.Value)
	switch {
	case v.Problem != "":
		o.wrap("  ", "  ", v.Problem)
	case v.Default:
		o.wrap("  ", "  ", "is the default: leave it out")
	default:
		o.wrap("  ", "  ", "is allowed")
	}
	for _, d := range v.Decoded {
		o.wrap("    ", "    ", d)
	}
}

func (o *page) advice(p Page) {
	if p.Helps != "" || p.Hurts != "" {
		o.heading("When")
		if p.Helps != "" {
			o.wrap("  helps  ", "         ", p.Helps)
		}
		if p.Hurts != "" {
			o.wrap("  hurts  ", "         ", p.Hurts)
		}
	}
	if len(p.Cautions) > 0 {
		o.heading("Cautions")
	}
	for _, c := range p.Cautions {
		text := c.Kind + ": " + c.Text
		if c.When != "" {
			text += " (when " + c.When + ")"
		}
		o.wrap("  - ", "    ", text)
	}
	if len(p.Coupled) > 0 {
		o.heading("Coupled with")
	}
	for _, c := range p.Coupled {
		text := c.Name + ": " + c.Why
		if c.Holds != "" {
			text += " (" + c.Holds + ")"
		}
		o.wrap("  - ", "    ", text)
	}
	if len(p.Recommended) > 0 {
		o.heading("For a role")
	}
	for _, a := range p.Recommended {
		o.wrap("  - ", "    ", fmt.Sprintf("%s: %s. %s", a.Role, a.Set, a.Reason))
	}
}

func (o *page) claims(p Page) {
	o.heading("Who says what")
	if len(p.Claims) == 0 {
		o.line("  nobody we know of")
	}
	for i, c := range p.Claims {
		where := c.Source + ", " + c.At
		if c.In != "" && c.In != "prose" {
			state := "commented out"
			if c.Active {
				state = "active"
			}
			where += fmt.Sprintf(" (%s, %s)", c.In, state)
		}
		if c.Sets != "" {
			where += ": " + c.Sets
		}
		o.wrap("  - ", "    ", where)
		if i > 0 && c.Says == p.Claims[i-1].Says && c.Truth == p.Claims[i-1].Truth {
			continue
		}
		o.wrap("    ", "    ", c.Says)
		truth := c.Verdict
		if c.Truth != "" {
			truth += ": " + c.Truth
		}
		o.wrap("    → ", "      ", truth)
	}
	o.evidence(p)
}

func (o *page) rest(p Page) {
	o.list("Notes", p.Notes)
	if p.ConceptIs != "" {
		o.heading("The same idea: " + p.ConceptIs)
		if len(p.Same) == 0 {
			o.line("  no other tunable in the catalogue")
		}
		for _, s := range p.Same {
			o.line("  %s", s)
		}
	}
	if len(p.Related) > 0 {
		o.heading("Related")
		o.wrap("  ", "  ", strings.Join(p.Related, ", "))
	}
	o.heading("Sources")
	o.wrap("  ", "  ", strings.Join(p.Sources, ", "))
}

func (o *page) list(title string, items []string) {
	if len(items) == 0 {
		return
	}
	o.heading(title)
	for _, i := range items {
		o.wrap("  - ", "    ", i)
	}
}

func (o *page) heading(s string) { o.line("\n%s", o.bold(s)) }

func (o *page) bold(s string) string {
	if !o.style.Colour {
		return s
	}
	return "\x1b[1m" + s + "\x1b[0m"
}

func (o *page) line(format string, args ...any) {
	if o.err == nil {
		_, o.err = fmt.Fprintf(o.w, format+"\n", args...)
	}
}

// wrap writes a paragraph, its first line after first, the others after rest.
func (o *page) wrap(first, rest, text string) {
	line := first
	empty := true
	for _, word := range strings.Fields(text) {
		if !empty && len([]rune(line))+1+len([]rune(word)) > o.style.Width {
			o.line("%s", line)
			line, empty = rest, true
		}
		if !empty {
			line += " "
		}
		line, empty = line+word, false
	}
	o.line("%s", line)
}
