package study

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/document"
	"linerate/internal/drop"
	"linerate/internal/show"
	"linerate/internal/testbed"
)

// forwardMethod describes how packets were measured.
func forwardMethod(r Results, p Part) string {
	head := fmt.Sprintf("Part %s (mode %s, %d blocks of %g s trials): ", p.Name, p.Mode, p.Blocks, p.Seconds)
	switch {
	case p.Flood != "":
		return head + fmt.Sprintf("segments that open TCP connections, %s, from unused addresses, to a service on the router, while a prober on the same wire requests it.", offeredWords(p.Rate))
	case p.Mode == testbed.Cost:
		return head + fmt.Sprintf("%s. The chain's CPU time per packet, minus that of the same chain without a router in the same block, is the router's cost; the forwarding rate is what that cost allows one CPU. It is not a throughput.", costRuns(r.Environment)) + bothWays(p)
	}
	return head + fmt.Sprintf("%s is offered %s. The rate it then forwards is the forwarding rate of RFC 2285, not a throughput.", overloaded(r.Environment), offeredWords(p.Rate)) + bothWays(p)
}

func forwardSections(r Results) []document.Block {
	return slices.Concat(
		section("On a wire, by one CPU", "What the rates are in bits, of frames with FCS and of the IP packets in them, by one CPU, of both directions together where the traffic went both ways; and their share of the line rate of the link that the study states.", wireTable(r)),
		section("Where the frames ended", "Every frame offered in all trials of the part: delivered, or dropped where a counter saw it. Frames that no counter saw are unknown.", dropsTable(r)),
		section("What connection tracking did", "", statesTable(r)))
}

// costRuns says which part of the chain mode cost measures.
func costRuns(e Environment) string {
	if e.On(testbed.KindJails) {
		return "what the kernel's thread epair_task does, router and receiver, is timed by the kernel's own account of it; generating is not in it"
	}
	return "generator, router and receiver run to completion on one CPU"
}

// overloaded names the element that is offered more than it can forward.
func overloaded(e Environment) string {
	switch {
	case e.On(testbed.KindJails):
		return "the kernel's one thread of all epairs, epair_task, is the router and"
	case e.On(testbed.KindSSH, testbed.KindPorts):
		return "the DUT"
	}
	return "the router's ingress has its own CPU and"
}

// bothWays says how bidirectional traffic affects a part's numbers.
func bothWays(p Part) string {
	switch {
	case !GoesBothWays(p):
		return ""
	case p.Mode == testbed.Cost:
		return " Both directions at once: frames leave by the two ends in turn, so that each batch holds as many of both and frames wait at both of the router's ports; the cost is of a frame, whichever way it goes."
	}
	return " Both directions at once: the load is offered in each, and rates are of both together."
}

func offeredWords(r Rate) string {
	if r.IsMax() {
		return "all that the generator can send"
	}
	return r.Words()
}

// wireTable shows the rates in the units that people compare, if there are any.
func wireTable(r Results) document.Table {
	t := document.Table{Header: []string{"part", "variant", "directions", "frame", "frames/s", "Ethernet", "IP", "of the link"}, Note: wireNote(r)}
	for _, w := range r.Wire {
		t.Rows = append(t.Rows, []string{w.Part, w.Variant, w.Directions, show.Grouped(w.Frame, 0) + " B", show.Rate(w.PPS),
			show.Bits(w.EthernetBPS), show.Bits(w.IPBPS), show.Optional(w.LinkShare, func(v float64) string { return show.Percent(100 * v) })})
	}
	return t
}

// wireNote explains a share above 100 %, if there is one.
func wireNote(r Results) string {
	for _, w := range r.Wire {
		if share, ok := w.LinkShare.Get(); ok && share > 1 {
			return "Above 100 % of the link one CPU is not what limits: the wire is full first"
		}
	}
	return ""
}

// statesTable shows the work of connection tracking where it mattered: states created, their
// memory, and why no more were created.
func statesTable(r Results) document.Table {
	t := document.Table{Header: []string{"part", "variant", "states made", "a second", "bytes each", "of all objects", "why no more"},
		Note: "means over the valid trials, while their traffic ran: where flows were known before (a warm-up), few are made; bytes each are those in the kernel's cache of states (/proc/slabinfo), of all objects by how much all of its objects grew for each (/proc/meminfo, Slab), whatever else the machine did; the table's buckets are not in it (8 bytes each)."}
	bytes := func(n show.Maybe) string {
		return show.Optional(n, func(v float64) string { return show.Grouped(v, 0) })
	}
	for _, st := range r.States {
		why := strings.Join(StatesWhy(st), "; ")
		if st.Variant == AA || why == "" && !st.ObjectBytes.Known() && !st.SlabBytes.Known() { // negligible
			continue
		}
		t.Rows = append(t.Rows, []string{st.Part, st.Variant, show.Grouped(st.Made, 0), show.Grouped(st.PerSecond, 0),
			bytes(st.ObjectBytes), bytes(st.SlabBytes), cmp.Or(why, show.Unknown)})
	}
	t.DropEmpty()
	return t
}

// leastShown is the share of the offered frames, in percent, below which a
// place is not shown: one frame in two thousand.
const leastShown = 0.05

// dropsTable shows where the frames of each lossy arm ended, and which counters saw them.
func dropsTable(r Results) document.Table {
	t := document.Table{Header: []string{"part", "variant", "where", "of those offered", "counters"},
		Note: "A counter of the whole machine (*) says at most how many they were."}
	for _, d := range r.Drops {
		if 100-d.Percent(drop.Delivered) < leastShown {
			continue
		}
		for _, at := range drop.Places() {
			if d.Percent(at) < leastShown {
				continue
			}
			var seen []string
			for _, b := range d.Buckets {
				for _, c := range b.Causes {
					if b.Place == at {
						seen = append(seen, fmt.Sprintf("%s%s %s", c.Name, map[bool]string{true: "*"}[c.Machine], show.Count(c.Frames)))
					}
				}
			}
			t.Rows = append(t.Rows, []string{d.Part, r.ArmName(d.Variant), at.Words(), show.Percent(d.Percent(at)), strings.Join(seen, ", ")})
		}
	}
	return t
}
