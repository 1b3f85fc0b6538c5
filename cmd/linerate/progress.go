package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"linerate/internal/lab"
	"linerate/internal/report"
	"linerate/internal/study"
)

// progress tells on stderr how a study gets on: one line that changes on a
// terminal, one line per trial elsewhere.
type progress struct {
	w      io.Writer
	live   bool
	colour bool
	last   string // what the last trial measured
}

func newProgress(w io.Writer) *progress {
	return &progress{w: w, live: isTerminal(w), colour: wantsColour(w)}
}

// update is given to the lab.
func (p *progress) update(s lab.Progress) {
	if s.Trial != nil {
		p.last = measured(*s.Trial)
	}
	if p.live {
		fmt.Fprint(p.w, "\r\x1b[K", p.bar(s))
		return
	}
	if s.Trial != nil {
		fmt.Fprintf(p.w, "%d/%d %s block %d: %s: %s, %s left\n", s.Done, s.Total, s.Part.Name, s.Slot.Block, s.Slot.Variant, p.last, left(s.Left))
	}
}

// done ends the changing line.
func (p *progress) done() {
	if p.live {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

const barWidth = 24

func (p *progress) bar(s lab.Progress) string {
	share := 0.0
	if s.Total > 0 {
		share = float64(s.Done) / float64(s.Total)
	}
	full := int(math.Round(share * barWidth))
	bar := strings.Repeat("━", full) + strings.Repeat("─", barWidth-full)
	if p.colour {
		bar = "\x1b[36m" + strings.Repeat("━", full) + "\x1b[2m" + strings.Repeat("─", barWidth-full) + "\x1b[0m"
	}
	line := fmt.Sprintf("%s %3.0f %%  %s left  %s %s", bar, 100*share, left(s.Left), s.Part.Name, s.Slot.Variant)
	if p.last != "" {
		line += "  (last: " + p.last + ")"
	}
	return line
}

func left(d time.Duration) string {
	s := int(math.Ceil(d.Seconds()))
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// measured is a trial in a few words.
func measured(t study.Trial) string {
	switch {
	case t.Unavailable != "":
		return "unavailable: " + t.Unavailable
	case !t.Valid:
		return "invalid: " + t.Reasons[0]
	}
	if v, ok := t.Metrics[study.ForwardingRate]; ok {
		return fmt.Sprintf("%s, %.0f ns", report.Rate(v), t.Metrics[study.CostNS])
	}
	if v, ok := t.Metrics[study.OverloadRate]; ok {
		return fmt.Sprintf("%s of %s", report.Rate(v), report.Rate(t.Metrics[study.OfferedRate]))
	}
	return "measured"
}
