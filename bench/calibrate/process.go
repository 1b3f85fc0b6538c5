package calibrate

import (
	"math"
	"math/rand/v2"
)

// Shape is a kind of data: what a machine's trials look like in the order
// they are run, around 1 and with a scatter of about 1 %.
type Shape string

// The shapes of the benchmark.
const (
	Normal     Shape = "normal"
	Skewed     Shape = "skewed"     // log-normal, long upper tail
	HeavyTail  Shape = "heavy tail" // Student's t with 3 degrees of freedom
	Drifting   Shape = "drifting"   // normal, and the machine slows by 4 % over the study
	Correlated Shape = "correlated" // first-order autoregressive, 0.8 from trial to trial
)

// Shapes lists them.
func Shapes() []Shape { return []Shape{Normal, Skewed, HeavyTail, Drifting, Correlated} }

// scatter is the standard deviation of a trial, relative.
const scatter = 0.01

// series draws n consecutive trials of one machine.
func (s Shape) series(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	state := r.NormFloat64()
	for i := range x {
		switch s {
		case Normal:
			x[i] = 1 + scatter*r.NormFloat64()
		case Skewed:
			// exp of a normal with σ = 1, scaled to the common scatter: its
			// own standard deviation is 2.161 and its mean 1.649.
			x[i] = 1 + scatter*(math.Exp(r.NormFloat64())-1.6487)/2.1612
		case HeavyTail:
			x[i] = 1 + scatter*studentT3(r)/math.Sqrt(3)
		case Drifting:
			x[i] = 1 + scatter*r.NormFloat64() - 0.04*float64(i)/float64(max(1, n-1))
		case Correlated:
			state = 0.8*state + 0.6*r.NormFloat64()
			x[i] = 1 + scatter*state
		}
	}
	return x
}

// studentT3 draws from Student's t with three degrees of freedom.
func studentT3(r *rand.Rand) float64 {
	a, b, c := r.NormFloat64(), r.NormFloat64(), r.NormFloat64()
	return r.NormFloat64() / math.Sqrt((a*a+b*b+c*c)/3)
}

// Order is how the trials of two arms follow each other.
type Order string

// The orders.
const (
	// Interleaved: in each block both arms once, in random order.
	Interleaved Order = "interleaved"
	// Consecutive: all trials of one arm, then all of the other, as a
	// benchmark script without a plan runs them.
	Consecutive Order = "consecutive"
)

// sample draws a study of n trials an arm; the variant is slower by effect.
func sample(r *rand.Rand, s Shape, o Order, n int, effect float64) (control, variant []float64) {
	x := s.series(r, 2*n)
	control, variant = make([]float64, n), make([]float64, n)
	for i := range n {
		a, b := i, n+i
		if o == Interleaved {
			a, b = 2*i, 2*i+1
			if r.IntN(2) == 1 {
				a, b = b, a
			}
		}
		control[i], variant[i] = x[a], x[b]*(1-effect)
	}
	return control, variant
}
