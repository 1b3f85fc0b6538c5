package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"linerate/internal/search/simdut"
	"linerate/internal/show"
)

const benchSearchLong = `Run throughput searches on simulated devices of known throughput: RFC
2544's binary search with 60-second trials, and MLRsearch for the same goal,
for two goals at once, and for NDR and PDR. Time is virtual.

The table says how much trial time each needs, how often its bounds enclose
the true throughput, and how often its answer is RFC 2544's within the width of 0.5 %.`

// newSearchCmd measures the searches of internal/search.
func newSearchCmd() *cobra.Command {
	s := simulated{flag: "runs", usage: "searches per device and method", usual: 200, least: 1, most: 100_000,
		quick: 20, quickly: "20 searches each", seed: "seed of the devices"}
	return s.command(&cobra.Command{
		Use:   "search",
		Short: "throughput searches on simulated devices: time needed, bounds that hold",
		Long:  benchSearchLong,
	}, func(_ *cobra.Command, runs int, seed uint64) (any, func(*show.Page), error) {
		rows, err := simdut.Table(runs, seed)
		return map[string]any{"version": 1, "runs": runs, "seed": seed, "rows": rows}, func(p *show.Page) { searchesPage(p, rows, runs) }, err
	})
}

func searchesPage(p *show.Page, rows []simdut.Row, runs int) {
	p.Line(fmt.Sprintf("%d searches per device and method; loads 14.88 kpps to 1.488 Mpps, width 0.5 %%\n", runs))
	const row = "%-20s %-19s %10s %10s %7s %8s %14s %12s %12s"
	p.Line(fmt.Sprintf(row, "device", "method", "truth pps", "answer pps", "trials", "trial s", "of RFC 2544's", "bounds hold", "same answer"))
	device, worst := "", 0.0
	for _, r := range rows {
		name := r.DUT
		if name == device {
			name = ""
		}
		device = r.DUT
		same := "–"
		if r.Same != nil {
			same = show.WholePercent(100 * *r.Same)
		}
		if r.Method == "mlr rfc2544" {
			worst = max(worst, r.Ratio)
		}
		p.Line(fmt.Sprintf(row, name, r.Method, fixed(r.Truth, 0), fixed(r.Answer, 0), fixed(r.Trials, 1), fixed(r.Time, 0),
			show.WholePercent(100*r.Ratio), show.WholePercent(100*r.Holds), same))
	}
	p.Line(fmt.Sprintf("\nFor RFC 2544's goal MLRsearch needs at most %s of RFC 2544's trial time.\n"+
		"\"Same answer\": the bounds overlap, against a second RFC 2544 search of the same\n"+
		"device; in RFC 2544's own row it is how often that search repeats itself. Where capacity\n"+
		"flickers, no search for zero loss repeats: ask for TST009, NDR or PDR instead. With loss\n"+
		"inversion a device has two throughputs, and either is a true one.", show.WholePercent(100*worst)))
}

func fixed(v float64, decimals int) string { return strconv.FormatFloat(v, 'f', decimals, 64) }
