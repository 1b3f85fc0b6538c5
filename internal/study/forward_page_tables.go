package study

import (
	"cmp"
	"strings"

	"linerate/internal/document"
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

// statesTable tells what connection tracking did where it was a matter: states made, what
// they take, and why there were no more.
func statesTable(r Results) document.Table {
	t := document.Table{Header: []string{"part", "variant", "states made", "a second", "bytes each", "of all objects", "why no more"},
		Note: "means over the valid trials, while their traffic ran: where flows were known before (a warm-up), few are made; bytes each are those in the kernel's cache of states (/proc/slabinfo), of all objects by how much all of its objects grew for each (/proc/meminfo, Slab), whatever else the machine did; the table's buckets are not in it (8 bytes each)."}
	bytes := func(n show.Maybe) string {
		return show.Optional(n, func(v float64) string { return show.Grouped(v, 0) })
	}
	for _, st := range r.States {
		why := strings.Join(StatesWhy(st), "; ")
		if st.Variant == AA || why == "" && !st.ObjectBytes.Known() && !st.SlabBytes.Known() { // next to nothing
			continue
		}
		t.Rows = append(t.Rows, []string{st.Part, st.Variant, show.Grouped(st.Made, 0), show.Grouped(st.PerSecond, 0),
			bytes(st.ObjectBytes), bytes(st.SlabBytes), cmp.Or(why, show.Unknown)})
	}
	t.DropEmpty()
	return t
}
