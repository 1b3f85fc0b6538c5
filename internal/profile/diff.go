package profile

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"linerate/internal/show"
)

// Mover is a function's self time before and after, in percent of each profile's total, so that
// profiles of unequal length can be compared.
type Mover struct {
	Name          string
	Before, After float64
}

// Movers compares two profiles function by function, largest change of self time first; it omits
// changes too small to print.
func Movers(before, after *Profile) (all []Mover) {
	a, b := selves(before), selves(after)
	for name := range a {
		if _, both := b[name]; !both {
			b[name] = 0
		}
	}
	for name, share := range b {
		if math.Abs(share-a[name]) >= 0.005 {
			all = append(all, Mover{name, a[name], share})
		}
	}
	slices.SortFunc(all, func(x, y Mover) int {
		return cmp.Or(cmp.Compare(math.Abs(y.After-y.Before), math.Abs(x.After-x.Before)), cmp.Compare(x.Name, y.Name))
	})
	return all
}

// selves returns the self time of each function, in percent.
func selves(p *Profile) map[string]float64 {
	out, total := map[string]float64{}, float64(max(1, Total(p)))
	for _, s := range p.Sample {
		if frames := framesOf(s); len(frames) > 0 {
			out[frames[len(frames)-1].Name] += 100 * float64(s.Value[0]) / total
		}
	}
	return out
}

// HeaviestSentence says which function has the largest self time.
func HeaviestSentence(p *Profile) string {
	all := Movers(&Profile{}, p)
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf("The heaviest function itself is %s, with %s.", show.Clean(all[0].Name), show.Percent(all[0].After))
}
