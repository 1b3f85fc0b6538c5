package study

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/combin"
)

// runs are looks in a row at which something is so, which may be under treatment as often
// as under the control: how many are more than chance has.
type runs struct {
	so, not float64 // looks of the control, the last ones
	longest float64 // run of the control, of so many
	ended   float64
	last    float64 // the control's, under way
	now     float64 // the treatment's, under way: its own windows follow each other
}

// What a run under treatment must be, to be none of chance: less likely than unlikely by
// the control's looks one by one, several times as long as the control's longest (what
// comes in bursts has long ones), and no shorter than what a relative harm needs.
const (
	unlikely   = 1e-6
	longestRun = 1 << 17 // looks: days of them
	// Of the runs as they are, and the times that the longest must be beaten by.
	unlikelyRun           = 1e-3
	leastTimes, mostTimes = 3, 10
)

// times is how many times the control's longest run one under treatment must be. Of runs
// whose lengths are exponential, the next is m times as long as the longest of k with a
// chance of 1/C(k+m, m).
func (r *runs) times() (m float64) {
	for m = leastTimes; m < mostTimes && combin.LogGeneralizedBinomial(r.ended+m, m) < -math.Log(unlikelyRun); m++ {
	}
	return m
}

// control takes a look of a window without treatment.
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

// treated takes a look of a window under treatment.
func (r *runs) treated(is bool) {
	if r.now++; !is {
		r.now = 0
	}
}

// limit is the run that the treatment's must stay below; ok is false where the control has
// not shown enough of the other to know any.
//
// The chance of a run of n looks is that of a beta-binomial predictive distribution with
// one look more in which it was so: Γ(b+n)Γ(a+b) / (Γ(b)Γ(a+b+n)), a = not, b = so+1. It
// knows how little a few looks tell.
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

// beyond reports a run under treatment that is none of chance.
func (r *runs) beyond() (limit float64, is bool) {
	limit, ok := r.limit()
	return limit, ok && r.now >= limit
}

// The guardrails on what a source no longer tells: a setting under which nothing comes any
// more leaves no value that is worse.

// TimeBetween is that on the time between the requests that a source counts, by Spaced.
func TimeBetween(source string) Guardrail {
	return Guardrail{Name: "time between requests in " + source, HarmPercent: 300, Unit: "s"}
}

// NoRequests is that on looks at which none had come.
func NoRequests(source string) Guardrail {
	return Guardrail{Name: "looks without a request in " + source, InARow: true, Unit: "looks"}
}

// NoValues is that on looks at which a source that counts no requests had no value.
func NoValues(source string) Guardrail {
	return Guardrail{Name: "looks without a value of " + source, InARow: true, Unit: "looks"}
}

// Spaced is the time between requests, over stretches of looks that are long enough to
// tell it: one look of a server with a request a minute tells nothing.
type Spaced struct {
	usual    passed             // of the last controls
	underWay map[string]*passed // stretches, by treatment; "" of the control
}

type passed struct{ time, requests float64 }

func (p *passed) add(time, requests float64) { p.time, p.requests = p.time+time, p.requests+requests }

// perStretch is how many requests a stretch has, or would have by the control's rate.
const perStretch = 10

// Look takes a look under a treatment ("": the control) with the seconds that passed and the
// requests that came in them, and gives the time between requests of the stretch that it
// ends; NaN where it ends none.
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
	v := at.time / (at.requests + 1) // of none too: no longer than it was looked
	*at = passed{}
	return v
}
