package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"linerate/internal/ledger"
	"linerate/internal/show"
	"linerate/internal/study"
)

// printEvidence prints evidence as tables, hardware by hardware and metric by
// metric, nulls and losses included.
func printEvidence(w io.Writer, lines []ledger.Line) error {
	page := show.NewPage(styleOf(w))
	machine := ""
	for i, g := range measurements(lines) {
		if i == 0 || g.machine != machine {
			if i > 0 {
				page.Line("")
			}
			page.Line(page.Bold(g.machine))
			machine = g.machine
		}
		page.Paragraph("  ", "    ", g.as)
		indented(page, g.table)
	}
	if err := page.Flush(w); err != nil {
		return err
	}
	if ledger.Disagreement(lines) {
		fmt.Fprintln(w, "\nThe evidence conflicts: it depends on the machine, the release or what else was set.")
	}
	if hasReadmes(lines) {
		fmt.Fprintln(w, "\nIntervals are 95 %; verdicts are after Holm within each study.")
	}
	return nil
}

// measurement is the evidence of one machine that was measured alike.
type measurement struct {
	machine, as string
	table       show.Table
}

// measurements are the lines by machine, and within one in the order of what
// was measured first.
func measurements(lines []ledger.Line) (out []*measurement) {
	known := map[[2]string]*measurement{}
	for i := range lines {
		l := &lines[i]
		key := [2]string{machineOf(l), measuredAs(l)}
		m := known[key]
		if m == nil {
			m = &measurement{machine: key[0], as: key[1]}
			known[key], out = m, append(out, m)
		}
		addLine(&m.table, l)
	}
	slices.SortStableFunc(out, func(a, b *measurement) int { return strings.Compare(a.machine, b.machine) })
	return out
}

// measuredAs is the release, the study, the part and the metric of a line.
func measuredAs(l *ledger.Line) string {
	return fmt.Sprintf("%s, %s, %s: %s", releaseText(l.OS, l.Release), l.Study, l.Workload, metricLabel(l.Metric))
}

// indented adds a table below a heading of two columns.
func indented(page *show.Page, t show.Table) {
	inner := page.Style
	inner.Width = page.Columns() - 4
	for _, l := range t.Lines(inner) {
		page.Line("    " + l)
	}
}

// addLine adds a line's row, and one without what is excluded.
func addLine(t *show.Table, l *ledger.Line) {
	t.Add(settingText(l), l.EffectText(), "n "+show.Count(l.N), pText(l), verdictText(l))
	if o := l.Without; o != nil {
		t.Add(fmt.Sprintf("  without %d excluded", l.Dropped), o.EffectText(), "n "+show.Count(o.N), pText(o), string(o.Verdict))
	}
}

func hasReadmes(lines []ledger.Line) bool {
	for i := range lines {
		if lines[i].Published != nil {
			return true
		}
	}
	return false
}

func machineOf(l *ledger.Line) string {
	s := l.CPU
	if s == "" {
		s = l.Hardware
	}
	if l.Cores > 0 {
		s += fmt.Sprintf(", %d cores", l.Cores)
	}
	if l.NIC != "" {
		s += ", " + l.NIC
	}
	if l.Driver != "" && l.Driver != l.NIC {
		s += " (" + l.Driver + ")"
	}
	return s
}

// releaseText is a system and its release, without how its kernel was built.
func releaseText(os, release string) string {
	release, _, _ = strings.Cut(release, " #")
	return strings.TrimSpace(os + " " + release)
}

func settingText(l *ledger.Line) string {
	s := show.KeepStart(l.Setting(), 44)
	if l.Tunable != "" && !l.Alone && len(l.Changes) > 1 {
		s += fmt.Sprintf(" (and %d more)", len(l.Changes)-1)
	}
	return s
}

// metricLabel is a metric in words: a comparison has a line for each.
func metricLabel(name string) string {
	if m, ok := study.MetricNamed(name); ok {
		return m.Label
	}
	return name
}

