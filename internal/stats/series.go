package stats

import (
	"math"
	"slices"

	"linerate/internal/show"
)

// Autocorrelation of x at a lag: how well a value predicts the one lag later (Box &
// Jenkins). NaN when x is constant or too short.
func Autocorrelation(x []float64, lag int) float64 {
	n := len(x)
	if lag < 0 || n < lag+2 {
		return math.NaN()
	}
	mean, _ := meanVariance(x)
	var num, den float64
	for i, v := range x {
		den += (v - mean) * (v - mean)
		if i+lag < n {
			num += (v - mean) * (x[i+lag] - mean)
		}
	}
	if den == 0 {
		return math.NaN()
	}
	return num / den
}

// EffectiveSize is how many independent values n values with lag-1
// autocorrelation r are worth, n·(1−r)/(1+r), for a first-order process
// (Bayley & Hammersley 1946); never more than n.
func EffectiveSize(n int, r float64) float64 {
	if math.IsNaN(r) || r <= 0 {
		return float64(n)
	}
	return max(1, float64(n)*(1-r)/(1+r))
}

// Trend is a monotone movement of a series in time.
type Trend struct {
	Tau    float64 // Kendall's rank correlation with time, −1 to 1
	P      float64 // two-sided, Mann–Kendall
	Change float64 // median of the last fifth minus that of the first fifth
}

// FindTrend tests a series for drift (Mann 1945; Kendall 1975), with the
// variance corrected for ties and for continuity. Discordant pairs are
// counted by merging, so long series are cheap.
func FindTrend(x []float64) Trend {
	n := len(x)
	if n < 3 {
		return Trend{Tau: math.NaN(), P: math.NaN(), Change: math.NaN()}
	}
	inOrder := slices.Clone(x)
	discordant := inversions(inOrder, make([]float64, n))
	ties, tied := tieSums(inOrder)
	pairs := float64(n) * float64(n-1) / 2
	s := pairs - tied - 2*float64(discordant)
	fn := float64(n)
	variance := (fn*(fn-1)*(2*fn+5) - ties) / 18
	t := Trend{Tau: s / pairs, P: 1}
	if variance > 0 && s != 0 {
		z := max(0, math.Abs(s)-1) / math.Sqrt(variance)
		t.P = min(1, 2*normalUpper(z))
	}
	fifth := max(1, n/5)
	t.Change = Median(x[n-fifth:]) - Median(x[:fifth])
	return t
}

// tieSums returns Σ t(t−1)(2t+5) and the number of tied pairs of sorted
// values.
func tieSums(s []float64) (sum, pairs float64) {
	for i := 0; i < len(s); {
		j := i
		for j < len(s) && s[j] == s[i] {
			j++
		}
		t := float64(j - i)
		sum += t * (t - 1) * (2*t + 5)
		pairs += t * (t - 1) / 2
		i = j
	}
	return sum, pairs
}

// inversions counts pairs i < j with x[i] > x[j] by merge sort; x is sorted
// afterwards.
func inversions(x, buf []float64) int {
	n := len(x)
	if n < 2 {
		return 0
	}
	mid := n / 2
	count := inversions(x[:mid], buf[:mid]) + inversions(x[mid:], buf[mid:])
	i, j := 0, mid
	for k := range buf[:n] {
		if i < mid && (j == n || x[i] <= x[j]) {
			buf[k], i = x[i], i+1
		} else {
			count += mid - i
			buf[k], j = x[j], j+1
		}
	}
	copy(x, buf[:n])
	return count
}

// change tells a change on the comparison's scale: in percent of the control, where that is
// something, else in the metric's unit.
func (c *Comparison) change(by float64) string {
	switch percent := c.percent(by); {
	case c.Share:
		return show.SignedPoints(points(by))
	case math.IsNaN(percent):
		return show.SignedValue(by)
	default:
		return show.SignedPercent(percent)
	}
}

// warnSeries looks at a sample in the order it was measured.
func warnSeries(c *Comparison, name string, x []float64) {
	const seen = 0.01 // a warning about nothing in one series of a hundred
	if t := FindTrend(x); len(x) >= 5 && t.P < seen {
		c.warn(Drift, "alternate the arms in randomised blocks (linerate study), or wait until the machine is steady",
			"%s drifts by %s from its first to its last fifth (Mann–Kendall %s)", name, c.change(t.Change), show.PIs(t.P))
		return
	}
	r := Autocorrelation(x, 1)
	if len(x) >= 10 && r > 0.2 && r > NormalQuantile(1-seen)/math.Sqrt(float64(len(x))) {
		c.warn(Correlated, "use one value per trial after a reset, not rows of one run",
			"%s: neighbours correlate by %.2f, so %d values are worth about %.0f", name, r, len(x), EffectiveSize(len(x), r))
	}
}
