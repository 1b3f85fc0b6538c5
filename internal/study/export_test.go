package study

import (
	"linerate/internal/stats"
)

// Unexported names that the external tests use.
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
