package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestLateEffects: of a trend without effects one study of twenty looks late, whatever the effect on
// the window itself; one on the next is found.
func TestLateEffects(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	noticed := func(now, next float64) (share, covered float64) {
		const studies = 200
		for range studies {
			var w Windows
			slow := 0.0
			for pair := range 24 {
				first := r.IntN(2) == 0
				for half := range 2 {
					slow = 0.9*slow + 0.01*r.NormFloat64()
					treated := first == (half == 0)
					v := 5 + slow + 0.01*r.NormFloat64() + math.Sin(float64(pair)/4)
					if n := len(w.Treated); n > 0 && w.Treated[n-1] {
						v += next
					}
					if treated {
						v += now
					}
					w.Values, w.Treated, w.Coins = append(w.Values, v), append(w.Treated, treated), append(w.Coins, pair+1)
				}
			}
			w.Values[r.IntN(48)] = math.NaN()
			w.Values[r.IntN(48)] = math.NaN()
			l := LateEffects(w, 199, r.Uint64())
			if l.Outlasts() {
				share += 1.0 / studies
			}
			if l.PTotal(now+next) > 0.05 {
				covered += 1.0 / studies
			}
		}
		return share, covered
	}
	for _, now := range []float64{0, -0.05} {
		if share, covered := noticed(now, 0); share > 0.1 || covered < 0.9 {
			t.Errorf("without late effects, %g at once: noticed in %g, covered %g", now, share, covered)
		}
	}
	if share, covered := noticed(0, -0.1); share < 0.85 || covered < 0.9 {
		t.Errorf("wholly late: noticed in %g, covered %g", share, covered)
	}
	if l := LateEffects(Windows{Values: []float64{1, 2}, Treated: []bool{false, true}, Coins: []int{1, 1}}, 99, 1); !math.IsNaN(l.P) || l.Outlasts() {
		t.Errorf("of one pair: %+v", l)
	}
}
