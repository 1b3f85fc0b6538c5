package study

import (
	"fmt"

	"linerate/internal/show"
	"linerate/internal/testbed"
)

// Section satisfies Kind: how a part was measured; Sections has the rest.
func (forwardKind) Section(_ Spec, r Results, p Part) Section {
	head := fmt.Sprintf("Part %s (mode %s, %d blocks of %g s trials): ", p.Name, p.Mode, p.Blocks, p.Seconds)
	switch {
	case p.Flood != "":
		head += fmt.Sprintf("segments that open TCP connections, %s, from addresses that nobody has, to a service on the router, while a prober on the same wire asks for it.", offeredWords(p.Rate))
	case p.Mode == testbed.Cost:
		head += fmt.Sprintf("%s. The chain's CPU time per packet, minus that of the same chain without a router in the same block, is the router's cost; the forwarding rate is what that cost allows one CPU. It is not a throughput.", costRuns(r.Environment)) + bothWays(p)
	default:
		head += fmt.Sprintf("%s is offered %s. The rate it then forwards is the forwarding rate of RFC 2285, not a throughput.", overloaded(r.Environment), offeredWords(p.Rate)) + bothWays(p)
	}
	return Section{Method: head}
}

// Sections satisfies Kind.
func (k forwardKind) Sections(s Spec, r Results) []Section {
	slices := Section{Place: AfterTrials, Title: "Turns, slice by slice",
		Note: "All arms were up at once and took turns of a fraction of a millisecond, in rounds of random order. What the machine did affected all of them alike."}
	loads := Section{Place: AfterTrials, Title: "Offered and forwarded", Note: "Each point is a trial. Below the dashed line frames are lost."}
	ends := Section{Place: AfterTrials, Title: "Where the frames ended",
		Note: "Every frame offered in all trials of the part: delivered, or dropped where a counter saw it. Frames that no counter saw are unknown."}
	usable := Section{Place: AfterCounters, Title: "Does the router stay usable?"}
	delays := Section{Title: "Latency",
		Note: "One-way delay through the router: median (filled) to 99th percentile (hollow), means over the valid trials. At maximum load it is the delay of a full queue."}
	for _, part := range s.MeasuredParts(&r) {
		folded := !s.Unfolded(&r, part.Name)
		picture := func(title string, draw func(r Results, part string, width float64) string) []Chart {
			return []Chart{{Title: title, Folded: folded, Draw: func(w float64) string { return draw(r, part.Name, w) }}}
		}
		ends.Charts = append(ends.Charts, picture("part "+part.Name, endings)...)
		if t, ok := managementTable(r, part.Name); ok {
			usable.Tables = append(usable.Tables, t)
		}
		_, own := KindOf(part).(forwardKind)
		switch {
		case !own:
		case inCost(part):
			addSlices(&slices, s, r, part.Name, folded)
		default:
			at := "part " + part.Name + ", offered: " + part.Rate.Words()
			loads.Charts = append(loads.Charts, picture(at, offeredDelivered)...)
			delays.Charts = append(delays.Charts, picture(at, latencies)...)
		}
	}
	return []Section{
		{Place: Ahead, Title: "On a wire", Tables: wireTable(r),
			Note: "What the rates are in bits, of frames with FCS and of the IP packets in them, by one CPU, of both directions together where the traffic went both ways; and their share of the line rate of the link that the study states."},
		{Place: Ahead, Title: "How a card's hash would spread the flows", Tables: spreadTable(r)},
		{Place: AfterTrials, Title: "Repeated slices", Tables: redoneTable(s, r)},
		slices, loads, ends,
		{Place: AfterCounters, Title: "What connection tracking did", Tables: statesPage(r)},
		usable, delays,
	}
}

// Print satisfies Kind.
func (forwardKind) Print(p *show.Page, r Results, _ string, at Place) {
	switch at {
	case Ahead:
		printWire(p, r)
		printSpread(p, r)
	case AfterTrials:
		printDrops(p, r)
	case AfterCounters:
		printStates(p, r)
		printManagement(p, r)
	}
}

// PrintTable prints a table under a caption; columns that right names hold numbers.
func PrintTable(p *show.Page, caption string, header []string, right []bool, rows [][]string) {
	p.Caption(caption)
	p.Line("")
	p.Table(show.Table{Header: header, Right: right, Rows: rows})
	p.Line("")
}

// costRuns says what of the chain mode cost measures.
func costRuns(e Environment) string {
	if e.On(testbed.KindJails) {
		return "what the kernel's thread epair_task does, router and receiver, is timed by the kernel's own account of it; generating is not in it"
	}
	return "generator, router and receiver run to completion on one CPU"
}

// overloaded says what is offered more than it can do.
func overloaded(e Environment) string {
	switch {
	case e.On(testbed.KindJails):
		return "the kernel's one thread of all epairs, epair_task, is the router and"
	case e.On(testbed.KindSSH, testbed.KindPorts):
		return "the DUT"
	}
	return "the router's ingress has a CPU of its own and"
}

// bothWays says what a part's directions make of its numbers.
func bothWays(p Part) string {
	switch {
	case !GoesBothWays(p):
		return ""
	case p.Mode == testbed.Cost:
		return " Both directions at once: frames leave by the two ends in turn, so that each batch holds as many of both and frames wait at both of the router's ports; the cost is of a frame, whichever way it goes."
	}
	return " Both directions at once: the load is offered in each, and rates are of both together."
}

// offeredWords say what a router is offered.
func offeredWords(r Rate) string {
	if r.IsMax() {
		return "all that the generator can send"
	}
	return r.Words()
}
