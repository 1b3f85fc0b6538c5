package audit

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"linerate/internal/show"
)

// Style says how Write shows a report.
type Style struct {
	show.Style
	// Floor leaves out findings less severe; they are counted.
	Floor Severity
}

var inks = map[Severity]show.Ink{Error: show.Bad, Warning: show.Doubt, Info: show.Note}

// page is a page of one report.
type page struct{ *show.Page }

func (p *page) f(format string, args ...any) { p.Line(fmt.Sprintf(format, args...)) }

// Write shows a report to people: worst first, grouped by kind, each line
// quoted with its place, what is wrong, why, and what to do.
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

// sameAs: why and what to do about it are in the same words.
func (f Finding) sameAs(g Finding) bool {
	return f.Rule() == g.Rule() && f.Severity == g.Severity && f.Kind == g.Kind && f.Why == g.Why && f.Fix == g.Fix && f.Why+f.Fix != ""
}

func (p *page) head(r *Report) {
	name := osName(r.OS)
	switch {
	case r.OS == "" && len(r.Files) == 0: // of nothing
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

// files are the files of a repository, a row each.
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

// mostAlike is how many findings about no line are listed that say the same: a
// host has a counter of a kind for each of its processors.
const mostAlike = 8

// findings shows one finding, or several with the same text.
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

// finding shows what is wrong, and where.
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

// paragraph adds a text, if there is one.
func (p *page) paragraph(first, rest, text string) {
	if text = clean(text); text != "" {
		p.Paragraph(first, rest, text)
	}
}

// clean keeps control characters of hostile files off the terminal.
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

// verdict is what no findings mean; a file that could not be read may hold
// what there would be to say.
func (r *Report) verdict() string {
	v := r.Coverage.verdict()
	if r.Blind() {
		return strings.Replace(v, wellAsItIs, "no finding in what could be read", 1)
	}
	return v
}

// counts says how many findings there are, and what none of them means.
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
