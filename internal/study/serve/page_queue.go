package serve

import (
	"fmt"
	"math"
	"slices"
	"time"

	"linerate/internal/chart"
	"linerate/internal/load/request"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// depths are how long an arm's queue was, by time since each load's first look.
type depths struct {
	mean, most []float64 // of the loads, by bin
	span       float64   // of all bins, in seconds
	peak       int
	settled    float64 // when the queue was empty, in seconds: the median over loads
}

// depthBins is into how many bins time is divided.
const depthBins = 48

// depthsOf gathers an arm's samples of a part's valid trials; false of none.
func depthsOf(r study.Results, part, arm string) (d depths, ok bool) {
	loads := queueLoads(r, part, arm, &d)
	var ends []float64
	for _, l := range loads {
		ends = append(ends, l[len(l)-1].Seconds)
	}
	if len(ends) == 0 {
		return d, false
	}
	d.settled = stats.Median(ends)
	d.span = max(slices.Max(ends), 1e-3)
	d.mean, d.most = make([]float64, depthBins), make([]float64, depthBins)
	for _, l := range loads {
		k := 0
		for bin := range depthBins {
			// A depth lasts until the next look; after the last one nothing waits.
			at := (float64(bin) + 0.5) / depthBins * d.span
			for k+1 < len(l) && l[k+1].Seconds <= at {
				k++
			}
			waiting := float64(l[k].Waiting())
			d.mean[bin] += waiting / float64(len(loads))
			d.most[bin] = max(d.most[bin], waiting)
		}
	}
	return d, true
}

// queueLoads are the samples of each load, from its first look on.
func queueLoads(r study.Results, part, arm string, d *depths) (loads [][]request.Depth) {
	for _, t := range r.Trials {
		if t.Part != part || t.Variant != arm || !t.Valid || t.Observed == nil || In(t.Observed) == nil || In(t.Observed).Queue == nil {
			continue
		}
		q := In(t.Observed).Queue
		d.peak = max(d.peak, q.Peak)
		first := 0.0
		for i, s := range q.Samples {
			if i == 0 || s.Load != q.Samples[i-1].Load {
				loads, first = append(loads, nil), s.Seconds
			}
			s.Seconds -= first
			loads[len(loads)-1] = append(loads[len(loads)-1], s)
		}
	}
	return loads
}

// queues draws for every arm how many messages were on their way, by time since
// a load began: filled the mean over loads, hollow the most of any. Each arm has
// a time of its own; depths are on one scale.
func queues(r study.Results, part string, width float64) string {
	all, list := map[string]depths{}, []string{}
	most := 1.0
	for _, a := range r.Arms(part) {
		if d, ok := depthsOf(r, part, a); ok {
			all[a], list = d, append(list, a)
			most = max(most, slices.Max(d.most))
		}
	}
	if len(list) == 0 {
		return ""
	}
	narrow := chart.IsNarrow(width)
	const head, plot, foot = 18.0, 46.0, 24.0
	c := chart.New(width, float64(len(list))*(head+plot+foot))
	bar := (width - 16) / depthBins
	for i, a := range list {
		d, base := all[a], float64(i)*(head+plot+foot)+head+plot
		c.Text("name", "start", 8, base-plot-4, r.ArmName(a))
		c.Text("number", "end", width-8, base-plot-4, d.words(narrow))
		c.Line("grid", 8, base, width-8, base)
		for k := range depthBins {
			x := 8 + float64(k)*bar
			c.Rect("tenths log", x+0.1*bar, base-plot*d.most[k]/most, 0.8*bar, plot*d.most[k]/most)
			c.Rect("tenths", x+0.1*bar, base-plot*d.mean[k]/most, 0.8*bar, plot*d.mean[k]/most)
		}
		c.Text("tick", "start", 8, base+14, "0")
		c.Text("tick", "end", width-8, base+14, brief(d.span))
	}
	return c.SVG(fmt.Sprintf("messages on their way in part %s, by time since a load began", part))
}

// words say how long the queue was, and for how long.
func (d depths) words(narrow bool) string {
	if narrow {
		return fmt.Sprintf("≤ %s, empty after %s", show.Count(d.peak), brief(d.settled))
	}
	return fmt.Sprintf("at most %s on their way; empty after %s (median)", show.Count(d.peak), brief(d.settled))
}

func brief(seconds float64) string { return show.Brief(time.Duration(math.Round(seconds * 1e9))) }
