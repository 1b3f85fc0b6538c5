package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"linerate/internal/document"
	"linerate/internal/list"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// dutTable shows what the DUTs in a testbed of machines reported: boot times, and the
// two loss counters that grew most.
func dutTable(r study.Results) document.Table {
	t := document.Table{Header: []string{"part", "variant", "boots, median", "losses and squeezes, a trial"},
		Note: "means over the valid trials, warm-up included. The record has every counter."}
	for _, part := range r.Measured() {
		for _, arm := range r.Arms(part) {
			var boots []float64
			lost, trials := map[string]float64{}, 0.0
			for _, tr := range r.Trials {
				if tr.Part != part || tr.Variant != arm {
					continue
				}
				if b := tr.Saw().Applied.Boot; b != nil {
					boots = append(boots, b.Seconds)
				}
				if tr.Valid && len(tr.Saw().DUT) > 0 {
					trials++
					addLosses(lost, tr.Saw().DUT)
				}
			}
			if row := []string{part, r.ArmName(arm), bootsText(boots), lossText(lost, trials)}; row[2] != show.Unknown || row[3] != show.Unknown {
				t.Rows = append(t.Rows, row)
			}
		}
	}
	return t
}

func bootsText(boots []float64) string {
	if len(boots) == 0 {
		return show.Unknown
	}
	return fmt.Sprintf("%d × %.0f s", len(boots), stats.Median(boots))
}

// addLosses sums counters of lost packets, recognised by words in their names, which vary by driver.
func addLosses(sum, dut map[string]float64) {
	for name, v := range dut {
		lower := strings.ToLower(name)
		if slices.ContainsFunc([]string{"drop", "err", "miss", "fifo", "discard", "overr", "squeeze", "denied", "no_buf", "nobuf"}, func(word string) bool {
			return strings.Contains(lower, word)
		}) {
			sum[name] += v
		}
	}
}

func lossText(lost map[string]float64, trials float64) string {
	names := slices.SortedFunc(maps.Keys(lost), func(a, b string) int {
		return cmp.Or(cmp.Compare(lost[b], lost[a]), cmp.Compare(a, b))
	})
	out := list.Map(names[:min(2, len(names))], func(name string) string { return show.Clean(name) + " " + show.Digits(lost[name]/trials) })
	return cmp.Or(strings.Join(out, ", "), show.Unknown)
}
