package stats

import (
	"math"
	"math/rand/v2"
	"slices"

	"linerate/internal/list"
)

// Windows are the windows on a live host in chronological order, as input to the test for
// late effects.
type Windows struct {
	Values  []float64 // the metric, or its logarithm; NaN where the window is invalid
	Treated []bool    // with the treatment under test
	// Coins numbers the pairs whose order a coin decided: both windows of a pair have its
	// number. 0: the window belongs to none.
	Coins []int
}

// Late describes effects that outlast their own window.
type Late struct {
	P     float64 // of "the two previous windows have no effect on this one"
	Again float64 // of "the window before the previous one has none", given the previous one's effect; NaN if P shows nothing
	// Total is the sum of the effects on this window and on the next: what long windows would
	// show.
	Total float64
	// Bursts is the number of windows far from those around them, in a metric that has such
	// bursts. The tests leave them out.
	Bursts int

	lags    [mostLags + 1]float64 // effects on this window and on later ones
	y, x    []float64             // y is NaN where a window has a burst
	redrawn [][]float64
	designs map[*float64]regression // of PTotal, by the arms
}

// LateEffects regresses the windows on their arm and on the two previous arms, and redraws
// the coins of the pairs' orders: without late effects they could have fallen otherwise
// (Bojinov, Simchi-Levi & Zhao, Management Science 69, 2023). Autocorrelation is first
// removed by quasi-differencing (Cochrane & Orcutt 1949); the test stays valid in any case,
// since its validity comes from the coins.
func LateEffects(w Windows, draws int, seed uint64) Late {
	l := Late{P: math.NaN(), Again: math.NaN(), Total: math.NaN(), y: slices.Clone(w.Values), x: w.arm()}
	coins := slices.Max(append([]int{0}, w.Coins...))
	if coins < LeastPairs {
		return l
	}
	centre(l.y)
	l.calms()
	r := rand.New(rand.NewPCG(seed, uint64(len(w.Values))))
	for range draws {
		l.redrawn = append(l.redrawn, w.redraw(r, coins))
	}
	if l.P = l.none(1); l.Outlasts() {
		l.Again = l.none(2)
	}
	l.Total, _ = regress(l.y, l.x, 1, memory(l.y, l.x, 1)).total()
	f := regress(l.y, l.x, mostLags, memory(l.y, l.x, mostLags))
	copy(l.lags[:], f.beta[1:])
	return l
}

// What counts as a burst: windows are compared with a line through those around them.
const (
	around = 4   // windows before and after
	burst  = 2   // the distance of a burst, in standard deviations by the third quartile
	bursty = 1.3 // the ratio of both standard deviations of a metric with bursts; without them 1 in 100 studies has it
	events = 1e6 // the ratio of one that is constant but for single events, which are no noise to leave out
)

// calms leaves out the windows with bursts: a few can hide what outlasts a window. It chooses them
// without the arms, so the coins' test stays valid. Neither a rhythm nor a large effect looks like a
// burst: the line follows a rhythm, and without the arms' effects nothing is left of them.
func (l *Late) calms() {
	off, sd := apart(l.y)
	if sd.excess > events {
		return
	}
	if _, less := apart(regress(l.y, l.x, 1, 0).without(l.y, l.x)); min(sd.excess, less.excess) <= bursty {
		return
	}
	for i, d := range off {
		if math.Abs(d) > burst*sd.calm {
			l.y[i] = math.NaN()
			l.Bursts++
		}
	}
}

// departures is a standard deviation by the third quartile, and the ratio to it of the usual one.
type departures struct{ calm, excess float64 }

// apart returns the distances of windows from the lines through those around them, and their spread.
func apart(y []float64) (off []float64, of departures) {
	size, squares := []float64(nil), 0.0
	for i, v := range y {
		d := v - level(y, i)
		if off = append(off, d); !math.IsNaN(d) {
			size, squares = append(size, math.Abs(d)), squares+d*d
		}
	}
	of.calm = Quantile(ascending(size), 0.75) / 1.15
	of.excess = math.Sqrt(squares/float64(len(size))) / of.calm
	return off, of
}

