package audit

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"linerate/internal/show"
)

// Style controls how Write prints a report.
type Style struct {
	show.Style
	// Floor hides findings of lower severity; they are still counted.
	Floor Severity
}

var inks = map[Severity]show.Ink{Error: show.Bad, Warning: show.Doubt, Info: show.Note}

// page prints one report.
type page struct{ *show.Page }

func (p *page) f(format string, args ...any) { p.Line(fmt.Sprintf(format, args...)) }

// Write prints a report for people: worst findings first, grouped by kind, each with its line and
// place, what is wrong, why, and what to do.
func (r *Report) Write(w io.Writer, s Style) error {
	p := &page{show.NewPage(s.Style)}
	p.head(r)
	p.files(r.Files)
	shown := r.Findings
	if s.Floor != "" {
		shown = slices.DeleteFunc(slices.Clone(shown), func(f Finding) bool { return !f.Severity.AtLeast(s.Floor) })
	}
	for i := 0; i < len(shown); {
		f := shown[i]
		if i == 0 || f.Severity != shown[i-1].Severity || f.Kind != shown[i-1].Kind {
			p.heading(f)
		}
		same := 1
		for i+same < len(shown) && f.sameAs(shown[i+same]) {
			same++
		}
		p.findings(shown[i : i+same])
		i += same
	}
	p.tail(r, len(r.Findings)-len(shown))
	return p.Flush(w)
}

// sameAs reports whether two findings have the same reason and the same fix.
func (f Finding) sameAs(g Finding) bool {
	return f.Rule() == g.Rule() && f.Severity == g.Severity && f.Kind == g.Kind && f.Why == g.Why && f.Fix == g.Fix && f.Why+f.Fix != ""
}

func (p *page) head(r *Report) {
	name := osName(r.OS)
	switch {
	case r.OS == "" && len(r.Files) == 0: // an empty report
		return
	case r.OS == "":
		name = "several systems"
	}
	if r.Release != "" {
		name += " " + r.Release
	}
	if r.Product != "" {
		name = r.Product + " on " + name
	}
	if r.Host != "" {
		name = r.Host + ", " + name
	}
	p.f("%s", clean(name))
	if r.Role != "" {
		p.f("role: %s (%s)", r.Role, clean(strings.Join(r.RoleReasons, "; ")))
	}
}

// files prints the files of a repository, one per row.
func (p *page) files(all []FileSummary) {
	if len(all) < 2 {
		return
	}
	table := show.Table{Header: []string{"FILE", "FORM", "FOR", "RELEASE", "LINES", "ERRORS", "WARNINGS", "INFO"}, Right: []bool{false, false, false, false, true, true, true, true}}
	for _, f := range all {
		release := f.Release
		if f.Pinned != "" {
			release = f.Pinned
		}
		table.Add(clean(f.File), clean(f.Form), dash(clean(f.Node)), dash(clean(release)), show.Count(f.Lines), show.Count(f.Errors), show.Count(f.Warnings), show.Count(f.Info))
	}
	p.Line("")
	p.Lines(table.Lines(p.Style))
}

func dash(s string) string { return cmp.Or(s, "–") }

func (p *page) heading(f Finding) {
	p.Line("")
	p.f("%s  %s: %s", p.Paint(inks[f.Severity], strings.ToUpper(string(f.Severity))), f.Kind, f.Kind.Describe())
}

// mostAlike is the maximum number of listed findings without a line that say the same: a host may
// have one counter of a kind per CPU.
const mostAlike = 8

// findings prints one finding, or several with the same text.
func (p *page) findings(alike []Finding) {
	for i, f := range alike {
		if i == mostAlike && f.File == "" {
			p.f("  … and %s more, all in the JSON", show.Count(len(alike)-i))
			break
		}
		if i == 0 || f.File != "" {
			p.Line("")
		}
		p.finding(f)
	}
	p.paragraph("    ", "    ", alike[0].Why)
	p.paragraph("    → ", "      ", alike[0].Fix)
}

// finding prints what is wrong, and where.
func (p *page) finding(f Finding) {
	p.f("  %s", clean(f.ID))
	if f.File != "" {
		place := f.File
		if f.Line > 0 {
			place = fmt.Sprintf("%s:%d", f.File, f.Line)
		}
		if f.Place != "" {
			place = f.Place + " (" + place + ")"
		}
		p.f("    %s: %s", clean(place), clean(strings.TrimPrefix(strings.TrimPrefix(f.Text, f.Name+": "), f.Place+" ")))
	}
	p.paragraph("    ", "    ", f.Message)
}

// paragraph adds a text unless it is empty.
func (p *page) paragraph(first, rest, text string) {
	if text = clean(text); text != "" {
		p.Paragraph(first, rest, text)
	}
}

// clean removes control characters, which a hostile file may send to the terminal.
func clean(s string) string { return show.Clean(strings.TrimSpace(s)) }

func (p *page) tail(r *Report, hidden int) {
	p.Line("")
	for _, u := range r.Unread {
		p.f("not read: %s (%s)", clean(u.Source), clean(u.Reason))
	}
	if len(r.Unread) > 0 {
		p.Line("")
	}
	for _, s := range r.Stale {
		p.f("suppression %s: %s (%s)", clean(s.Pattern), s.Why, clean(s.Reason))
	}
	if len(r.Stale) > 0 {
		p.Line("")
	}
	p.Line(r.counts(hidden))
	if r.Lines > 0 {
		p.f("%s read, %s without a finding", show.Plural(r.Lines, "line"), show.Count(r.Quiet))
	}
	p.paragraph("", "  ", r.Coverage.sentences())
}

// verdict says what the absence of findings means; it takes into account files that could not be
// read.
func (r *Report) verdict() string {
	v := r.Coverage.verdict()
	if r.Blind() {
		return strings.Replace(v, wellAsItIs, "no finding in what could be read", 1)
	}
	return v
}

// counts formats the numbers of findings by severity, and the verdict if there are none.
func (r *Report) counts(hidden int) string {
	errors, warnings := r.Count(Error), r.Count(Warning)-r.Count(Error)
	s := fmt.Sprintf("%s, %s, %s info", show.Plural(errors, "error"), show.Plural(warnings, "warning"), show.Count(r.Count(Info)-errors-warnings))
	if more := r.Count(Info) - len(r.Findings); more > 0 {
		s += fmt.Sprintf(" (%s more of the same kinds not listed)", show.Count(more))
	}
	if hidden > 0 {
		s += fmt.Sprintf(" (%s not shown)", show.Count(hidden))
	}
	if n := r.Hidden; n > 0 {
		s += fmt.Sprintf(", %s suppressed", show.Count(n))
	}
	if len(r.Findings) == 0 || r.Coverage.blind() && r.Coverage.Set+r.Coverage.Running > 0 {
		s += ": " + r.verdict()
	}
	return s
}
