package profile

import (
	"cmp"
	"fmt"
	"linerate/internal/show"
	"math"
	"slices"
)

// Mover is how a function's share differs between two profiles. Shares are in
// percent of each profile's total, so that profiles of unequal length compare;
// differences are in percentage points.
type Mover struct {
	Frame
	BeforeSelf  float64 `json:"before_self_percent"`
	AfterSelf   float64 `json:"after_self_percent"`
	SelfPoints  float64 `json:"self_points"`
	BeforeTotal float64 `json:"before_total_percent"`
	AfterTotal  float64 `json:"after_total_percent"`
	TotalPoints float64 `json:"total_points"`
}

// Movers compares two profiles function by function, those first whose own
// share moved most. What functions are called by their callers' shares shows,
// not here: a shift deep in a stack moves every caller's total, and one self.
func Movers(before, after *Profile) []Mover {
	index := map[string]int{}
	var all []Mover
	at := func(f Frame) *Mover {
		i, ok := index[f.Name]
		if !ok {
			i = len(all)
			index[f.Name] = i
			all = append(all, Mover{Frame: f})
		}
		return &all[i]
	}
	whole := float64(before.Total())
	for _, w := range before.Functions() {
		m := at(w.Frame)
		m.BeforeSelf, m.BeforeTotal = percentOf(w.Self, whole), percentOf(w.Total, whole)
	}
	whole = float64(after.Total())
	for _, w := range after.Functions() {
		m := at(w.Frame)
		m.AfterSelf, m.AfterTotal = percentOf(w.Self, whole), percentOf(w.Total, whole)
	}
	for i := range all {
		m := &all[i]
		m.SelfPoints, m.TotalPoints = m.AfterSelf-m.BeforeSelf, m.AfterTotal-m.BeforeTotal
	}
	slices.SortFunc(all, func(a, b Mover) int {
		return cmp.Or(cmp.Compare(math.Abs(b.SelfPoints), math.Abs(a.SelfPoints)),
			cmp.Compare(math.Abs(b.TotalPoints), math.Abs(a.TotalPoints)), cmp.Compare(a.Name, b.Name))
	})
	return all
}

func percentOf(part int64, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / whole
}

// HeaviestSentence says which function takes most itself.
func HeaviestSentence(p *Profile) string {
	f := p.Functions()[0]
	return fmt.Sprintf("The heaviest function itself is %s, with %s.", show.Clean(f.Name), show.Percent(percentOf(f.Self, float64(p.Total()))))
}

// Still tells that a function's own share did not move as far as it prints.
func Still(m Mover) bool { return m.SelfPoints < 0.005 && m.SelfPoints > -0.005 }
