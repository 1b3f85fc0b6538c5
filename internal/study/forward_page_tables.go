package study

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/document"
	"linerate/internal/load"
	"linerate/internal/show"
	"linerate/internal/stats"
)

// wireTable has the rates at the levels that people compare, where there are any.
func wireTable(r Results) document.Table {
	t := document.Table{Header: []string{"part", "variant", "directions", "frame", "frames/s", "Ethernet", "IP", "of the link"}, Note: wireNote(r)}
	for _, w := range r.Wire {
		t.Rows = append(t.Rows, []string{w.Part, w.Variant, w.Directions, show.Grouped(w.Frame, 0) + " B", show.Rate(w.PPS),
			show.Bits(w.EthernetBPS), show.Bits(w.IPBPS), forwardShare(w.LinkShare)})
	}
	return t
}

func forwardShare(n stats.Number) string {
	return show.Optional(n, func(v float64) string { return show.Percent(100 * v) })
}

// wireNote says what more than a link means, where there is any.
func wireNote(r Results) string {
	for _, w := range r.Wire {
		if share, ok := w.LinkShare.Get(); ok && share > 1 {
			return "Above 100 % of the link one CPU is not what limits: the wire is full first"
		}
	}
	return ""
}

// spreadTable tells how many CPUs a card's hash would make of its queues.
func spreadTable(r Results) document.Table {
	t := document.Table{Header: []string{"flows", "frames"},
		Note: "computed, not measured: how many CPUs' worth a card with so many receive queues and a CPU for each would be, by its busiest queue; Toeplitz hash of addresses and ports with the key of Microsoft's verification suite, 128 entries to queues. A card hashes UDP ports only if configured to; by addresses alone these flows would be one. Consecutive ports, as these are, spread more evenly than those of a real network. A flow stays on one CPU: an elephant flow uses one CPU."}
	var queues, flows []int
	for _, s := range r.Spread {
		if !slices.Contains(queues, s.Queues) {
			queues = append(queues, s.Queues)
			t.Header = append(t.Header, fmt.Sprintf("%d queues", s.Queues))
		}
		if !slices.Contains(flows, s.Flows) {
			flows = append(flows, s.Flows)
		}
	}
	slices.Sort(flows)
	for _, n := range flows {
		even, elephant := []string{show.Grouped(float64(n), 0), "alike"}, []string{"", "half of one flow"}
		for _, q := range queues {
			i := slices.IndexFunc(r.Spread, func(s Spread) bool { return s.Flows == n && s.Queues == q })
			even, elephant = append(even, show.Digits(r.Spread[i].Even)), append(elephant, show.Digits(r.Spread[i].Elephant))
		}
		if t.Rows = append(t.Rows, even); n > 1 {
			t.Rows = append(t.Rows, elephant)
		}
	}
	return t
}

// weighed reports whether states were a matter: many enough to be weighed, or no more to be
// had.
func weighed(st States) bool {
	return st.ObjectBytes.Known() || st.SlabBytes.Known() || len(StatesWhy(st)) > 0
}

// statesTable tells what connection tracking did in all parts: states made, what
// they take, and why there were no more.
func statesTable(r Results) document.Table {
	t := document.Table{Header: []string{"part", "variant", "states made", "a second", "bytes each", "of all objects", "why no more"},
		Note: "means over the valid trials, while their traffic ran: where flows were known before (a warm-up), few are made; bytes each are those in the kernel's cache of states (/proc/slabinfo), of all objects by how much all of its objects grew for each (/proc/meminfo, Slab), whatever else the machine did; the table's buckets are not in it (8 bytes each)."}
	bytes := func(n show.Maybe) string {
		return show.Optional(n, func(v float64) string { return show.Grouped(v, 0) })
	}
	for _, st := range r.States {
		if st.Variant == AA {
			continue
		}
		t.Rows = append(t.Rows, []string{st.Part, st.Variant, show.Grouped(st.Made, 0), show.Grouped(st.PerSecond, 0),
			bytes(st.ObjectBytes), bytes(st.SlabBytes), cmp.Or(strings.Join(StatesWhy(st), "; "), show.Unknown)})
	}
	t.DropEmpty()
	return t
}

// managementTable says whether each arm's DUT stayed usable in a part: shares
// answered, and delays, as means over its valid trials with intervals.
func managementTable(r Results, part string) document.Table {
	t := document.Table{Title: "part " + part, Header: []string{"variant", "trials", "echo answered", "median, 99 %", "TCP connected", "median, 99 %", "greeted by a program", "median, 99 %"},
		Note: "ICMP echo, and TCP connections to a program on the router's CPU, every 5 ms over the wire that carries the load (RFC 2544 §11); means over the valid trials, shares with 95 % intervals, round trips of what was answered."}
	asked := false
	for _, arm := range r.Arms(part) {
		var valid []Management
		for _, tr := range r.Trials {
			if tr.Part != part || tr.Variant != arm || tr.Saw().Management == nil {
				continue
			}
			asked = true
			if tr.Valid {
				valid = append(valid, *tr.Saw().Management)
			}
		}
		row := []string{r.ArmName(arm), fmt.Sprint(len(valid))}
		for _, of := range []func(Management) Answers{
			func(m Management) Answers { return m.Echo },
			func(m Management) Answers { return m.Connect },
			func(m Management) Answers { return m.Greeting },
		} {
			row = append(row, answers(valid, of)...)
		}
		t.Rows = append(t.Rows, row)
	}
	if !asked {
		return document.Table{}
	}
	return t
}

// answers are the share answered with its interval, and the mean of medians and
// of 99th percentiles.
func answers(valid []Management, of func(Management) Answers) []string {
	var shares, p50, p99 []float64
	for _, m := range valid {
		a := of(m)
		shares = append(shares, 100*(1-a.Unanswered()))
		if l := cmp.Or(a.RTT, &load.Latency{}); l.P50 > 0 {
			p50, p99 = append(p50, float64(l.P50)), append(p99, float64(l.P99))
		}
	}
	if len(p50) == 0 {
		return []string{shareOf(shares), "–"}
	}
	return []string{shareOf(shares), show.Nanos(stats.Mean(p50)) + ", " + show.Nanos(stats.Mean(p99))}
}

// shareOf is the mean of percents with its 95 % interval; of one there is none.
func shareOf(percents []float64) string {
	switch len(percents) {
	case 0:
		return "–"
	case 1:
		return show.Percent(percents[0])
	}
	t := stats.OneSample(percents, 0.95)
	return fmt.Sprintf("%s [%s, %s]", show.Percent(t.Estimate), show.Digits(max(0, t.Low)), show.Digits(min(100, t.High)))
}
