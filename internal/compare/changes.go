package compare

import (
	"fmt"
	"math"

	"linerate/internal/show"
	"linerate/internal/stats"
)

// Changes is what `compare changes FILE --json` prints.
type Changes struct {
	Version int      `json:"version"`
	N       int      `json:"n"`
	Changes []Change `json:"changes"`
}

// Change is one change; Index counts from 1.
type Change struct {
	Index         int          `json:"index"`
	P             float64      `json:"p"`
	Before        float64      `json:"before"`
	After         float64      `json:"after"`
	EffectPercent stats.Number `json:"effect_percent"` // null of what was zero before
}

func percent(c stats.ChangePoint) stats.Number {
	return stats.Num(100 * (c.After - c.Before) / math.Abs(c.Before))
}

// ChangesOf is what was found in n values.
func ChangesOf(n int, found []stats.ChangePoint) Changes {
	d := Changes{Version: 1, N: n, Changes: []Change{}}
	for _, c := range found {
		d.Changes = append(d.Changes, Change{c.Index + 1, c.P, c.Before, c.After, percent(c)})
	}
	return d
}

// PrintChanges shows what was found in n values.
func PrintChanges(p *show.Page, n int, found []stats.ChangePoint) {
	if len(found) == 0 {
		p.Line(fmt.Sprintf("%s: no change is shown", show.Plural(n, "value")))
		return
	}
	t := show.Table{Header: []string{"from value", "median before", "median after", "change", "p"}, Right: []bool{true, true, true, true, true}}
	for _, c := range found {
		t.Add(show.Count(c.Index+1), show.Digits(c.Before), show.Digits(c.After), show.Optional(percent(c), show.SignedPercent), show.P(c.P))
	}
	p.Table(t)
}
