package forward

import (
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// wireTable has the rates at the levels that people compare, where there are any.
func wireTable(r study.Results) []study.Table {
	t := study.Table{Header: []string{"part", "variant", "directions", "frame", "frames/s", "Ethernet", "IP", "of the link"}, Note: wireNote(r)}
	for _, w := range r.Wire {
		t.Rows = append(t.Rows, []string{w.Part, w.Variant, w.Directions, show.Grouped(w.Frame, 0) + " B", show.Rate(w.PPS),
			show.Bits(w.EthernetBPS), show.Bits(w.IPBPS), share(w.LinkShare)})
	}
	return t.Any()
}

func share(n stats.Number) string {
	return show.Optional(n, func(v float64) string { return show.Percent(100 * v) })
}

// printWire prints it.
func printWire(p *show.Page, r study.Results) {
	for _, t := range wireTable(r) {
		printTable(p, "on a wire, by one CPU, both directions together where there are both; bits of frames with FCS, and of IP packets",
			t.Header, []bool{false, false, false, true, true, true, true, true}, t.Rows)
		if t.Note != "" {
			p.Paragraph("  ", "    ", t.Note)
			p.Line("")
		}
	}
}

// wireNote says what more than a link means, where there is any.
func wireNote(r study.Results) string {
	for _, w := range r.Wire {
		if share, ok := w.LinkShare.Get(); ok && share > 1 {
			return "Above 100 % of the link one CPU is not what limits: the wire is full first"
		}
	}
	return ""
}
