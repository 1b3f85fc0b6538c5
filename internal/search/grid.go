package search

import "math"

// grid holds the loads that a search may try, evenly spaced in logarithm, so
// that a relative width is the same number of steps everywhere.
type grid struct {
	max, step float64
	top       int // index of max; index 0 is the smallest load
}

// stepsPerWidth is the number of steps in the narrowest goal's width.
const stepsPerWidth = 8

// newGrid returns a grid from minimum to maximum, given the narrowest relative width of the goals.
func newGrid(minimum, maximum, narrowest float64) grid {
	step := logWidth(narrowest) / stepsPerWidth
	return grid{max: maximum, step: step, top: int(math.Floor(math.Log(maximum/minimum)/step + 1e-9))}
}

// logWidth converts a relative width (upper − lower)/upper to a difference of
// logarithms.
func logWidth(relative float64) float64 { return -math.Log1p(-relative) }

func (g grid) load(i int) float64 {
	if i >= g.top {
		return g.max
	}
	return g.max * math.Exp(-float64(g.top-i)*g.step)
}

// index returns the index of the largest grid load not above a load.
func (g grid) index(load float64) int {
	if !(load > 0) {
		return 0
	}
	return min(g.top, max(0, g.top-int(math.Ceil(math.Log(g.max/load)/g.step-1e-9))))
}

// steps returns the number of steps in a relative width, rounded down so as not to exceed it.
func (g grid) steps(relative float64) int {
	return max(1, int(math.Floor(logWidth(relative)/g.step+1e-9)))
}

// keepOff moves a proposed load away from known bounds and limits by at least
// a width, or returns false if there is no room for another load. lo and hi
// are the relevant bounds, −1 if there is none; the limits of the grid may be
// tried themselves.
func (g grid) keepOff(load, width, lo, hi int) (int, bool) {
	low, high, lowTaken, highTaken := 0, g.top, false, false
	if lo >= 0 {
		low, lowTaken = lo, true
	}
	if hi >= 0 {
		high, highTaken = hi, true
	}
	load = min(high, max(low, load))
	if width >= high-low {
		switch {
		case !lowTaken:
			return low, !highTaken || low < high
		case !highTaken:
			return high, low < high
		}
		return 0, false
	}
	least, most := low+width, high-width
	if least > most {
		least = low + (high-low)/2
		most = least
	}
	switch {
	case load < least && !lowTaken:
		return low, true
	case load < least:
		return least, true
	case load > most && !highTaken:
		return high, true
	case load > most:
		return most, true
	}
	return load, true
}
