package forward

import (
	"slices"
	"strings"

	"linerate/internal/show"
	"linerate/internal/study"
)

// statesTable tells what connection tracking did in all parts: states made, what
// they take, and why there were no more.
func statesTable(r study.Results) study.Table {
	t := study.Table{Header: []string{"part", "variant", "states made", "a second", "bytes each", "of all objects", "why no more"},
		Note: "means over the valid trials, while their traffic ran: where flows were known before (a warm-up), few are made; bytes each are those in the kernel's cache of states (/proc/slabinfo), of all objects by how much all of its objects grew for each (/proc/meminfo, Slab), whatever else the machine did; the table's buckets are not in it (8 bytes each)"}
	for _, st := range r.States {
		if st.Variant == study.AA {
			continue
		}
		bytes := func(n show.Maybe) string {
			return show.Optional(n, func(v float64) string { return show.Grouped(v, 0) })
		}
		t.Rows = append(t.Rows, []string{st.Part, st.Variant, show.Grouped(st.Made, 0), show.Grouped(st.PerSecond, 0),
			bytes(st.ObjectBytes), bytes(st.SlabBytes), strings.Join(Why(st), "; ")})
	}
	return t
}

// statesPage is statesTable without a last column that says nothing.
func statesPage(r study.Results) []study.Table {
	t := statesTable(r)
	last := len(t.Header) - 1
	if !slices.ContainsFunc(t.Rows, func(row []string) bool { return row[last] != "" }) {
		t.Header = t.Header[:last]
		for i := range t.Rows {
			t.Rows[i] = t.Rows[i][:last]
		}
	}
	return t.Any()
}

// printStates is statesTable for a terminal, where states were a matter: many
// enough to be weighed, or no more to be had.
func printStates(p *show.Page, r study.Results) {
	t := statesTable(r)
	if !slices.ContainsFunc(r.States, func(st study.States) bool {
		return st.ObjectBytes.Known() || st.SlabBytes.Known() || len(Why(st)) > 0
	}) {
		return
	}
	var rows [][]string
	for _, row := range t.Rows {
		rows = append(rows, row[:6])
	}
	printTable(p, "what connection tracking did while the traffic ran, means; bytes of a state in its cache, and of all the kernel's objects",
		t.Header[:6], []bool{false, false, true, true, true, true}, rows)
	for _, row := range t.Rows {
		if row[6] != "" {
			p.Paragraph("  ", "    ", row[0]+", "+row[1]+": "+row[6]+".")
		}
	}
	p.Line("")
}
