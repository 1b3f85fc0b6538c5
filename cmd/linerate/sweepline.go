package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"linerate/internal/assemble/hosts"
	"linerate/internal/cli"
	"linerate/internal/show"
)

// sweepProgress tells how a sweep gets on: one line that changes on a terminal,
// elsewhere a line for each tenth, and the hosts that cannot be reached.
type sweepProgress struct {
	w     io.Writer
	live  *show.Live
	style show.Style
	begun time.Time
	tenth int
	told  int
}

// mostTold bounds the hosts that are listed one by one.
const mostTold = 20

func newSweepProgress(w io.Writer) *sweepProgress {
	return &sweepProgress{w: w, live: cli.NewLive(w), style: cli.StyleOf(w), begun: time.Now()}
}

func (p *sweepProgress) update(s hosts.Progress) {
	if s.Failed != "" && !cli.Quiet(p.w) {
		p.told++
		if p.told <= mostTold {
			p.live.End()
			fmt.Fprintf(p.w, "unreachable: %s: %s\n", show.Clean(s.Failed), hosts.About("ssh://"+s.Failed, errors.New(s.Why)))
		} else if p.told == mostTold+1 {
			p.live.End()
			fmt.Fprintln(p.w, "unreachable: more; linerate fleet status has all")
		}
	}
	left := ""
	if done := s.Done(); done > 0 && done < s.Total {
		left = ", " + show.Clock(time.Duration(float64(time.Since(p.begun))*float64(s.Total-done)/float64(done))) + " left"
	}
	line := fmt.Sprintf("%s of %s hosts, %s unreachable, %s to be tried again%s", show.Count(s.Done()), show.Count(s.Total), show.Count(s.Unreachable), show.Count(s.Waiting), left)
	if p.live.On() {
		p.live.Show("%s %s", p.style.Bar(float64(s.Done())/float64(max(1, s.Total)), barWidth), line)
		return
	}
	if tenth := 10 * s.Done() / max(1, s.Total); tenth > p.tenth && !cli.Quiet(p.w) {
		p.tenth = tenth
		fmt.Fprintln(p.w, line)
	}
}

func (p *sweepProgress) done() { p.live.End() }
