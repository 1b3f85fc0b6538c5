package stats

import "math"

// Trend is what a series of one value a night shows.
type Trend struct {
	Steps []Step
	Since int // index of the first value after the last step
	// SD and Resemblance are the standard deviation of the values since then, and their correlation
	// with the night before.
	SD, Resemblance float64
}

// Step is a lasting change of a series.
type Step struct {
	At, Seen int // index of the first value after it, and of the value that showed it
	Size     Interval
}

// How a series is watched. With these, a series without steps gives at most one alarm in 1,000 nights,
// with autocorrelations of 0 to 0.9, and of heavy tails too (bench/calibrate).
const (
	watched     = 180 // the last nights
	LeastNights = 40  // before a step
	leastAfter  = 5
	alarm       = 5 // standard errors of a step
)

// Watch returns the steps that nightly looks find in a series. A look tries every split of the nights
// since the last step, with the standard errors of values that resemble the night before (AR(1)). One
// look at the end finds the same; the first nights after a step place it better.
func Watch(y []float64) Trend {
	t := Trend{}
	for end := 1; end <= len(y); end++ {
		begin := max(t.Since, end-watched)
		if s, ok := split(y[begin:end]); ok {
			if more, ok := split(y[begin:min(len(y), end+leastAfter)]); ok {
				s = more
			}
			s.At, s.Seen = begin+s.At, end-1
			t.Steps, t.Since = append(t.Steps, s), s.At
		}
	}
	sd, rho := scatter(y[max(t.Since, len(y)-watched):], 0)
	t.SD, t.Resemblance = sd, rho
	return t
}

// Nights returns how many nights after a step of a size one more look would show it; 0 if none would.
func (t Trend) Nights(size float64) int {
	for m := leastAfter; m <= watched-LeastNights; m++ {
		if math.Abs(size) > alarm*t.SD*apartBy(t.Resemblance, LeastNights, m) {
			return m
		}
	}
	return 0
}

// split finds the clearest step that values show.
func split(y []float64) (s Step, ok bool) {
	most := float64(alarm)
	for k := LeastNights; k <= len(y)-leastAfter; k++ {
		sd, rho := scatter(y, k)
		se := sd * apartBy(rho, k, len(y)-k)
		step := Mean(y[k:]) - Mean(y[:k])
		if math.Abs(step) > most*se && se > 0 {
			most, ok = math.Abs(step)/se, true
			s = Step{At: k, Size: Interval{Estimate: step, Low: step - 1.96*se, High: step + 1.96*se, Level: 0.95}}
		}
	}
	return s, ok
}

// scatter returns the standard deviation of values around the means of both sides of a split, and
// their correlation with the value before: corrected for the means (Kendall, Biometrika 41, 1954)
// and one standard error higher, since a low estimate raises false alarms.
func scatter(y []float64, k int) (sd, rho float64) {
	n, both, all, last := float64(len(y)), 0.0, 0.0, 0.0
	sides := [2]float64{Mean(y[:k]), Mean(y[k:])}
	for i, v := range y {
		if v -= sides[1]; i < k {
			v += sides[1] - sides[0]
		}
		both, all, last = both+v*last, all+v*v, v
	}
	if all == 0 {
		return 0, 0
	}
	rho = both / all
	rho += (2 + 4*rho) / n
	rho = min(0.97, max(0, rho+math.Sqrt(max(0, 1-rho*rho)/n)))
	free := n - float64(k)*ofMean(rho, k) - (n-float64(k))*ofMean(rho, len(y)-k)
	return math.Sqrt(all / max(n/10, free)), rho
}

// ofMean returns the variance of the mean of m values that resemble the one before, in variances of one.
func ofMean(rho float64, m int) float64 {
	if m == 0 {
		return 0
	}
	n := float64(m)
	return ((1+rho)/(1-rho) - 2*rho*(1-math.Pow(rho, n))/(n*(1-rho)*(1-rho))) / n
}

// apartBy returns the standard error of the difference between the means of a values and of the b
// values after them, in standard deviations of one.
func apartBy(rho float64, a, b int) float64 {
	m, n := float64(a), float64(b)
	shared := rho * (1 - math.Pow(rho, m)) * (1 - math.Pow(rho, n)) / ((1 - rho) * (1 - rho) * m * n)
	return math.Sqrt(ofMean(rho, a) + ofMean(rho, b) - 2*shared)
}
