package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// visits returns clients' connections: each client has a distance, a Pareto number of visits and its own
// response to the treatment; sizes are heavy-tailed. Each visit is assigned by a coin toss.
func visits(rng *rand.Rand, clients int, effect, answers float64) (control, treated []Unit) {
	for c := range clients {
		base, own := math.Exp(0.7*rng.NormFloat64()), effect+answers*rng.NormFloat64()
		for range min(60, int(2*math.Pow(1-rng.Float64(), -1/1.5))) {
			u := Unit{Value: base * math.Pow(1-rng.Float64(), -1/1.8), Of: 1, Weight: 1 / 0.7, Cluster: uint64(c)}
			if rng.Float64() < 0.3 {
				u.Value, u.Weight = u.Value*math.Exp(own), 1/0.3
				treated = append(treated, u)
			} else {
				control = append(control, u)
			}
		}
	}
	return control, treated
}

// TestUnitsCoverTheTruth: intervals have their nominal coverage although a client's connections are
// correlated, sizes are heavy-tailed, and the arms have different shares.
func TestUnitsCoverTheTruth(t *testing.T) {
	const studies, truth = 1500, 0.05
	for _, c := range []struct {
		name     string
		quantile float64
		answers  float64
	}{{"median", 0.5, 0}, {"median, clients answer differently", 0.5, 0.1}, {"p90", 0.9, 0}} {
		rng := rand.New(rand.NewPCG(1, 2))
		held, wrong, sum := 0, 0, 0.0
		for range studies {
			a, b := visits(rng, 250, truth, c.answers)
			d := CompareUnits(UnitArm{"as-is", a}, []UnitArm{{"setting", b}}, c.quantile, Options{NoPlan: true, Bare: true})[0]
			sum += d.Effect.Estimate
			if d.Effect.Contains(truth) {
				held++
			}
			a, b = visits(rng, 250, 0, c.answers)
			if CompareUnits(UnitArm{"", a}, []UnitArm{{"", b}}, c.quantile, Options{NoPlan: true, Bare: true})[0].P <= 0.05 {
				wrong++
			}
		}
		coverage, errs := 100*float64(held)/studies, 100*float64(wrong)/studies
		t.Logf("%s: coverage %.1f %%, false positives %.1f %%, mean %.4f", c.name, coverage, errs, sum/studies)
		if coverage < 93 || coverage > 97.5 || errs > 7 || errs < 2.5 || math.Abs(sum/studies-truth) > 0.01 {
			t.Errorf("%s: coverage %.1f %%, false positives %.1f %%, mean effect %.4f of %.4f", c.name, coverage, errs, sum/studies, truth)
		}
	}
}

func TestRatioOfUnits(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	held := 0
	const studies = 1000
	for range studies {
		var arms [2][]Unit
		for c := range 200 {
			p := 0.01 + 0.02*rng.Float64()
			for range 1 + rng.IntN(10) {
				arm := rng.IntN(2)
				u := Unit{Of: float64(10 + rng.IntN(90)), Weight: 2, Cluster: uint64(c)}
				for range int(u.Of) {
					if rng.Float64() < p+0.005*float64(arm) {
						u.Value++
					}
				}
				arms[arm] = append(arms[arm], u)
			}
		}
		d := CompareUnits(UnitArm{"", arms[0]}, []UnitArm{{"", arms[1]}}, 0, Options{NoPlan: true, Bare: true, Share: true})[0]
		if d.Effect.Contains(0.005) {
			held++
		}
		if got := d.Result().EffectPoints.Float(); math.Abs(got-100*d.Effect.Estimate) > 1e-9 {
			t.Fatalf("%v points of an effect of %v", got, d.Effect.Estimate)
		}
	}
	if coverage := 100 * float64(held) / studies; coverage < 93 || coverage > 97 {
		t.Errorf("coverage %.1f %%", coverage)
	}
}

// TestOneClientDecidesNothing: one client with most connections does not decide a verdict.
func TestOneClientDecidesNothing(t *testing.T) {
	var a, b []Unit
	for i := range 4000 {
		u := Unit{Value: 1 + float64(i%7), Weight: 2, Cluster: uint64(max(0, i-3900))}
		if i%2 == 0 {
			a = append(a, u)
			continue
		}
		u.Value *= 2
		b = append(b, u)
	}
	c := CompareUnits(UnitArm{"", a}, []UnitArm{{"", b}}, 0.5, Options{})[0]
	if c.Verdict != Invalid || len(c.Warnings) == 0 {
		t.Errorf("%s %v, from one client", c.Verdict, c.Warnings)
	}
}

// TestRoundedUnits: values rounded to a few clock steps give no false difference, and no interval has zero width.
func TestRoundedUnits(t *testing.T) {
	const studies = 1000
	for _, spread := range []float64{0.3, 1, 4} {
		rng := rand.New(rand.NewPCG(5, 6))
		wrong, held, none := 0, 0, 0
		for range studies {
			var arms, moved [2][]Unit
			for c := range 1500 {
				u := Unit{Value: math.Max(1, math.Round(20+rng.Float64()+spread*rng.NormFloat64())), Weight: 2, Cluster: uint64(c % 300)}
				arm := rng.IntN(2)
				arms[arm] = append(arms[arm], u)
				if arm == 1 { // a tenth later, and rounded by the same clock
					u.Value = math.Round(22 + rng.Float64() + spread*rng.NormFloat64())
				}
				moved[arm] = append(moved[arm], u)
			}
			null := CompareUnits(UnitArm{"", arms[0]}, []UnitArm{{"", arms[1]}}, 0.5, Options{NoPlan: true, Bare: true})[0]
			if null.P <= 0.05 {
				wrong++
			}
			if !(null.Effect.High > null.Effect.Low) {
				none++
			}
			if CompareUnits(UnitArm{"", moved[0]}, []UnitArm{{"", moved[1]}}, 0.5, Options{NoPlan: true, Bare: true})[0].Effect.Contains(math.Log(22.5 / 20.5)) {
				held++
			}
		}
		t.Logf("spread %g: false positives %.1f %%, without width %.1f %%, coverage %.1f %%", spread, 100*float64(wrong)/studies, 100*float64(none)/studies, 100*float64(held)/studies)
		if wrong > 70 || none > 0 || held < 930 {
			t.Errorf("spread %g: %d false positives, %d intervals of no width, %d hold the truth, of %d", spread, wrong, none, held, studies)
		}
	}
}
