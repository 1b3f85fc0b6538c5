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

// TestOutlast: what looks late by chance and is little next to the effect leaves the verdict as it is; what is
// wholly late is found, and no gain is harm.
func TestOutlast(t *testing.T) {
	const studies = 100
	for _, c := range []struct {
		what               string
		now, next, scatter float64
		found, notices     int // at least
	}{
		{"803 against 1005 within 4", math.Log(803.0 / 1005), 0, 0.002, studies, 1},
		{"the same, a twentieth late", 0.95 * math.Log(803.0/1005), 0.05 * math.Log(803.0/1005), 0.002, studies, studies / 2},
		{"5 % at once", -0.05, 0, 0.01, 0.97 * studies, 1},
		{"5 % wholly late", 0, -0.05, 0.01, 0.88 * studies, studies / 2},
		{"5 % half late", -0.025, -0.025, 0.005, 0.88 * studies, studies / 2},
		{"20 % of harm wholly late", 0, 0.2, 0.01, 0, studies / 2},
	} {
		r := rand.New(rand.NewPCG(3, 3))
		found, reversed, notices := 0, 0, 0
		for range studies {
			w, arms := switched(r, c.now, c.next, c.scatter)
			opt := Options{Draws: 999, NoPlan: true, Better: LowerIsBetter}
			got := CompareSwitchback(arms[:1], arms[1:], opt)[0]
			l := LateEffects(w, 199, r.Uint64())
			if got.Outlast(l, 1, opt); l.Outlasts() {
				notices++
			}
			if got.Verdict == Better {
				found++
			}
			if c.now+c.next < 0 && got.Verdict == Worse || c.now+c.next > 0 && got.Verdict == Better {
				reversed++
			}
		}
		if found < c.found || notices < c.notices || reversed > 0 {
			t.Errorf("%s: found %d, at least %d; noticed %d, at least %d; reversed %d", c.what, found, c.found, notices, c.notices, reversed)
		}
	}
}

// switched are 24 pairs of windows around 1005, and their arms, with an effect now and one on the next window.
func switched(r *rand.Rand, now, next, scatter float64) (w Windows, arms [2]Arm) {
	for pair := range 24 {
		first := r.IntN(2)
		for half := range 2 {
			v, arm := math.Log(1005)+scatter*r.NormFloat64(), first^half
			if n := len(w.Treated); n > 0 && w.Treated[n-1] {
				v += next
			}
			if arm == 1 {
				v += now
			}
			arms[arm].Values = append(arms[arm].Values, math.Exp(v))
			w.Values, w.Treated, w.Coins = append(w.Values, v), append(w.Treated, arm == 1), append(w.Coins, pair+1)
		}
	}
	return w, arms
}

// TestBursts: the tests leave out windows with bursts, and take neither an effect, however large, nor a rhythm
// for one.
func TestBursts(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	var w Windows
	for i := range 48 {
		treated := (i/2+i)%2 == 0
		v := 0.01 * r.NormFloat64()
		if treated {
			v++
		}
		w.Values, w.Treated, w.Coins = append(w.Values, v), append(w.Treated, treated), append(w.Coins, i/2+1)
	}
	if l := LateEffects(w, 99, 1); l.Bursts > 0 {
		t.Errorf("a large effect is taken for %d bursts", l.Bursts)
	}
	slope := w
	slope.Values = nil
	for i := range 48 {
		slope.Values = append(slope.Values, math.Sin(float64(i)/8)+0.001*r.NormFloat64())
	}
	if l := LateEffects(slope, 99, 1); l.Bursts > 0 {
		t.Errorf("a rhythm is taken for %d bursts", l.Bursts)
	}
	for i, v := range w.Values {
		if w.Treated[i] {
			w.Values[i] = v - 0.95
		}
		if i%12 == 5 {
			w.Values[i] += 5
		}
	}
	l := LateEffects(w, 99, 1)
	for i, v := range l.y {
		if burst := i%12 == 5; burst != math.IsNaN(v) {
			t.Errorf("window %d: %g, a burst: %t", i, v, burst)
		}
	}
	if l.Bursts != 4 {
		t.Errorf("%d bursts, want 4", l.Bursts)
	}
}

// TestHarmInBursts: a setting that does harm only in bursts is not called equivalent or better by the windows
// without them.
func TestHarmInBursts(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	left, covered := 0, 0
	for range 100 {
		w, arms := switched(r, 0, 0, 0.005)
		for pair := range 24 {
			if v := &arms[1].Values[pair]; r.IntN(4) == 0 {
				*v *= 1.5
				for half := range 2 {
					if i := 2*pair + half; w.Treated[i] {
						w.Values[i] = math.Log(*v)
					}
				}
			}
		}
		opt := Options{Draws: 999, NoPlan: true, MarginPercent: 3, Better: LowerIsBetter}
		got := CompareSwitchback(arms[:1], arms[1:], opt)[0]
		l := LateEffects(w, 99, r.Uint64())
		if l.Bursts > 0 {
			left++
		}
		if got.Outlast(l, 1, opt); got.Verdict == Equivalent || got.Verdict == Better {
			t.Errorf("%s: %+v", got.Verdict, got.Effect.Interval)
		}
		if got.Effect.Contains(0.25 * math.Log(1.5)) {
			covered++
		}
	}
	if left < 50 || covered < 85 {
		t.Errorf("of 100 studies, windows with bursts are left out in %d, and intervals cover the harm in %d", left, covered)
	}
}

// TestFewerBursts: a setting that only ends bursts is found, wherever the calm windows lean its way.
func TestFewerBursts(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	all, found := 0, 0
	for range 100 {
		w, arms := switched(r, 0, 0, 0.005)
		for pair := range 24 {
			if v := &arms[0].Values[pair]; r.IntN(4) == 0 {
				*v *= 1.5
				for half := range 2 {
					if i := 2*pair + half; !w.Treated[i] {
						w.Values[i] = math.Log(*v)
					}
				}
			}
		}
		opt := Options{Draws: 999, NoPlan: true, Better: LowerIsBetter}
		got := CompareSwitchback(arms[:1], arms[1:], opt)[0]
		if got.Verdict != Better {
			continue
		}
		l := LateEffects(w, 99, r.Uint64())
		if l.Bursts == 0 {
			continue
		}
		all++
		if got.Outlast(l, 1, opt); got.Verdict == Better {
			found++
		}
	}
	if all < 10 || found < 2*all/5 { // without that rule 2 of 50 do
		t.Errorf("of %d studies that find fewer bursts, %d do when the calm windows are judged alone", all, found)
	}
}
