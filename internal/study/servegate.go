package study

import (
	"fmt"
	"time"

	"linerate/internal/load/request"
)

// lateShare is which share of what is measured may be lateness of the clients
// or of the link: the median latency, the mean latency, a round trip.
const lateShare = 0.1

// mayBeLate is that share of a time, or request.MostLag if that is more.
func mayBeLate(ns float64) time.Duration { return max(request.MostLag, time.Duration(lateShare*ns)) }

// lateGates ask whether requests and packets were sent when they were due.
//
// Arms asked one after the other are late at different times, which looks like
// an effect: one in a hundred decides. Arms that are asked together are late
// together, which moves ratios towards one, as if there were no effect. With
// latencies a and b and a lateness of L in both, (a+L)/(b+L) keeps
// 1/(1+L/b) of the effect or more: there the mean lateness is bounded, and
// that of one request in ten for the median's sake.
func lateGates(o Observation) (bad []string) {
	v := o.Served
	if o.Interleaved == nil || o.Interleaved.How != Together {
		return lateTail(v)
	}
	if lag, q := v.Generator.Lag, v.Latency; v.OfferedRate > 0 && lag != nil && q != nil {
		if late, limit := time.Duration(lag.Mean), mayBeLate(q.Mean); late > limit {
			bad = append(bad, tooLate("lag: the clients sent requests", late, limit, "on average"))
		}
		if late, limit := time.Duration(lag.P90), mayBeLate(float64(q.P50)); late > limit {
			bad = append(bad, tooLate("lag: the clients sent one request in ten", late, limit, "or more"))
		}
	}
	// A round trip is late twice, and each time about as long again unseen, in
	// which a packet waits for the link to take it in.
	if late, limit := time.Duration(v.Link.LateMean), mayBeLate(1e9*v.RoundTrip/4); late > limit {
		bad = append(bad, tooLate("link: packets left", late, limit, "on average"))
	}
	return bad
}

// lateTail is what was late once in a hundred times: it is a fault of trials
// of their own, and of any claim about the slowest requests.
func lateTail(v *Served) (bad []string) {
	if lag, q := v.Generator.Lag, v.Latency; v.OfferedRate > 0 && lag != nil && q != nil {
		if late, limit := time.Duration(lag.P99), mayBeLate(float64(q.P50)); late > limit {
			bad = append(bad, tooLate("lag: the clients sent one request in a hundred", late, limit, "or more"))
		}
	}
	if late, limit := time.Duration(v.Link.LateP99), mayBeLate(1e9*v.RoundTrip); late > limit {
		bad = append(bad, tooLate("link: one packet in a hundred left", late, limit, "or more"))
	}
	return bad
}

func tooLate(what string, late, limit time.Duration, how string) string {
	return fmt.Sprintf("%s %.1f ms late %s (limit %.1f ms)", what, late.Seconds()*1e3, how, limit.Seconds()*1e3)
}

// clientGates ask whether the clients kept up.
func clientGates(v *Served) (bad []string) {
	g := v.Generator
	if g.CPUShare > request.MostShare {
		bad = append(bad, fmt.Sprintf("saturated: the clients used %.0f %% of %d CPUs", 100*g.CPUShare, g.CPUs))
	}
	for _, e := range v.Errors {
		if e.Kind == request.NoPort.String() || e.Kind == request.NoFile.String() {
			bad = append(bad, fmt.Sprintf("saturated: the clients had %s, %d times", e.Text, e.Count))
		}
	}
	return bad
}

// serveGates ask whether what was measured was the server and the link.
func serveGates(g Gates, o Observation) []string {
	v := o.Served
	if v == nil || v.Requests == 0 {
		return []string{"no requests: the clients asked for nothing"}
	}
	var bad []string
	if failed := 100 * float64(v.Failed+v.Unsent) / float64(v.Requests+v.Unsent); failed > g.FailedPercent {
		why := ""
		if len(v.Errors) > 0 {
			why = fmt.Sprintf(": %d × %s", v.Errors[0].Count, v.Errors[0].Text)
		}
		bad = append(bad, fmt.Sprintf("failed: %.2f %% of the requests failed (limit %g %%)%s", failed, g.FailedPercent, why))
	}
	bad = append(append(bad, clientGates(v)...), mailGates(v)...)
	if v.Link.Missed > 0 {
		bad = append(bad, fmt.Sprintf("link: its emulation lost %d packets that it should have carried", v.Link.Missed))
	}
	return append(bad, lateGates(o)...)
}
