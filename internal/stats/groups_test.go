package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestAmongGroups(t *testing.T) {
	// R: oneway.test(x ~ g, var.equal = TRUE) of the plasma etch experiment's four powers
	// (Montgomery, table 3.1): F = 66.797 with 3 and 16 degrees of freedom.
	g := AmongGroups([][]float64{{575, 542, 530, 539, 570}, {565, 593, 590, 579, 610}, {600, 651, 610, 637, 629}, {725, 700, 715, 685, 710, math.NaN()}})
	if !(math.Abs(g.F-66.797) <= 0.01) || g.DFBetween != 3 || g.DFWithin != 16 || g.P > 1e-8 || g.P < 1e-9 {
		t.Errorf("%+v", g)
	}
	for name, groups := range map[string][][]float64{"one group": {{1, 2, 3}}, "one value each": {{1}, {2}}, "none": nil, "an empty one": {{1, 2}, {math.NaN()}}} {
		if g := AmongGroups(groups); !math.IsNaN(g.P) {
			t.Errorf("%s: p %g", name, g.P)
		}
	}
	if g := AmongGroups([][]float64{{1, 1}, {2, 2}}); g.P != 0 {
		t.Errorf("no scatter, two means: %+v", g)
	}
	if g := AmongGroups([][]float64{{1, 1}, {1, 1}}); g.P != 1 {
		t.Errorf("no scatter, one mean: %+v", g)
	}
}

// TestAmongGroupsKeepsItsLevel: where nothing differs, one in twenty is below 5 %.
func TestAmongGroupsKeepsItsLevel(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	below := 0
	for range 4000 {
		groups := make([][]float64, 3)
		for i := range groups {
			for range 3 + i {
				groups[i] = append(groups[i], rng.NormFloat64())
			}
		}
		if AmongGroups(groups).P < 0.05 {
			below++
		}
	}
	if below < 160 || below > 240 { // 200 ± 2.9 standard errors
		t.Errorf("%d of 4000 below 5 %%", below)
	}
}
