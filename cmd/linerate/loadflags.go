package main

import (
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/hint"
	"linerate/internal/load/request"
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
	fs.Float64VarP(&f.rate, "rate", "r", 0, w.of+" per second of an open loop (default: a closed loop)")
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
