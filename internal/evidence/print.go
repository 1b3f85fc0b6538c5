package evidence

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/list"
	"linerate/internal/show"
	"linerate/internal/study"
)

// Print adds evidence to a page as tables by hardware and metric, including
// inconclusive and negative results.
func Print(page *show.Page, rows []Row) {
	Tables(page, rows)
	name := ""
	for _, c := range list.Filter(Together(rows, nil), Change.Several) {
		if c.Tunable != name {
			page.Line("\n" + page.Bold(c.Tunable))
			name = c.Tunable
		}
		page.Paragraph("  ", "    ", c.Change()+": "+c.Text)
	}
	if slices.ContainsFunc(rows, func(r Row) bool { return r.Published != nil }) {
		page.Line("\nIntervals are 95 %; verdicts are after Holm within each study.")
	}
}

// Tables adds the individual verdicts to a page.
func Tables(page *show.Page, rows []Row) {
	machine := ""
	for i, g := range measurements(rows) {
		if i == 0 || g.machine != machine {
			if i > 0 {
				page.Line("")
			}
			page.Line(page.Bold(g.machine))
			machine = g.machine
		}
		page.Paragraph("  ", "    ", g.as)
		page.Indented(g.table, 4)
	}
}

// measurement is the evidence from one machine and kind of measurement.
type measurement struct {
	machine, as string
	table       show.Table
}

// measurements groups the rows by machine, in the order of each group's first
// row.
func measurements(rows []Row) (out []*measurement) {
	known := map[[2]string]*measurement{}
	for _, r := range rows {
		key := [2]string{r.Machine(), fmt.Sprintf("%s, %s, %s: %s", r.System(), r.Study, r.Workload, r.MetricLabel())}
		if !r.Primary {
			key[1] += ", exploratory"
		}
		m := known[key]
		if m == nil {
			m = &measurement{machine: key[0], as: key[1]}
			known[key], out = m, append(out, m)
		}
		m.add(r)
	}
	slices.SortStableFunc(out, func(a, b *measurement) int { return strings.Compare(a.machine, b.machine) })
	return out
}

// MetricLabel returns the label of the metric.
func (r Row) MetricLabel() string {
	if m, ok := study.MetricNamed(r.Metric); ok {
		return m.Label
	}
	return r.Metric
}

// add adds a verdict's row, and one without excluded trials.
func (m *measurement) add(r Row) {
	m.table.Add(r.settingText(), r.TextWithBounds(), "n "+show.Count(r.N), r.PText(), r.verdictText())
	if o := r.Without; o != nil {
		m.table.Add(fmt.Sprintf("  without %d excluded", r.Dropped), o.TextWithBounds(), "n "+show.Count(o.N), o.PText(), string(o.Verdict))
	}
}

// maxSetting is the width of a change in a table.
const maxSetting = 44

func (r Row) settingText() string {
	s := r.Change()
	if r.Tunable == "" {
		s = r.Control + " → " + r.Variant
	}
	s = show.KeepStart(s, maxSetting)
	if r.Tunable != "" && !r.Alone && r.Changes > 1 {
		s += fmt.Sprintf(" (and %d more)", r.Changes-1)
	}
	return s
}

// PText formats the deciding p-value.
func (r Row) PText() string { return "p " + show.Optional(r.PHolm, show.P) }

// verdictText formats the verdict with its limitations and its author's conclusion.
func (r Row) verdictText() string {
	s := string(r.Verdict)
	if r.Excluded != "" {
		s = "excluded: " + r.Excluded
	}
	if r.Published != nil && !r.Published.Agrees {
		s += fmt.Sprintf("; its README says %s", r.Published.Verdict)
		if r.Published.Percent != 0 {
			s += fmt.Sprintf(" (%s ± %s)", show.SignedPercent(r.Published.Percent), show.Percent(r.Published.PercentError))
		}
	}
	for _, f := range r.Flags {
		if strings.HasPrefix(f, "generator-bound") || f == "drift" || strings.HasPrefix(f, "distrust") || strings.HasPrefix(f, "guardrail ") {
			s += "; " + f
		}
	}
	return s
}