// level returns the value at a window of the line through the windows around it (Theil 1950, Sen 1968).
func level(y []float64, at int) float64 {
	var slopes, here []float64
	first, end := max(0, at-around), min(len(y), at+around+1)
	for i := first; i < end; i++ {
		for j := first; j < i; j++ {
			slopes = append(slopes, (y[i]-y[j])/float64(i-j))
		}
	}
	slope := Median(slices.DeleteFunc(slopes, math.IsNaN))
	for i := first; i < end; i++ {
		here = append(here, y[i]-slope*float64(i-at))
	}
	return Median(slices.DeleteFunc(here, math.IsNaN))
}

// centre subtracts the mean from values.
func centre(y []float64) {
	known := slices.DeleteFunc(slices.Clone(y), math.IsNaN)
	mean := Mean(known)
	for i := range y {
		y[i] -= mean
	}
}

// arm returns 1 for treated windows, else 0.
func (w Windows) arm() []float64 {
	x := make([]float64, len(w.Treated))
	for i, t := range w.Treated {
		if t {
			x[i] = 1
		}
	}
	return x
}

// redraw returns the arms with every coin tossed anew.
func (w Windows) redraw(r *rand.Rand, coins int) []float64 {
	turned := make([]bool, coins+1)
	for i := 1; i <= coins; i++ {
		turned[i] = r.Uint64()&1 == 1
	}
	x := w.arm()
	for i, c := range w.Coins {
		if turned[c] {
			x[i] = 1 - x[i]
		}
	}
	return x
}

// mostLags is the number of later windows that are searched for effects.
const mostLags = 2

// none returns the p of "the arms from windows ago and earlier have no effect", given the effects
// of the later ones.
func (l *Late) none(from int) float64 {
	rho := memory(l.y, l.x, from-1)
	e := regress(l.y, l.x, from-1, rho).without(l.y, l.x)
	return l.redraw(l.y, e, func(y, x []float64) float64 {
		return regress(y, x, from-1, rho).squares / regress(y, x, mostLags, rho).squares
	})
}

// PTotal returns the p of "the sum of the effects on this window and on the next is θ".
func (l *Late) PTotal(theta float64) float64 {
	rho := memory(l.y, l.x, 1)
	y, shift := slices.Clone(l.y), make([]float64, len(l.x)) // one effect is the complement of the other
	for i := range y {
		y[i] -= theta * l.x[i]
		shift[i] = at(l.x, i-1) - l.x[i]
	}
	null := regress(y, shift, 0, rho)
	if l.designs == nil {
		l.designs = map[*float64]regression{}
	}
	return l.redraw(y, null.without(y, shift), func(y, x []float64) float64 {
		// Interval asks again and again: only the values change, not which windows have one.
		f, ok := l.designs[&x[0]]
		if !ok {
			f = designed(y, x, 1, rho)
			l.designs[&x[0]] = f
		}
		estimate, se := f.fit(y, x).total()
		return math.Abs(estimate / se)
	})
}

// redraw returns the randomisation p of a statistic of y; e is y without the null hypothesis's effects.
func (l *Late) redraw(y, e []float64, statistic func(y, x []float64) float64) float64 {
	seen := statistic(y, l.x)
	if math.IsNaN(seen) || len(l.redrawn) == 0 {
		return math.NaN()
	}
	as := list.Count(l.redrawn, func(other []float64) bool { return !(statistic(e, other) < seen*(1-1e-12)) })
	return float64(as+1) / float64(len(l.redrawn)+1)
}

// Interval contains the totals that the test does not reject at 1−level.
func (l *Late) Interval(level float64) Interval {
	out := noInterval(l.Total, level)
	if math.IsNaN(l.Total) {
		return out
	}
	_, se := regress(l.y, l.x, 1, memory(l.y, l.x, 1)).total()
	keeps := func(theta float64) bool { return l.PTotal(theta) > 1-level }
	out.Low, out.High = limit(keeps, l.Total, -1, se), limit(keeps, l.Total, 1, se)
	return out
}

// memory returns the lag-1 autocorrelation of what the arms do not explain, at least 0.
func memory(y, x []float64, lags int) float64 {
	e := regress(y, x, lags, 0).without(y, x)
	n, mean, both, all := 0.0, 0.0, 0.0, 0.0
	for _, v := range e {
		if !math.IsNaN(v) {
			n, mean = n+1, mean+v
		}
	}
	mean /= n
	for i, v := range e {
		if math.IsNaN(v) {
			continue
		}
		all += (v - mean) * (v - mean)
		if i > 0 && !math.IsNaN(e[i-1]) {
			both += (v - mean) * (e[i-1] - mean)
		}
	}
	return min(0.98, max(0, both/all))
}

