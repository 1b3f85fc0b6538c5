package explain

import (
	"fmt"
	"io"
	"strings"

	"linerate/internal/list"
	"linerate/internal/show"
)

// page prints sections with wrapped paragraphs.
type page struct{ *show.Page }

// Text prints the page.
func (p Page) Text(w io.Writer, style show.Style) error {
	o := &page{show.NewPage(style)}
	o.head(p)
	o.facts(p)
	o.advice(p)
	o.claims(p)
	o.rest(p)
	return o.Flush(w)
}

func (o *page) head(p Page) {
	on := p.OS
	if p.Release != "" {
		on += " " + p.Release
	}
	if p.Here {
		on += " as here"
	}
	o.line("%s  (%s, %s, %s)", o.Bold(p.Name), on, p.Mechanism, p.Subsystem)
	if p.Asked != "" {
		o.line("asked as %s", p.Asked)
	}
	o.line("")
	o.Paragraph("", "", p.Summary)
}

// Facts returns the rows of a table of what is known on the release.
func (p Page) Facts() [][2]string {
	filled := func(s string) bool { return s != "" }
	kind := strings.Join(list.Filter([]string{string(p.Type), p.Unit, p.Bounds}, filled), ", ")
	return list.Filter([][2]string{
		{"Set in", p.Where}, {"Default", p.defaultOn()}, {"Value", kind}, {"Outside", p.Outside}, {"Governs", p.Scope},
		{"all, device", p.WithAll}, {"Costs", p.Cost}, {"Becomes", p.becomes()}, {"Module", p.Module}, {"Kernel option", p.Option},
		{"Earlier in", strings.Join(p.Backports, ", ")},
	}, func(f [2]string) bool { return filled(f[1]) })
}

func (o *page) facts(p Page) {
	o.line("")
	for _, f := range p.Facts() {
		o.Paragraph(fmt.Sprintf("  %-14s", f[0]), strings.Repeat(" ", 16), f[1])
	}
	if len(p.History) > 1 {
		o.heading("By release")
		for _, h := range p.History {
			o.Paragraph(fmt.Sprintf("  %-14s", h.Releases), strings.Repeat(" ", 16), h.Is)
		}
	}
	o.list("Written by", p.Writers)
	if p.Value != nil {
		o.value(*p.Value)
	}
	o.list("Sources in the default mask", p.Decoded)
	if p.Host != nil {
		o.host(*p.Host)
	}
}

// defaultOn describes the default. If no release was requested and releases differ, it adds the one
// it applies to, the newest.
func (p Page) defaultOn() string {
	text, known := p.defaultText(), Releases[p.OS]
	if text == "" || p.Release != "" || len(p.History) < 2 || len(known) == 0 {
		return text
	}
	return text + ", on " + known[len(known)-1]
}

func (o *page) value(v Value) {
	o.heading("The value " + v.Value)
	switch {
	case len(v.Findings) > 0: // the findings are more specific
	case v.Problem != "":
		o.Paragraph("  ", "  ", v.Problem)
	case v.Default:
		o.Paragraph("  ", "  ", "is the default: leave it out")
	default:
		o.Paragraph("  ", "  ", "is allowed")
	}
	for _, text := range v.Findings {
		o.Paragraph("  ", "  ", text)
	}
	for _, d := range v.Decoded {
		o.Paragraph("    ", "    ", d)
	}
}

func (o *page) advice(p Page) {
	if p.Helps != "" || p.Hurts != "" {
		o.heading("When")
		if p.Helps != "" {
			o.Paragraph("  helps  ", "         ", p.Helps)
		}
		if p.Hurts != "" {
			o.Paragraph("  hurts  ", "         ", p.Hurts)
		}
	}
	when := func(text, prefix, condition string) string {
		if condition == "" {
			return text
		}
		return text + " (" + prefix + condition + ")"
	}
	o.list("Cautions", list.Map(p.Cautions, func(c Caution) string { return when(c.Kind+": "+c.Text, "when ", c.Condition) }))
	o.list("Coupled with", list.Map(p.Coupled, func(c Coupled) string { return when(c.Name+": "+c.Why, "", c.Condition) }))
	o.list("For a role", list.Map(p.Recommended, func(a Advice) string { return fmt.Sprintf("%s: %s. %s", a.of(), a.Set, unsaid(a.Set, a.Reason)) }))
}

// unsaid returns the reason without what the advice already says: "Leave it; sendfile's large reads
// profit." after "leave it".
func unsaid(set, reason string) string {
	first, rest, cut := strings.Cut(reason, " ")
	if after, ok := strings.CutPrefix(rest, "it"); ok && cut && strings.EqualFold(first+" it", set) {
		first, rest = first+" it"+after[:min(1, len(after))], strings.TrimSpace(after[min(1, len(after)):])
	}
	said := strings.TrimRight(first, ".,;:")
	if said == first || !strings.HasPrefix(set, strings.ToLower(said)) || rest == "" {
		return reason
	}
	return strings.ToUpper(rest[:1]) + rest[1:]
}

func (o *page) claims(p Page) {
	o.heading("Who says what")
	if len(p.Claims) == 0 {
		o.line("  no known source")
	}
	for i, c := range p.Claims {
		where := c.cited()
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
		o.Paragraph("  - ", "    ", where)
		if i > 0 && c.Says == p.Claims[i-1].Says && c.Truth == p.Claims[i-1].Truth {
			continue
		}
		o.Paragraph("    ", "    ", c.Says)
		truth := c.Verdict
		if c.Truth != "" {
			truth += ": " + c.Truth
		}
		o.Paragraph("    → ", "      ", truth)
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
		o.Paragraph("  ", "  ", strings.Join(p.Related, ", "))
	}
	o.heading("Sources")
	o.Paragraph("  ", "  ", strings.Join(p.Sources, ", "))
	for _, k := range p.Checked {
		o.Paragraph("  ", "    ", fmt.Sprintf("checked against %s %s (%s): %s", p.OS, k.Release, k.How, strings.Join(k.What, ", ")))
	}
}

func (o *page) list(title string, items []string) {
	if len(items) == 0 {
		return
	}
	o.heading(title)
	for _, i := range items {
		o.Paragraph("  - ", "    ", i)
	}
}

func (o *page) heading(s string) { o.line("\n%s", o.Bold(s)) }

func (o *page) line(format string, args ...any) { o.Line(fmt.Sprintf(format, args...)) }
