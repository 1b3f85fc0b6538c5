package report

import (
	"math"

	"linerate/internal/chart"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// forestOf are the rows of one metric in one part; the A/A arm leads where it
// is the primary metric's.
func forestOf(r study.Results, metric, part string, inNS bool) []chart.Effect {
	var rows []chart.Effect
	if _, p := primary(r); p == part && metric == r.AA.Metric && !inNS && known(r.AA.Effect) {
		rows = append(rows, percentRow(r.ArmName(study.AA), "aa", r.AA.Effect, r.AA.Verdict))
	}
	for _, v := range r.Verdicts {
		if v.Metric != metric || v.Part != part {
			continue
		}
		if inNS {
			rows = append(rows, nsRow(v))
		} else {
			rows = append(rows, percentRow(v.Variant, string(v.Verdict), v.Effect, v.Verdict))
		}
	}
	return rows
}

func percentRow(name, class string, e stats.Effect, verdict stats.Verdict) chart.Effect {
	row := chart.Effect{Name: name, Class: class, Main: string(verdict)}
	size, low, high := e.Size()
	if !withEffect(&row, size, low, high) {
		return row
	}
	row.Main = e.Text() + "  " + string(verdict)
	if low.Known() && high.Known() {
		row.Aside = e.Bounds()
	}
	return row
}

func known(e stats.Effect) bool {
	size, _, _ := e.Size()
	return size.Known()
}

// withEffect takes an effect and its interval, where they are known.
func withEffect(row *chart.Effect, effect, low, high stats.Number) bool {
	row.Value, row.Known = effect.Get()
	row.Low, row.High = row.Value, row.Value
	if low.Known() && high.Known() {
		row.Low, row.High = low.Float(), high.Float()
	}
	return row.Known
}

func nsRow(v study.Verdict) chart.Effect {
	row := chart.Effect{Name: v.Variant, Class: string(v.Verdict), Main: string(v.Verdict)}
	if !withEffect(&row, v.EffectNS, v.NSLow, v.NSHigh) {
		return row
	}
	row.Main = show.Signed(row.Value, nsDecimals(row.Value)) + " ns"
	if v.NSLow.Known() && v.NSHigh.Known() {
		row.Aside = "[" + show.Signed(row.Low, nsDecimals(row.Low)) + ", " + show.Signed(row.High, nsDecimals(row.High)) + "]"
	}
	return row
}

func nsDecimals(v float64) int {
	if math.Abs(v) < 10 {
		return 1
	}
	return 0
}
