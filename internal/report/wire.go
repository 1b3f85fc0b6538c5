package report

import (
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// wireHeader heads the table of rates on a wire.
var wireHeader = []string{"part", "variant", "directions", "frame", "frames/s", "Ethernet", "IP", "of the link"}

// wireRows are the rates at the levels that people compare.
func wireRows(r study.Results) (rows [][]string) {
	for _, w := range r.Wire {
		rows = append(rows, []string{w.Part, w.Variant, w.Directions, show.Grouped(w.Frame, 0) + " B", show.Rate(w.PPS),
			show.Bits(w.EthernetBPS), show.Bits(w.IPBPS), share(w.LinkShare)})
	}
	return rows
}

func share(n stats.Number) string {
	return show.Optional(n, func(v float64) string { return show.Percent(100 * v) })
}

// wireTable prints them.
func (p *page) wireTable(r study.Results) {
	rows := wireRows(r)
	if len(rows) == 0 {
		return
	}
	p.Caption("on a wire, by one CPU, both directions together where there are both; bits of frames with FCS, and of IP packets")
	p.Line("")
	p.table(wireHeader, []bool{false, false, false, true, true, true, true, true}, rows)
	p.Line("")
	if note := wireNote(r); note != "" {
		p.Paragraph("  ", "    ", note)
		p.Line("")
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
