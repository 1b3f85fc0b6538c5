package study

import (
	"fmt"
	"slices"

	"linerate/internal/document"
	"linerate/internal/testbed"
)

// forwardMethod says in words how packets were measured.
func forwardMethod(r Results, p Part) string {
	head := fmt.Sprintf("Part %s (mode %s, %d blocks of %g s trials): ", p.Name, p.Mode, p.Blocks, p.Seconds)
	switch {
	case p.Flood != "":
		return head + fmt.Sprintf("segments that open TCP connections, %s, from addresses that nobody has, to a service on the router, while a prober on the same wire asks for it.", offeredWords(p.Rate))
	case p.Mode == testbed.Cost:
		return head + fmt.Sprintf("%s. The chain's CPU time per packet, minus that of the same chain without a router in the same block, is the router's cost; the forwarding rate is what that cost allows one CPU. It is not a throughput.", costRuns(r.Environment)) + bothWays(p)
	}
	return head + fmt.Sprintf("%s is offered %s. The rate it then forwards is the forwarding rate of RFC 2285, not a throughput.", overloaded(r.Environment), offeredWords(p.Rate)) + bothWays(p)
}

// forwardSections are what a report shows of packets.
func forwardSections(r Results) []document.Block {
	return slices.Concat(
		section("On a wire, by one CPU", "What the rates are in bits, of frames with FCS and of the IP packets in them, by one CPU, of both directions together where the traffic went both ways; and their share of the line rate of the link that the study states.", wireTable(r)),
		section("Where the frames ended", "Every frame offered in all trials of the part: delivered, or dropped where a counter saw it. Frames that no counter saw are unknown.", dropsTable(r)),
		section("What connection tracking did", "", statesTable(r)))
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
