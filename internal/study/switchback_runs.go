package study

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/mathext"
)

// runs are consecutive looks at which some event occurs. They tell how long a run under
// treatment must be to exceed what chance produces under the control.
type runs struct {
	so, not float64 // recent looks of the control, with and without the event
	longest float64 // the control's longest run, out of ended runs
	ended   float64
	last    float64 // the control's current run
	now     float64 // the treatment's current run, over its successive windows
}

// A run under treatment is not due to chance if it is less likely than unlikely by the
// control's individual looks, several times as long as the control's longest run (bursts
// have long ones), and no shorter than a relative harm requires.
const (
	unlikely   = 1e-6
	longestRun = 1 << 17 // looks: several days
	// The probability of a longer run, and the range of the factor over the longest.
	unlikelyRun           = 1e-3
	leastTimes, mostTimes = 3, 10
)

// times returns the factor by which a run under treatment must exceed the control's
// longest. If run lengths are exponential, the next is m times as long as the longest of
// k with probability 1/C(k+m, m) = (k+m+1)·B(k+1, m+1).
func (r *runs) times() (m float64) {
	for m = leastTimes; m < mostTimes && mathext.Lbeta(r.ended+1, m+1)+math.Log(r.ended+m+1) > math.Log(unlikelyRun); m++ {
	}
	return m
}

// control takes a look of an untreated window.
func (r *runs) control(is bool) {
	if is {
		r.so, r.last = r.so+1, r.last+1
		r.longest = max(r.longest, r.last)
		return
	}
	if r.not++; r.last > 0 {
		r.ended, r.last = r.ended+1, 0
	}
	if fade := memory / r.not; fade < 1 {
		r.so, r.not = fade*r.so, fade*r.not
	}
}

// treated takes a look of a treated window.
func (r *runs) treated(is bool) {
	if r.now++; !is {
		r.now = 0
	}
}

// limit returns the length that the treatment's run must stay below; ok is false if the
// control has shown too few looks without the event.
//
// The probability of a run of n looks is that of a beta-binomial predictive distribution
// with one additional look with the event: Γ(b+n)Γ(a+b) / (Γ(b)Γ(a+b+n)), a = not, b =
// so+1. It accounts for how little a few looks tell.
func (r *runs) limit() (n float64, ok bool) {
	if r.not == 0 {
		return 0, false
	}
	a, b := r.not, r.so+1
	least := int(max(leastSamples, r.times()*r.longest+1))
	at := least + sort.Search(longestRun, func(more int) bool {
		n := float64(least + more)
		return mathext.Lbeta(a, b+n)-mathext.Lbeta(a, b) < math.Log(unlikely)
	})
	return float64(at), at < least+longestRun
}

// beyond reports whether the run under treatment is not due to chance.
func (r *runs) beyond() (limit float64, is bool) {
	limit, ok := r.limit()
	return limit, ok && r.now >= limit
}

// Guardrails against sources that fall silent: if nothing arrives under a setting, there
// is no value that could be worse.

// TimeBetween returns the guardrail on the time between the requests that a source counts (Spaced).
func TimeBetween(source string) Guardrail {
	return Guardrail{Name: "time between requests in " + source, HarmPercent: 300, Unit: "s"}
}

// NoRequests returns the guardrail on looks without a request.
func NoRequests(source string) Guardrail {
	return Guardrail{Name: "looks without a request in " + source, InARow: true, Unit: "looks"}
}

// NoValues returns the guardrail on looks without a value, for sources that count no requests.
func NoValues(source string) Guardrail {
	return Guardrail{Name: "looks without a value of " + source, InARow: true, Unit: "looks"}
}

// Spaced measures the time between requests over stretches of looks that are long
// enough: a single look at a server with one request per minute tells nothing.
type Spaced struct {
	usual    passed             // recent controls
	underWay map[string]*passed // current stretches by treatment; "" is the control
}

type passed struct{ time, requests float64 }

func (p *passed) add(time, requests float64) { p.time, p.requests = p.time+time, p.requests+requests }

// perStretch is how many requests a stretch contains, or would contain at the control's rate.
const perStretch = 10

// Look takes a look under a treatment ("" for the control), with the seconds since the last
// look and the requests in them. If a stretch ends, it returns the stretch's time between
// requests, else NaN.
func (s *Spaced) Look(treatment string, time, requests float64) float64 {
	if math.IsNaN(time) || math.IsNaN(requests) {
		return math.NaN()
	}
	if s.underWay == nil {
		s.underWay = map[string]*passed{}
	}
	at := s.underWay[treatment]
	if at == nil {
		at = &passed{}
		s.underWay[treatment] = at
	}
	if treatment == "" {
		s.usual.add(time, requests)
		if fade := memory * perStretch / s.usual.requests; fade < 1 {
			s.usual = passed{fade * s.usual.time, fade * s.usual.requests}
		}
	}
	at.add(time, requests)
	due := s.usual.requests >= perStretch && at.time*s.usual.requests >= perStretch*s.usual.time
	if at.requests < perStretch && !due {
		return math.NaN()
	}
	v := at.time / (at.requests + 1) // without requests: at most the time observed
	*at = passed{}
	return v
}
