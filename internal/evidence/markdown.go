package evidence

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"linerate/internal/show"
	"linerate/internal/stats"
)

// group is all rows of one setting on one machine.
type group struct {
	machine, set string
	rows         []Row
}

// Markdown writes rows as tables for people, one for each tunable and one row
// for each setting and machine: how many comparisons there are, what came of
// them, and between which effects they lie. Only what was changed alone, or
// beside its pair, is named.
func Markdown(rows []Row) string {
	byName := map[string][]Row{}
	for _, r := range rows {
		byName[r.Tunable] = append(byName[r.Tunable], r)
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		fmt.Fprintf(&b, "### %s\n\n| set | machine | releases | comparisons | effect | verdicts |\n|---|---|---|---|---|---|\n", name)
		for _, g := range groups(byName[name]) {
			low, high := g.bounds()
			effect := show.SignedPercent(low)
			if high != low {
				effect += " to " + show.SignedPercent(high)
			} else if len(g.rows) == 1 {
				effect += " " + show.Interval(g.rows[0].CILow.Float(), g.rows[0].CIHigh.Float())
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %d | %s | %s |\n", cell(g.set), cell(g.machine), cell(g.releases()), len(g.rows), effect, g.verdicts())
		}
		b.WriteString("\n")
	}
	return b.String()
}

func cell(s string) string { return strings.ReplaceAll(s, "|", "\\|") }

func groups(rows []Row) []group {
	type key struct{ machine, set string }
	at := map[key]int{}
	var out []group
	for _, r := range rows {
		set := cmp.Or(r.Before, "default") + " → " + cmp.Or(r.After, "default")
		if !r.Alone {
			set += " (with its pair)"
		}
		k := key{r.Machine(), set}
		i, ok := at[k]
		if !ok {
			i = len(out)
			at[k] = i
			out = append(out, group{machine: k.machine, set: k.set})
		}
		out[i].rows = append(out[i].rows, r)
	}
	slices.SortStableFunc(out, func(a, b group) int { return cmp.Or(cmp.Compare(a.machine, b.machine), cmp.Compare(a.set, b.set)) })
	return out
}

func (g group) bounds() (low, high float64) {
	low, high = g.rows[0].EffectPercent.Float(), g.rows[0].EffectPercent.Float()
	for _, r := range g.rows {
		low, high = min(low, r.EffectPercent.Float()), max(high, r.EffectPercent.Float())
	}
	return low, high
}

// releases are the numbers alone, in order.
func (g group) releases() string {
	var out []string
	for _, r := range g.rows {
		number, _, _ := strings.Cut(r.Release, "-")
		if !slices.Contains(out, number) {
			out = append(out, number)
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func (g group) verdicts() string {
	var out []string
	for _, v := range stats.Verdicts() {
		n := 0
		for _, r := range g.rows {
			if r.Verdict == v {
				n++
			}
		}
		switch {
		case n == len(g.rows) && n == 1:
			return string(v)
		case n > 0:
			out = append(out, fmt.Sprintf("%d %s", n, v))
		}
	}
	return strings.Join(out, ", ")
}
