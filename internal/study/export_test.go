package study

import (
	"linerate/internal/stats"
)

// What tests look at from outside, where the kinds are known.
const (
	DefaultBlocks  = defaultBlocks
	DefaultSeconds = defaultSeconds
	DefaultWarmup  = defaultWarmup
	DefaultRetries = defaultRetries
	MaxLooks       = maxLooks
)

var (
	TellEffects = tellEffects
	HalfWidth   = halfWidth
)

func (s Spec) Look(seed uint64, n int, trials []Trial) []stats.Comparison {
	return s.look(seed, n, trials)
}

func (l *Looks) Enough(c stats.Comparison) bool { return l.enough(c) }
