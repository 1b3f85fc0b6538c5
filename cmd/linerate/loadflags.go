package main

import (
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/calc"
	"linerate/internal/hint"
	"linerate/internal/load/request"
	"linerate/internal/show"
)

// loadFlags are the flags that all loads have.
type loadFlags struct {
	rate                             float64
	arrivals                         string
	duration, warmup, timeout, every time.Duration
	most, seed                       uint64
	strict, json                     bool
	of                               string
}

// loadWords are how a load speaks of itself.
type loadWords struct {
	of       string // what it is of: "requests"
	begin    string // what it does before measuring
	arrivals string // about poisson
	timeout  time.Duration
	late     string // what is late after the timeout
	seed     string // what the seed draws
	strict   string // what strict refuses
}

// add defines the flags.
func (f *loadFlags) add(cmd *cobra.Command, w loadWords) {
	f.of = w.of
	fs := cmd.Flags()
	fs.VarP((*perSecond)(&f.rate), "rate", "r", w.of+" per second of an open loop, such as 500 or 2k (default: a closed loop)")
	fs.StringVar(&f.arrivals, "arrivals", "constant", "of an open loop: constant, or poisson"+w.arrivals)
	fs.DurationVarP(&f.duration, "duration", "d", 10*time.Second, "how long to measure; 0 with --"+w.of+": no limit")
	fs.DurationVar(&f.warmup, "warmup", 0, w.begin+" for so long before measuring")
	fs.Uint64VarP(&f.most, w.of, "n", 0, "end after so many "+w.of)
	fs.DurationVar(&f.timeout, "timeout", w.timeout, w.late)
	fs.Uint64Var(&f.seed, "seed", 1, "seed of "+w.seed)
	fs.DurationVar(&f.every, "interval", 0, "how often to say how far it is (default 0.5s on a terminal, 10s elsewhere)")
	fs.BoolVar(&f.strict, "strict", false, "exit 1 if "+w.strict)
	fs.BoolVar(&f.json, "json", false, "print the account as JSON")
}

// perSecond is a flag's rate: 500, 2k, 1.5k/s.
type perSecond float64

// Set reads the flag.
func (p *perSecond) Set(s string) error {
	v, err := calc.Parse(s, calc.PerSecond)
	*p = perSecond(v)
	return err
}

func (p *perSecond) String() string { return show.Trimmed(float64(*p), 3) }

// Type is what help calls the value.
func (p *perSecond) Type() string { return "RATE" }

// process is how requests of an open loop arrive. A rate that was given must
// be one.
func (f *loadFlags) process(cmd *cobra.Command) (request.Process, error) {
	if cmd.Flags().Changed("rate") && !(f.rate > 0) {
		return "", hint.With(hint.Usagef("--rate %g: %s per second, above 0", f.rate, f.of), "leave it out for a closed loop")
	}
	p, err := request.ParseProcess(f.arrivals)
	if err != nil {
		return "", hint.Usage(err)
	}
	return p, nil
}
