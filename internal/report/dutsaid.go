package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"linerate/internal/document"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// dutTable shows what the DUT of a testbed of machines reported: its boots, its busiest
// CPU, its loss counters, its temperature and its clock.
func dutTable(r study.Results) document.Table {
	t := document.Table{Title: "The DUT's own counters", Header: []string{"part", "variant", "boots", "busiest CPU", "losses and squeezes, a trial", "°C", "MHz"},
		Note: "boots of all trials: their number, and the median and longest time until the DUT forwarded again; the rest are means over the valid trials, warm-up included, and the range of the sensors after each. The record has every counter."}
	for _, part := range r.Measured() {
		for _, arm := range r.Arms(part) {
			d := dutSaid(r, part, arm)
			if row := d.row(); slices.ContainsFunc(row, func(cell string) bool { return cell != "–" }) {
				t.Rows = append(t.Rows, append([]string{part, r.ArmName(arm)}, row...))
			}
		}
	}
	t.DropEmpty()
	return t
}

// said is what the DUT said during the trials of an arm.
type said struct {
	boots, busy    []float64 // seconds; percent of the busiest CPU
	lost           map[string]float64
	trials         int
	celsius, clock []float64
}

func dutSaid(r study.Results, part, arm string) said {
	d := said{lost: map[string]float64{}}
	for _, t := range r.Trials {
		if t.Part != part || t.Variant != arm || t.Observed == nil {
			continue
		}
		if b := t.Observed.Applied.Boot; b != nil {
			d.boots = append(d.boots, b.Seconds)
		}
		if t.Valid && len(t.Observed.DUT) > 0 {
			d.add(t.Observed.DUT)
		}
	}
	return d
}

func (d *said) add(dut map[string]float64) {
	d.trials++
	all, idle := map[string]float64{}, map[string]float64{}
	for name, v := range dut {
		first, last, _ := strings.Cut(name, ".")
		switch {
		case strings.HasSuffix(name, "_celsius"):
			d.celsius = append(d.celsius, v)
		case strings.HasSuffix(name, "_mhz"):
			d.clock = append(d.clock, v)
		case strings.HasPrefix(name, "cpu") && strings.HasSuffix(name, "_ticks"):
			all[first] += v
			if last == "idle_ticks" || last == "iowait_ticks" {
				idle[first] += v
			}
		case tellsLoss(name):
			d.lost[name] += v
		}
	}
	most := -1.0
	for cpu, ticks := range all {
		if ticks > 0 {
			most = max(most, 100*(1-idle[cpu]/ticks))
		}
	}
	if most >= 0 {
		d.busy = append(d.busy, most)
	}
}

// tellsLoss recognises counters of lost packets by words in their names, which differ by
// driver.
func tellsLoss(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"drop", "err", "miss", "fifo", "discard", "overr", "squeeze", "denied", "no_buf", "nobuf"}, func(word string) bool {
		return strings.Contains(name, word)
	})
}

// lossesShown is how many counters of losses a row names.
const lossesShown = 2

// row is what there is to show; "–" where there is nothing.
func (d said) row() []string {
	row := []string{"–", "–", "–", "–", "–"}
	if n := len(d.boots); n > 0 {
		row[0] = fmt.Sprintf("%d × %.0f s (%.0f s)", n, stats.Median(d.boots), slices.Max(d.boots))
	}
	if len(d.busy) > 0 {
		row[1] = show.Percent(stats.Mean(d.busy))
	}
	names := slices.SortedFunc(maps.Keys(d.lost), func(a, b string) int {
		return cmp.Or(cmp.Compare(d.lost[b], d.lost[a]), cmp.Compare(a, b))
	})
	var lost []string
	for _, name := range names[:min(lossesShown, len(names))] {
		lost = append(lost, show.Clean(name)+" "+show.Digits(d.lost[name]/float64(d.trials)))
	}
	if len(lost) > 0 {
		row[2] = strings.Join(lost, ", ")
	}
	row[3], row[4] = span(d.celsius), span(d.clock)
	return row
}

// span is the range of readings.
func span(x []float64) string {
	if len(x) == 0 {
		return "–"
	}
	low, high := show.Grouped(slices.Min(x), 0), show.Grouped(slices.Max(x), 0)
	if low == high {
		return low
	}
	return low + " to " + high
}
