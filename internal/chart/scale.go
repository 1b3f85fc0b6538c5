package chart

import (
	"cmp"
	"math"
	"slices"
)

// Scale maps values to pixels, linearly or logarithmically.
type Scale struct {
	From, To   float64 // values
	Left, Span float64 // pixels
	Log        bool
}

// At returns the pixel position of a value.
func (s Scale) At(v float64) float64 {
	a, b := s.From, s.To
	if s.Log {
		a, b, v = math.Log(a), math.Log(b), math.Log(v)
	}
	if a == b {
		return s.Left
	}
	return s.Left + (v-a)/(b-a)*s.Span
}

// Ticks returns about n round values within the scale, in equal steps if a
// logarithmic scale spans a factor of two or less.
func (s Scale) Ticks(n int) []float64 {
	if s.Log && s.To > 2*s.From {
		return logTicks(s.From, s.To, n)
	}
	step := niceStep((s.To - s.From) / float64(max(1, n)))
	var out []float64
	for v := math.Ceil(s.From/step-1e-9) * step; v <= s.To+step*1e-9; v += step {
		if math.Abs(v) < step*1e-9 {
			v = 0
		}
		out = append(out, v)
	}
	return out
}

// niceStep rounds up to 1, 2 or 5 times a power of ten.
func niceStep(raw float64) float64 {
	if raw <= 0 || math.IsInf(raw, 0) || math.IsNaN(raw) {
		return 1
	}
	base := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5} {
		if raw <= m*base*(1+1e-9) {
			return m * base
		}
	}
	return 10 * base
}

// logTicks returns powers of ten, and as many values between them as there is room for.
func logTicks(from, to float64, n int) []float64 {
	for _, steps := range [][]float64{{1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 4, 5, 6, 8}, {1, 1.5, 2, 3, 5, 7}, {1, 2, 5}, {1}} {
		var out []float64
		for e := math.Floor(math.Log10(from)); e <= math.Ceil(math.Log10(to)); e++ {
			for _, m := range steps {
				if v := m * math.Pow(10, e); v >= from*(1-1e-9) && v <= to*(1+1e-9) {
					out = append(out, v)
				}
			}
		}
		if len(out) <= n || len(steps) == 1 {
			return out
		}
	}
	return nil
}

// Spread moves label positions apart until neighbours are at least gap apart,
// keeping their order, and within low and high if there is room.
func Spread(at []float64, gap, low, high float64) []float64 {
	order := make([]int, len(at))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(at[a], at[b]) })
	out := slices.Clone(at)
	for k, i := range order {
		least := low
		if k > 0 {
			least = out[order[k-1]] + gap
		}
		out[i] = max(out[i], least)
	}
	most := high
	for k := len(order) - 1; k >= 0; k-- {
		i := order[k]
		out[i] = min(out[i], most)
		most = out[i] - gap
	}
	return out
}
