package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/calc"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/load/client"
	"linerate/internal/load/request"
	"linerate/internal/show"
)

// loadFlags say when, how fast and how long load is offered.
type loadFlags struct {
	rate                             float64
	arrivals                         string
	duration, warmup, timeout, every time.Duration
	most, seed                       uint64
	strict                           bool
}

// add defines the flags.
func (f *loadFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.VarP((*perSecond)(&f.rate), "rate", "r", "requests per second of an open loop, 500 or 2k (default: closed)")
	fs.StringVar(&f.arrivals, "arrivals", "constant", "of an open loop: constant or poisson")
	fs.DurationVar(&f.duration, "time", 10*time.Second, "how long to measure; 0: no limit")
	fs.DurationVar(&f.warmup, "warmup", 0, "offer load for so long before measuring")
	fs.Uint64VarP(&f.most, "requests", "n", 0, "end after so many requests")
	fs.DurationVar(&f.timeout, "timeout", 5*time.Second, "an answer later than this is too late")
	fs.Uint64Var(&f.seed, "seed", 1, "seed of arrivals and mix")
	fs.DurationVar(&f.every, "interval", 0, "how often to show progress")
	fs.BoolVar(&f.strict, "strict", false, "exit 1 if one failed, or the generator was saturated")
	cli.JSONFlag(cmd)
}

// perSecond is a flag's rate: 500, 2k, 1.5k/s.
type perSecond float64

func (p *perSecond) Set(s string) error {
	v, err := calc.Parse(s, calc.PerSecond)
	*p = perSecond(v)
	return err
}

func (p *perSecond) String() string { return show.Trimmed(float64(*p), 3) }

func (p *perSecond) Type() string { return "RATE" }

// load is when and how often to ask. A rate that was given must be one.
func (f *loadFlags) load(cmd *cobra.Command) (l client.Load, err error) {
	l = client.Load{Rate: f.rate, Duration: f.duration, Warmup: f.warmup, Requests: f.most, Timeout: f.timeout, Seed: f.seed}
	if cmd.Flags().Changed("rate") && !(f.rate > 0) {
		return l, hint.With(hint.Usagef("--rate %g: requests per second, above 0", f.rate), "leave it out for a closed loop")
	}
	if l.Arrivals, err = request.ParseProcess(f.arrivals); err != nil {
		return l, hint.Usage(err)
	}
	return l, nil
}

// loadLive says how far a load is: on a terminal in one line that is written
// over, elsewhere in lines.
type loadLive struct {
	*show.Live
	w    io.Writer
	last request.Result
}

func newLoadLive(w io.Writer) *loadLive { return &loadLive{Live: cli.NewLive(w), w: w} }

// every is how often to say it: as asked, or half a second on a terminal and
// ten seconds elsewhere.
func (l *loadLive) every(asked time.Duration) time.Duration {
	switch {
	case asked != 0:
		return asked
	case l.On():
		return 500 * time.Millisecond
	}
	return 10 * time.Second
}

// show prints the account so far; the rates are since the last time.
func (l *loadLive) show(r request.Result) {
	s := max(r.Seconds-l.last.Seconds, 1e-9)
	q := request.Quantiles{}
	if r.Latency != nil {
		q = *r.Latency
	}
	bytes := ""
	if r.WireIn > 0 {
		bytes = show.Bits(8*float64(r.WireIn-l.last.WireIn)/s) + "  "
	}
	text := fmt.Sprintf("%6.1f s  %s  %sfailed %s  p50 %s  p99 %s  max %s", r.Seconds,
		show.SI(float64(r.Answered-l.last.Answered)/s, "req/s"), bytes, show.Count(r.Failed), show.Nanos(float64(q.P50)), show.Nanos(float64(q.P99)), show.Nanos(float64(q.Max)))
	l.last = r
	if l.On() {
		l.Show("%s", text)
		return
	}
	fmt.Fprintln(l.w, strings.TrimSpace(text))
}

func interrupted(err error) bool { return errors.Is(err, context.Canceled) }
