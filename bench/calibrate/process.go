package calibrate

import (
	"math"
	"math/rand/v2"
)

// Shape is the kind of data that a machine's trials produce in the order of
// their execution, around 1 with about 1 % scatter.
type Shape string

// The shapes.
const (
	Normal     Shape = "normal"
	Skewed     Shape = "skewed"     // log-normal, long upper tail
	HeavyTail  Shape = "heavy tail" // Student's t with 3 degrees of freedom
	Drifting   Shape = "drifting"   // normal, while the machine slows by 4 % over the study
	Correlated Shape = "correlated" // first-order autoregressive, 0.8 from trial to trial
)

// Shapes lists all shapes.
func Shapes() []Shape { return []Shape{Normal, Skewed, HeavyTail, Drifting, Correlated} }

// scatter is the relative standard deviation of a trial.
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
			// The exponential of a standard normal has mean 1.649 and standard
			// deviation 2.161, which is scaled to the common scatter.
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

// Order is how the trials of two arms are arranged in time.
type Order string

// The orders.
const (
	// Interleaved runs both arms once in each block, in random order.
	Interleaved Order = "interleaved"
	// Consecutive runs all trials of one arm, then all of the other, as a
	// simple benchmark script does.
	Consecutive Order = "consecutive"
)

// sample simulates a study of n trials per arm; the variant is slower by effect.
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