// regression is a regression of windows on their own arm and previous arms, with an intercept.
type regression struct {
	beta    [4]float64 // intercept, then the arms by lag
	inverse [4][4]float64
	squares float64 // sum of squared residuals
	df      float64
	lags    int
	rho     float64
}

// regress fits by least squares, after subtracting rho times the previous window's values on
// both sides. It leaves out windows without a value and, with rho, those after them.
func regress(y, x []float64, lags int, rho float64) regression {
	return designed(y, x, lags, rho).fit(y, x)
}

// designed returns the part of a regression that does not depend on the windows' values, but on which have one.
func designed(y, x []float64, lags int, rho float64) regression {
	f := regression{lags: lags, rho: rho}
	normal := Square(f.columns())
	var v [5]float64
	for i := range y {
		if f.row(&v, y, x, i) {
			for a, row := range normal {
				for b := range row {
					row[b] += v[a] * v[b]
				}
			}
		}
	}
	f.invert(normal)
	return f
}

func (f *regression) columns() int { return f.lags + 2 }

// row fills in a window's terms, and in v[4] its value; false if it has none.
func (f *regression) row(v *[5]float64, y, x []float64, i int) bool {
	v[0], v[4] = 1-f.rho, y[i]
	if f.rho > 0 {
		if i == 0 {
			return false
		}
		v[4] -= f.rho * y[i-1]
	}
	for lag := range f.lags + 1 {
		v[1+lag] = at(x, i-lag) - f.rho*at(x, i-lag-1)
	}
	return !math.IsNaN(v[4])
}

// fit fits a regression designed for x to the windows' values.
func (f regression) fit(y, x []float64) regression {
	k, n, all, right := f.columns(), 0.0, 0.0, [4]float64{}
	var v [5]float64
	for i := range y {
		if !f.row(&v, y, x, i) {
			continue
		}
		n, all = n+1, all+v[4]*v[4]
		for a := range k {
			right[a] += v[a] * v[4]
		}
	}
	for a := range k {
		for b := range k {
			f.beta[a] += f.inverse[a][b] * right[b]
		}
		all -= f.beta[a] * right[a]
	}
	f.squares, f.df = all, n-float64(k)
	return f
}

func at(x []float64, i int) float64 {
	if i < 0 {
		return 0
	}
	return x[i]
}

// invert inverts the normal equations; NaN if they are singular.
func (f *regression) invert(normal [][]float64) {
	values, vectors := Eigen(normal)
	singular := !(slices.Min(values) > 1e-14*slices.Max(values))
	for a := range values {
		for b := range values {
			for j, v := range values {
				f.inverse[a][b] += vectors[j][a] * vectors[j][b] / v
			}
			if singular {
				f.inverse[a][b] = math.NaN()
			}
		}
	}
}

// total returns the sum of the effects on a window and on the next, with its standard error.
func (f regression) total() (v, se float64) {
	of := f.inverse[1][1] + f.inverse[2][2] + 2*f.inverse[1][2]
	return f.beta[1] + f.beta[2], math.Sqrt(of * f.squares / f.df)
}

// without subtracts the arms' fitted effects from the windows.
func (f regression) without(y, x []float64) []float64 {
	e := slices.Clone(y)
	for i := range e {
		for lag := range f.lags + 1 {
			e[i] -= f.beta[1+lag] * at(x, i-lag)
		}
	}
	return e
}

// limit searches for the end of the range that a test keeps, from the estimate in one
// direction; NaN if there is none within thousands of standard errors.
func limit(keeps func(float64) bool, from, direction, se float64) float64 {
	step := max(se, 1e-12*math.Abs(from))
	out := from + direction*step
	for range 12 {
		if !keeps(out) {
			in := from
			for range 16 {
				if mid := (in + out) / 2; keeps(mid) {
					in = mid
				} else {
					out = mid
				}
			}
			return out
		}
		step *= 2
		out += direction * step
	}
	return math.NaN()
}
