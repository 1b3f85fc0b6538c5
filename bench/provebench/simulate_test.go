// Package provebench evaluates the switchback design on simulated days of hosts
// under traffic: false positives, coverage of intervals and delay of the guardrail,
// compared with common practice. Random numbers are seeded.
package provebench

import (
	"math"
	"math/rand/v2"

	"linerate/internal/stats"
	"linerate/internal/study"
)

// Shape describes how the metric of a host varies by itself over a day.
type Shape struct {
	Name string `json:"name"`
	// Rhythm is the ratio of the metric at the day's peak to that at its trough.
	Rhythm float64 `json:"rhythm"`
	// Persistence is the autocorrelation of the slow component from one window to
	// the next.
	Persistence float64 `json:"persistence"`
	Slow        float64 `json:"slow_percent"` // scatter of the slow component
	Noise       float64 `json:"noise_percent"`
	Heavy       bool    `json:"heavy_tails"`
	Bursts      bool    `json:"bursts"`
	// CarryOver is the share of a window in which the previous arm still has an effect.
	CarryOver float64 `json:"carry_over"`
	// Late is the share of the effect that appears one window late.
	Late float64 `json:"late"`
}

// Shapes lists the shapes from easy to hard.
func Shapes() []Shape {
	return []Shape{
		{Name: "steady", Rhythm: 1, Noise: 2},
		{Name: "daily rhythm", Rhythm: 3, Noise: 2},
		{Name: "autocorrelation 0.5", Rhythm: 3, Persistence: 0.5, Slow: 3, Noise: 2},
		{Name: "autocorrelation 0.9", Rhythm: 3, Persistence: 0.9, Slow: 5, Noise: 2},
		{Name: "heavy tails", Rhythm: 3, Persistence: 0.5, Slow: 3, Noise: 4, Heavy: true},
		{Name: "bursts", Rhythm: 3, Persistence: 0.5, Slow: 3, Noise: 2, Bursts: true},
		{Name: "carry-over", Rhythm: 3, Persistence: 0.5, Slow: 3, Noise: 2, CarryOver: 0.1},
		{Name: "half a window late", Rhythm: 3, Persistence: 0.5, Slow: 3, Noise: 2, Late: 0.5},
		{Name: "a window late", Rhythm: 3, Persistence: 0.5, Slow: 3, Noise: 2, Late: 1},
		{Name: "late, bursts", Rhythm: 3, Persistence: 0.5, Slow: 3, Noise: 2, Bursts: true, Late: 1},
		{Name: "all of it", Rhythm: 3, Persistence: 0.9, Slow: 5, Noise: 4, Heavy: true, Bursts: true, CarryOver: 0.1},
	}
}

// perWindow is the number of values in a window, burnt of which are its burn-in.
const (
	perWindow = 20
	burnt     = 2
)

// day is a simulated study.
type day struct {
	slots  []study.WindowSlot
	values [][]float64 // by window
}

// simulate draws a day on which treatment multiplies the metric by exp(effect).
func (s Shape) simulate(r *rand.Rand, slots []study.WindowSlot, effect float64) day {
	d := day{slots: slots, values: make([][]float64, len(slots))}
	fade := math.Pow(s.Persistence, 1.0/perWindow)
	slow, phase := s.Slow/100*r.NormFloat64(), 2*math.Pi*r.Float64()
	burst, left, before, arm := 0.0, 0, 0.0, 0.0
	for w, slot := range slots {
		now := s.Late * arm
		if arm = 0; slot.Treated() {
			now, arm = now+(1-s.Late)*effect, effect
		}
		for i := range perWindow {
			t := float64(w*perWindow+i) / float64(len(slots)*perWindow)
			slow = fade*slow + math.Sqrt(1-fade*fade)*s.Slow/100*r.NormFloat64()
			if left--; s.Bursts && left < 0 {
				burst = 0
				if r.Float64() < 1.0/(4*perWindow) { // once in four windows
					burst, left = 0.3*r.ExpFloat64(), 1+r.IntN(2*perWindow)
				}
			}
			v := 0.5*math.Log(max(1, s.Rhythm))*math.Sin(2*math.Pi*t+phase) + slow + burst + s.Noise/100*s.noise(r)
			d.values[w] = append(d.values[w], math.Exp(v+s.acting(before, now, i)))
		}
		before = now
	}
	return d
}

// noise has unit variance; with heavy tails it is a scaled Student's t with three
// degrees of freedom.
func (s Shape) noise(r *rand.Rand) float64 {
	z := r.NormFloat64()
	if !s.Heavy {
		return z
	}
	a, b, c := r.NormFloat64(), r.NormFloat64(), r.NormFloat64()
	return z / math.Sqrt(a*a+b*b+c*c) // t₃ has variance 3, so √3 cancels
}

// acting returns the effect at a value of a window: that of the previous arm fades linearly.
func (s Shape) acting(before, now float64, i int) float64 {
	fades := s.CarryOver * perWindow
	if gone := (float64(i) + 0.5) / max(0.5, fades); gone < 1 {
		return before + gone*(now-before)
	}
	return now
}

// mean returns the mean of a window without its burn-in.
func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values[burnt:] {
		sum += v
	}
	return sum / float64(len(values)-burnt)
}

// arms returns the values of the pairs of a treatment, or of the shams.
func (d day) arms(of string) (control, treated stats.Arm) {
	for w, s := range d.slots {
		switch {
		case s.Of != of:
		case s.Arm == study.Control:
			control.Values = append(control.Values, mean(d.values[w]))
		default:
			treated.Values = append(treated.Values, mean(d.values[w]))
		}
	}
	return control, treated
}

// inTime returns the windows in chronological order.
func (d day) inTime() (w stats.Windows) {
	coins := map[int]int{}
	for i, s := range d.slots {
		coin := 0
		if s.Of == "setting" {
			if coins[s.Pair] == 0 {
				coins[s.Pair] = len(coins) + 1
			}
			coin = coins[s.Pair]
		}
		w.Values, w.Treated, w.Coins = append(w.Values, math.Log(mean(d.values[i]))), append(w.Treated, s.Treated()), append(w.Coins, coin)
	}
	return w
}

// until returns the day up to the given number of pairs of the setting.
func (d day) until(pairs int) day {
	for i, s := range d.slots {
		if s.Of == "setting" && s.Half == 2 {
			if pairs--; pairs == 0 {
				return day{d.slots[:i+1], d.values[:i+1]}
			}
		}
	}
	return d
}

// windows returns the logarithms of the means of the windows that is selects.
func (d day) windows(is func(w int, s study.WindowSlot) bool) (x []float64) {
	for w, s := range d.slots {
		if is(w, s) {
			x = append(x, math.Log(mean(d.values[w])))
		}
	}
	return x
}
