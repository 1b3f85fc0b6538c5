package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// bcg returns the log risk ratios and variances of the thirteen trials of the BCG vaccine
// (Colditz et al., JAMA 271, 1994; metafor's dat.bcg by escalc(measure="RR")).
func bcg() (es []Estimate) {
	// Cases and non-cases: vaccinated, not vaccinated.
	for _, t := range [][4]float64{
		{4, 119, 11, 128}, {6, 300, 29, 274}, {3, 228, 11, 209}, {62, 13536, 248, 12619}, {33, 5036, 47, 5761}, {180, 1361, 372, 1079},
		{8, 2537, 10, 619}, {505, 87886, 499, 87892}, {29, 7470, 45, 7232}, {17, 1699, 65, 1600}, {186, 50448, 141, 27197}, {5, 2493, 3, 2338}, {27, 16886, 29, 17825},
	} {
		n, m := t[0]+t[1], t[2]+t[3]
		es = append(es, Estimate{math.Log(t[0] / n / (t[2] / m)), math.Sqrt(1/t[0] - 1/n + 1/t[2] - 1/m)})
	}
	return es
}

// TestPoolAgainstMetafor checks the published analysis of the BCG trials (Viechtbauer,
// J. Stat. Softw. 36(3), 2010: rma(yi, vi) with REML and DL, and test = "knha").
func TestPoolAgainstMetafor(t *testing.T) {
	es := bcg()
	near := func(what string, got, want, by float64) {
		t.Helper()
		if !(math.Abs(got-want) <= by) {
			t.Errorf("%s: %.5f, want %.4f", what, got, want)
		}
	}
	near("τ² by DerSimonian and Laird", derSimonianLaird(es), 0.3088, 0.00006)
	dl := derSimonianLaird(es)
	mean, all, _ := weighted(es, dl)
	near("mean by DerSimonian and Laird", mean, -0.7141, 0.00006)
	near("its error", 1/math.Sqrt(all), 0.1787, 0.00006)
	near("τ² by REML", restrictedLikelihood(es), 0.3132, 0.00006)
	p := Pool(es, Between{}, 0.95)
	near("mean", p.Mean.Estimate, -0.7145, 0.00006)
	near("I²", p.I2, 0.9222, 0.00006)
	near("error by Hartung and Knapp", p.SE, 0.1808, 0.00006)
	near("low", p.Mean.Low, -1.1083, 0.0002)
	near("high", p.Mean.High, -0.3206, 0.0002)
	reach := TQuantile(0.975, 12) * math.Sqrt(0.3132+0.1807*0.1807)
	near("prediction", p.Prediction.High-p.Prediction.Estimate, reach, 0.0005)
}

// TestPoolOfFew: the interval of a single study is as wide as the prior on the scatter implies, two studies
// are narrower, and without a prior a single study has no interval.
func TestPoolOfFew(t *testing.T) {
	known := Between{Share: 0.1, Floor: 0.003, Weight: 8}
	one := Pool([]Estimate{{0.1, 0.01}}, known, 0.95)
	two := Pool([]Estimate{{0.1, 0.01}, {0.11, 0.01}}, known, 0.95)
	if !(one.Mean.Low > 0 && one.Prediction.Low > 0 && one.Prediction.Low < one.Mean.Low && two.Prediction.Half() < one.Prediction.Half()) {
		t.Errorf("one %+v, two %+v", one, two)
	}
	if want := math.Sqrt(0.1*0.1*0.1*0.1 + 0.003*0.003); math.Abs(one.Tau-want) > 1e-12 || one.DF != 8 {
		t.Errorf("one study's τ is %g with %g degrees of freedom, want %g", one.Tau, one.DF, want)
	}
	if p := Pool([]Estimate{{0.1, 0.01}}, Between{}, 0.95); p.Mean.Known() || p.Mean.Estimate != 0.1 {
		t.Errorf("without a prior: %+v", p)
	}
	if p := Pool(nil, known, 0.95); p.Mean.Known() || p.Studies != 0 {
		t.Errorf("no study: %+v", p)
	}
}

// TestPoolCovers: for studies with scattered true effects, the mean's interval covers the mean, and the
// prediction interval the next study's effect, in 95 %, with the moderated estimate from two studies on.
// 4,000 repetitions: ±0.9 % is two and a half standard errors.
func TestPoolCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(37, 1))
	const mu, tau, reps = 0.05, 0.02, 4000
	for _, k := range []int{2, 3, 5, 12} {
		mean, next := 0.0, 0.0
		for range reps {
			es := make([]Estimate, k)
			for i := range es {
				se := 0.005 + 0.015*r.Float64()
				es[i] = Estimate{mu + tau*r.NormFloat64() + se*r.NormFloat64(), se}
			}
			p := Pool(es, Between{Floor: tau, Weight: 8}, 0.95)
			if p.Mean.Contains(mu) {
				mean += 1.0 / reps
			}
			if p.Prediction.Contains(mu + tau*r.NormFloat64()) {
				next += 1.0 / reps
			}
		}
		if !(mean > 0.941 && mean < 0.99) || !(next > 0.941 && next < 0.99) {
			t.Errorf("%d studies: the mean is covered in %.1f %%, the next effect in %.1f %%", k, 100*mean, 100*next)
		}
	}
}

// TestWeigh: two predictions are combined by their variances.
func TestWeigh(t *testing.T) {
	a, b := Pooled{Mean: Interval{Estimate: 0.1}, SE: 0.03, Tau: 0.04, DF: 8}, Pooled{Mean: Interval{Estimate: 0}, SE: 0, Tau: 0.05, DF: 20}
	i := Weigh(0.95, a, b)
	if math.Abs(i.Estimate-0.05) > 1e-12 || math.Abs(i.Half()-TQuantile(0.975, 8)*0.05/math.Sqrt2) > 1e-9 {
		t.Errorf("%+v", i)
	}
}

// TestAnyTime: looking after every block from the second to the sixtieth, and stopping at the first
// difference, gives false positives in at most 5 % of 4,000 studies without an effect.
func TestAnyTime(t *testing.T) {
	r := rand.New(rand.NewPCG(37, 4))
	const reps, most = 4000, 60
	wrong, fixed := 0, 0
	for range reps {
		var d []float64
		alarm, naive := false, false
		for len(d) < most {
			d = append(d, r.NormFloat64())
			if n := len(d); n > 1 {
				p := OneSample(d, 0.95).P
				alarm, naive = alarm || p <= AnyTime(n, 0.05).Levels[0], naive || p <= 0.05
			}
		}
		if alarm {
			wrong++
		}
		if naive {
			fixed++
		}
	}
	if share := float64(wrong) / reps; share > 0.05 || float64(fixed)/reps < 0.2 {
		t.Errorf("false positives in %.1f %%, with a fixed level of 5 %% in %.1f %%", 100*share, 100*float64(fixed)/reps)
	}
}
