package main

import (
	"cmp"
	"fmt"
	"io"

	"linerate/internal/cli"
	"linerate/internal/lab"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// progress prints the progress of a study on stderr: one updated line on a terminal, else one line
// per trial unless quiet.
type progress struct {
	w     io.Writer
	live  *show.Live
	style show.Style
	last  string // result of the last trial
	known string // current width of the intervals
	// interim returns the intervals so far; nil if they cannot be computed.
	interim func() (aa, widest stats.Number)
	points  bool // the intervals are of proportions
}

func newProgress(w io.Writer) *progress {
	return &progress{w: w, live: cli.NewLive(w), style: cli.StyleOf(w)}
}

// update is the lab's progress callback.
func (p *progress) update(s lab.Progress) {
	if s.Trial != nil {
		p.last = measured(s.Part, *s.Trial)
		p.narrow()
	}
	if p.live.On() {
		p.live.Show("%s", p.bar(s))
		return
	}
	if s.Trial != nil && !cli.Quiet(p.w) {
		fmt.Fprintf(p.w, "%d/%d %s block %d: %s: %s, %s left\n", s.Done, s.Total, s.Part.Name, s.Slot.Block, s.Slot.Variant, p.last+p.known, show.Clock(s.Left))
	}
}

// narrow updates the width of the intervals.
func (p *progress) narrow() {
	if p.interim == nil {
		return
	}
	p.known = ""
	aa, widest := p.interim()
	a, w := p.width(aa), p.width(widest)
	if a == "" && w == "" {
		return
	}
	p.known = fmt.Sprintf("; A/A %s, widest %s", cmp.Or(a, "unknown"), cmp.Or(w, "unknown"))
}

// width formats the half-width of an interval, in percent or percentage points. It returns "" for
// one as wide as 100, which means too few blocks or arms that hardly measured.
func (p *progress) width(half stats.Number) string {
	if w, ok := half.Get(); ok && w < 100 {
		unit := "%"
		if p.points {
			unit = "points"
		}
		return fmt.Sprintf("±%.2f %s", w, unit)
	}
	return ""
}

const barWidth = 24

func (p *progress) bar(s lab.Progress) string {
	share := 0.0
	if s.Total > 0 {
		share = float64(s.Done) / float64(s.Total)
	}
	line := fmt.Sprintf("%s %3.0f %%  %s left  %s %s", p.style.Bar(share, barWidth), 100*share, show.Clock(s.Left), s.Part.Name, s.Slot.Variant)
	if p.known != "" {
		return line + p.known
	}
	if p.last != "" {
		line += "  (last: " + p.last + ")"
	}
	return line
}

// measured summarises a trial.
func measured(of study.Part, t study.Trial) string {
	switch {
	case t.Unavailable != "":
		return "unavailable: " + t.Unavailable
	case !t.Valid:
		return "invalid: " + t.Reasons[0].String()
	}
	if v, ok := t.Metrics[study.ForwardingRate]; ok {
		return fmt.Sprintf("%s, %.0f ns", show.Rate(v), t.Metrics[study.CostNS])
	}
	if v, ok := t.Metrics[study.OverloadRate]; ok {
		return fmt.Sprintf("%s of %s", show.Rate(v), show.Rate(t.Metrics[study.OfferedRate]))
	}
	if m, ok := study.Timeline(of); ok {
		if v, ok := t.Metrics[m.Name]; ok {
			return m.Text(v)
		}
	}
	return "measured"
}