func pText(l *ledger.Line) string { return "p " + show.Optional(l.PHolm, show.P) }

// verdictText is the verdict with what limits it and what its author said.
func verdictText(l *ledger.Line) string {
	s := string(l.Verdict)
	if l.Excluded != "" {
		s = "excluded: " + l.Excluded
	}
	if l.Published != nil && !l.Published.Agrees {
		s += fmt.Sprintf("; its README says %s", l.Published.Verdict)
		if l.Published.Percent != 0 {
			s += fmt.Sprintf(" (%s ± %s)", show.SignedPercent(l.Published.Percent), show.Percent(l.Published.PercentError))
		}
	}
	for _, f := range l.Flags {
		if strings.HasPrefix(f, "generator-bound") || f == "drift" || strings.HasPrefix(f, "distrust") {
			s += "; " + f
		}
	}
	return s
}

// showOverview says what is in the ledger.
func showOverview(ctx context.Context, w io.Writer, s ledger.Store, asJSON bool) error {
	head, ok, err := s.Head(ctx)
	if err != nil {
		return err
	}
	studies, err := s.Studies(ctx, ledger.Filter{})
	if err != nil {
		return err
	}
	names, err := s.Tunables(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(w, map[string]any{"version": 1, "ledger": s.Place(), "entries": head.Seq, "head": head.Hash, "studies": studies, "tunables": names})
	}
	fmt.Fprintf(w, "%s: %s, %s, evidence on %s\n", s.Place(), counted(int(head.Seq), "entry", "entries"), counted(len(studies), "study", "studies"), show.Plural(len(names), "tunable"))
	if !ok {
		fmt.Fprintln(w, "Fill it: linerate demo, or linerate import netbenches DIR")
		return nil
	}
	var t show.Table
	for _, st := range studies {
		t.Add(st.ID[:12], placeText(&st), st.Question)
	}
	return t.Write(w, styleOf(w))
}

// placeText is a study of linerate's by its name and start, another's by its place.
func placeText(s *ledger.Study) string {
	if s.Kind != ledger.KindStudy || s.Started == nil {
		return s.Place
	}
	return s.Name + " " + s.Started.UTC().Format("2006-01-02 15:04")
}

// counted is a number of things whose plural is irregular.
func counted(n int, one, more string) string {
	if n != 1 {
		one = more
	}
	return show.Count(n) + " " + one
}

func printShown(w io.Writer, s *shown) error {
	var b bytes.Buffer
	if json.Indent(&b, s.Record, "", "  ") != nil {
		b.Write(s.Record)
	}
	fmt.Fprintf(w, "%s, entry %d\n%s\n", singular(s.Table), s.Entry, b.String())
	if len(s.Trials) == 0 {
		return nil
	}
	var table show.Table
	for i := range s.Trials {
		t := &s.Trials[i]
		state := strings.Join(t.Flags, ", ")
		if !t.Valid {
			state = "invalid: " + strings.Join(t.Reasons, "; ")
		}
		from := ""
		if len(t.Sources) > 0 {
			from = fmt.Sprintf("%s lines %d–%d", t.Sources[0].Path, t.Sources[0].First, t.Sources[0].Last)
		}
		table.Add(t.ID[:12], t.Variant, t.Workload, fmt.Sprintf("block %d", t.Block), metricsText(t), state, from)
	}
	return table.Write(w, styleOf(w))
}

// singular is a table's name for one of its records.
func singular(table string) string {
	if table == "studies" {
		return "study"
	}
	return strings.TrimSuffix(table, "s")
}

// metricsText is a trial's first metric that a verdict may rest on.
func metricsText(t *ledger.Trial) string {
	for _, name := range []string{"overload_forwarding_rate_pps", "equilibrium_mbps", "cost_ns_per_packet", "forwarding_rate_pps"} {
		if v, ok := t.Metrics[name]; ok {
			return name + " " + show.Value(v)
		}
	}
	return ""
}
