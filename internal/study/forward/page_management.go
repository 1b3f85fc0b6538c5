package forward

import (
	"cmp"
	"fmt"

	"linerate/internal/load"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// managementTable says whether each arm's DUT stayed usable in a part: shares
// answered, and delays, as means over its valid trials with intervals.
func managementTable(r study.Results, part string) (study.Table, bool) {
	t := study.Table{Title: "part " + part, Header: []string{"variant", "trials", "echo answered", "median", "99 %", "TCP connected", "median", "99 %", "greeted by a program", "median", "99 %"},
		Note: "ICMP echo, and TCP connections to a program on the router's CPU, every 5 ms over the wire that carries the load (RFC 2544 §11); means over the valid trials, shares with 95 % intervals, round trips of what was answered"}
	asked := false
	for _, arm := range r.Arms(part) {
		var valid []Management
		for _, tr := range r.Trials {
			if tr.Part != part || tr.Variant != arm || In(tr.Observed).Management == nil {
				continue
			}
			asked = true
			if tr.Valid {
				valid = append(valid, *In(tr.Observed).Management)
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
	return t, asked
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
	nanos := func(x []float64) string {
		if len(x) == 0 {
			return "–"
		}
		return show.Nanos(stats.Mean(x))
	}
	return []string{shareOf(shares), nanos(p50), nanos(p99)}
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

// printManagement is managementTable for a terminal.
func printManagement(p *show.Page, r study.Results) {
	for _, part := range r.Measured() {
		t, ok := managementTable(r, part)
		if !ok {
			continue
		}
		var rows [][]string
		for _, row := range t.Rows {
			rows = append(rows, []string{row[0], row[1], row[2], row[3], row[5], row[6], row[8], row[9]})
		}
		printTable(p, fmt.Sprintf("does the router stay usable under part %s: share answered with 95 %% interval, and the median round trip", part),
			[]string{"variant", "trials", "echo", "", "connected", "", "greeted", ""}, []bool{false, true, true, true, true, true, true, true}, rows)
	}
}
