package report

import (
	"cmp"
	"fmt"

	"linerate/internal/load"
	"linerate/internal/show"
	"linerate/internal/study"
)

// managementTable says whether each arm's DUT stayed usable in a part: what
// was asked over all its trials, valid or not, and the means of their delays.
func managementTable(r study.Results, part string) (htmlTable, bool) {
	t := htmlTable{Title: "part " + part, Header: []string{"variant", "echo answered", "median", "99 %", "TCP connected", "median", "99 %", "greeted by a program", "median", "99 %"},
		Note: "ICMP echo, and TCP connections to a program on the router's CPU, every 5 ms over the wire that carries the load (RFC 2544 §11); round trips are means over the trials, of what was answered"}
	for _, arm := range arms(r, part) {
		var all []study.Management
		for _, tr := range r.Trials {
			if tr.Part == part && tr.Variant == arm && tr.Observed != nil && tr.Observed.Management != nil {
				all = append(all, *tr.Observed.Management)
			}
		}
		if len(all) == 0 {
			continue
		}
		row := []string{armName(r, arm)}
		for _, of := range []func(study.Management) study.Answers{
			func(m study.Management) study.Answers { return m.Echo },
			func(m study.Management) study.Answers { return m.Connect },
			func(m study.Management) study.Answers { return m.Greeting },
		} {
			row = append(row, answers(all, of)...)
		}
		t.Rows = append(t.Rows, row)
	}
	return t, len(t.Rows) > 0
}

// answers are the share answered, and the mean of medians and of 99th
// percentiles.
func answers(all []study.Management, of func(study.Management) study.Answers) []string {
	var sum study.Answers
	var p50, p99 []float64
	for _, m := range all {
		a := of(m)
		sum.Sent, sum.Answered = sum.Sent+a.Sent, sum.Answered+a.Answered
		if l := cmp.Or(a.RTT, &load.Latency{}); l.P50 > 0 {
			p50, p99 = append(p50, float64(l.P50)), append(p99, float64(l.P99))
		}
	}
	nanos := func(x []float64) string {
		if len(x) == 0 {
			return "–"
		}
		return show.Nanos(mean(x))
	}
	return []string{show.Percent(100 * (1 - sum.Unanswered())), nanos(p50), nanos(p99)}
}

// managementRows is managementTable for a terminal.
func (p *page) managementRows(r study.Results) {
	for _, part := range parts(r) {
		t, ok := managementTable(r, part)
		if !ok {
			continue
		}
		p.Line("  " + p.Dim(fmt.Sprintf("does the router stay usable under part %s: answered, and the median round trip", part)))
		p.Line("")
		var rows [][]string
		for _, row := range t.Rows {
			rows = append(rows, []string{row[0], row[1], row[2], row[4], row[5], row[7], row[8]})
		}
		p.table([]string{"variant", "echo", "", "connected", "", "greeted", ""}, []bool{false, true, true, true, true, true, true}, rows)
		p.Line("")
	}
}
