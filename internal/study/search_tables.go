package study

import (
	"fmt"
	"math"

	"linerate/internal/document"
	"linerate/internal/search"
	"linerate/internal/show"
	"linerate/internal/stats"
)

// burstTable tells each arm's longest bursts (RFC 9004 §6), as means over its
// searches.
func burstTable(r Results, part string) document.Table {
	t := document.Table{Title: "part " + part, Header: []string{"variant", "longest burst", "least", "most", "SD", "implied buffer time", "corrected buffer time", "trials of the block"},
		Note: "longest burst at the generator's full rate without loss, means over the blocks; least and most over all; SD within a block; the corrected time leaves out what was forwarded meanwhile."}
	for _, arm := range r.Arms(part) {
		var all []search.BackToBackResult
		trials := 0.0
		for _, s := range searches(r, part, arm) {
			if s.BackToBack != nil {
				all = append(all, *s.BackToBack)
				trials += float64(len(s.Points))
			}
		}
		if len(all) == 0 {
			continue
		}
		n := float64(len(all))
		least, most := math.Inf(1), 0.0
		var longest, sd, implied, corrected float64
		for _, b := range all {
			least, most = min(least, b.Min), max(most, b.Max)
			longest, sd = longest+b.Mean/n, sd+b.SD.Float()/n
			implied, corrected = implied+b.ImpliedTime/n, corrected+b.CorrectedTime/n
		}
		frames := func(v float64) string { return show.Grouped(v, 0) }
		t.Rows = append(t.Rows, []string{r.ArmName(arm), frames(longest) + " frames", frames(least), frames(most), show.Grouped(sd, 1),
			show.Nanos(1e9 * implied), show.Nanos(1e9 * corrected), frames(trials / n)})
	}
	return t
}

// curveTable tells what each arm lost at each load, as means over its curves.
// Curves have the loads in common only as shares of the largest.
func curveTable(r Results, part string) document.Table {
	t := document.Table{Title: "part " + part, Header: []string{"share of the largest load"},
		Note: "frame loss rate (RFC 1242 §3.6), means over the curves that reach down to the load; a curve ends at the second load in a row without loss."}
	var shares []string
	loss := map[string]map[string][]float64{} // arm, share
	for _, arm := range r.Arms(part) {
		runs := searches(r, part, arm)
		if len(runs) == 0 || runs[0].LossCurve == nil {
			continue
		}
		t.Header = append(t.Header, r.ArmName(arm))
		loss[r.ArmName(arm)] = map[string][]float64{}
		for _, s := range runs {
			for i, p := range s.LossCurve {
				share := fmt.Sprintf("%.3g %%", 100*p.Load/s.LossCurve[0].Load)
				if i >= len(shares) {
					shares = append(shares, share)
				}
				loss[r.ArmName(arm)][share] = append(loss[r.ArmName(arm)][share], p.LossRatio)
			}
		}
	}
	for _, share := range shares {
		row := []string{share}
		for _, arm := range t.Header[1:] {
			cell := ""
			if v := loss[arm][share]; len(v) > 0 {
				cell = show.Loss(stats.Mean(v))
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// burstMethod says in words how the longest bursts were sought.
func burstMethod(p Part) string {
	s := p.Search
	return fmt.Sprintf("Part %s (mode overload, %d blocks): each trial sets the variant up once, finds its throughput by RFC 2544's search, and then %d times the longest burst at the generator's full rate that loses nothing, to %d frames (RFC 9004); "+
		"a burst that loses some is tried %d times more before it counts. The mean of the %d is the number compared.", p.Name, p.Blocks, s.Repeats, s.StepFrames, s.Verify, s.Repeats)
}

// curveMethod says in words how a loss curve was drawn.
func curveMethod(p Part) string {
	return fmt.Sprintf("Part %s (mode overload, %d blocks): each trial sets the variant up once and offers what the generator can send, then less by steps of %g %% of it, %g s each, until two loads in a row lose nothing (RFC 2544 §26.3). "+
		"The upper of these two is the number compared: it is known to a step, and no throughput.", p.Name, p.Blocks, p.Search.StepPercent, p.Seconds)
}
