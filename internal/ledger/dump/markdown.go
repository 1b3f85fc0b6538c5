package dump

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"linerate/internal/ledger"
	"linerate/internal/show"
)

// Markdown writes evidence as one table for each tunable: every machine,
// nulls and losses with the gains.
func Markdown(w io.Writer, lines []ledger.Line) error {
	byName := map[string][]ledger.Line{}
	for i := range lines {
		seen := map[string]bool{}
		for _, c := range lines[i].Changes {
			if seen[c.Tunable] {
				continue
			}
			seen[c.Tunable] = true
			l := lines[i]
			l.Tunable, l.Before, l.After = c.Tunable, c.Before, c.After
			byName[c.Tunable] = append(byName[c.Tunable], l)
		}
	}
	// One metric needs no column; of several each comparison has a line.
	several := slices.ContainsFunc(lines, func(l ledger.Line) bool { return l.Metric != lines[0].Metric })
	head := []string{"machine", "release", "study", "workload", "set", "effect, 95 % interval", "n", "p (Holm)", "verdict"}
	if several {
		head = slices.Insert(head, 4, "metric")
	}
	var b strings.Builder
	for _, name := range sortedKeys(byName) {
		fmt.Fprintf(&b, "### %s\n\n", name)
		b.WriteString("| " + strings.Join(head, " | ") + " |\n|" + strings.Repeat("---|", len(head)) + "\n")
		for i := range byName[name] {
			row(&b, &byName[name][i], several)
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func row(b *strings.Builder, l *ledger.Line, metric bool) {
	set := l.Subject().Change()
	if !l.Alone {
		set += " and more"
	}
	verdict := string(l.Verdict)
	if l.Published != nil && !l.Published.Agrees {
		verdict += "; its README says " + l.Published.Verdict
	}
	if l.Excluded != "" {
		verdict = "excluded: " + l.Excluded
	}
	cells := []string{
		l.Subject().Machine(), l.Subject().System(), l.Study, l.Workload,
		set, l.TextWithBounds(), show.Count(l.N), show.Optional(l.PHolm, show.P), verdict,
	}
	if metric {
		cells = slices.Insert(cells, 4, l.Metric)
	}
	for i, cell := range cells {
		if i == 0 {
			b.WriteString("|")
		}
		b.WriteString(" " + strings.ReplaceAll(cell, "|", `\|`) + " |")
	}
	b.WriteString("\n")
}
