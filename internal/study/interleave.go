package study

import (
	"slices"

	"linerate/internal/setting"
)

// The ways. In the first two all arms are up at once, as one instance, and
// take turns slice by slice.
const (
	// BySlices: slices of a fraction of a millisecond, on one endless stream.
	BySlices Interleaving = "slices"
	// Alternating: turns of tens of milliseconds. In mode cost they are many
	// such slices in a row, and settings that are global to the kernel are
	// written before each; in mode overload the DUT's queue drains after each.
	Alternating Interleaving = "alternating"
	// Lockstep: searches, which advance together: every arm runs the trial that
	// its search asks for next, in random order, before any runs another.
	Lockstep Interleaving = "lockstep"
	// Together: requests to all servers at the same time, the same to each,
	// a share of a mean gap apart: what the machine does, it does to all.
	Together Interleaving = "together"
	// InSequence: one trial after the other, each with a separate DUT.
	InSequence Interleaving = "sequential"
)

// BypassLane is the name of the arm without a DUT in an instance's record.
// No variant can have it.
const BypassLane = "(bypass)"

// Switches reports whether all that variants set of what all DUTs share is cheap to
// write again and again, and known to be: sysctls.
func (s *Spec) Switches() bool {
	return !slices.ContainsFunc(s.Variants, func(v Variant) bool {
		return slices.ContainsFunc(v.HostScope(), func(set Setting) bool { return !set.Is(setting.Sysctl) })
	})
}

// HostScope reports whether any variant sets what all DUTs share.
func (s *Spec) HostScope() bool {
	return slices.ContainsFunc(s.Variants, func(v Variant) bool { return len(v.HostScope()) > 0 })
}

// Attempt is which instance of its block a trial is of; 0: of none.
func (t Trial) Attempt() int {
	if t.Observed == nil {
		return 0
	}
	return t.Observed.Interleaved.attempt()
}

// attempt is which instance it is of; 0: of none.
func (i *Interleaved) attempt() int {
	if i == nil {
		return 0
	}
	return i.Attempt
}

// Attempts is how many instances of a block are on record.
func Attempts(trials []Trial, block int) (n int) {
	for _, t := range trials {
		if t.Block == block {
			n = max(n, t.Attempt())
		}
	}
	return n
}

// Instances tells which instance counts for each block: arms are compared
// within one instance only, and that is the last whose control is valid.
func Instances(s Spec, trials []Trial) map[int]int {
	counts := map[int]int{}
	for _, t := range trials {
		if t.Valid && t.Variant == s.Control {
			counts[t.Block] = max(counts[t.Block], t.Attempt())
		}
	}
	return counts
}

// howOf tells how the trials of a variant took turns with the control's.
func howOf(trials []Trial, part, variant string) Interleaving {
	for _, t := range trials {
		if t.Part == part && t.Variant == variant && t.Attempt() > 0 {
			return t.Observed.Interleaved.How
		}
	}
	return InSequence
}
