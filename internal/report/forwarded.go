package report

import (
	"fmt"

	"linerate/internal/chart"
	"linerate/internal/study"
	"linerate/internal/study/forward"
	"linerate/internal/testbed"
)

// forwarded is the section of packets.
type forwarded struct{}

func (forwarded) method(_ study.Spec, r study.Results, p study.Part) string {
	head := fmt.Sprintf("Part %s (mode %s, %d blocks of %g s trials): ", p.Name, p.Mode, p.Blocks, p.Seconds)
	switch {
	case p.Flood != "":
		return head + fmt.Sprintf("segments that open TCP connections, %s, from addresses that nobody has, to a service on the router, while a prober on the same wire asks for it.", offeredWords(p.Rate))
	case p.Mode == testbed.Cost:
		return head + fmt.Sprintf("%s. The chain's CPU time per packet, minus that of the same chain without a router in the same block, is the router's cost; the forwarding rate is what that cost allows one CPU. It is not a throughput.", costRuns(r.Environment)) + bothWays(p)
	}
	return head + fmt.Sprintf("%s is offered %s. The rate it then forwards is the forwarding rate of RFC 2285, not a throughput.", overloaded(r.Environment), offeredWords(p.Rate)) + bothWays(p)
}

func (forwarded) charts(p *htmlPage, s study.Spec, r study.Results, part study.Part, shown bool) {
	if part.Mode == testbed.Cost {
		p.sliceCharts(s, r, part, shown)
		return
	}
	at := "part " + part.Name + ", offered: " + part.Rate.Words()
	p.Loads.add(shown, chart.Draw(at, "", func(w float64) string { return offeredDelivered(r, part.Name, w) }))
	p.Latencies.add(shown, chart.Draw(at, "", func(w float64) string { return latencies(r, part.Name, w) }))
}

// bothWays says what a part's directions make of its numbers.
func bothWays(p study.Part) string {
	switch {
	case !forward.BothWays(p):
		return ""
	case p.Mode == testbed.Cost:
		return " Both directions at once: frames leave by the two ends in turn, so that each batch holds as many of both and frames wait at both of the router's ports; the cost is of a frame, whichever way it goes."
	}
	return " Both directions at once: the load is offered in each, and rates are of both together."
}

// offeredWords say what a router is offered.
func offeredWords(r study.Rate) string {
	if r.IsMax() {
		return "all that the generator can send"
	}
	return r.Words()
}
