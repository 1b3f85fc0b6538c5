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

// progress tells on stderr how a study gets on: one line that changes on a
// terminal, one line per trial elsewhere, where it is not to be quiet.
type progress struct {
	w     io.Writer
	live  *show.Live
	style show.Style
	last  string // what the last trial measured
	known string // how wide the intervals are by now
	// interim returns them; nil where they are not known.
	interim func() (aa, widest stats.Number)
	points  bool // the intervals are of shares
}

func newProgress(w io.Writer) *progress {
	return &progress{w: w, live: cli.NewLive(w), style: cli.StyleOf(w)}
}

// update is given to the lab.
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

// narrow looks at the intervals again.
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

// width is half that of an interval, in percent or points. One as wide as the effect could be says
// nothing: it is of too few blocks, or of arms that hardly measured.
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

// done ends the changing line.
func (p *progress) done() { p.live.End() }

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

// measured is a trial in a few words.
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
