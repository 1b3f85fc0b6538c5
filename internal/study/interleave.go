package study

import (
	"fmt"
	"slices"

	"linerate/internal/setting"
	"linerate/internal/show"
	"linerate/internal/stats"
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
func (t Trial) Attempt() int { return t.Saw().Interleaved.attempt() }

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

// Interleaved is a trial's share of its instance.
type Interleaved struct {
	How     Interleaving `json:"how"`
	Attempt int          `json:"attempt"`          // which instance of its block this is, from 1
	Lane    int          `json:"lane"`             // place among the instance's arms, in the order they were made
	Raw     string       `json:"raw,omitempty"`    // file of the instance's slices; none in lockstep
	SHA256  string       `json:"sha256,omitempty"` // of that file
	Lanes
}

// Lanes is what an instance's slices say of one of its arms.
type Lanes struct {
	Rounds int `json:"rounds"`
	// GoodRounds are those in which neither this arm's slice nor the
	// control's was disturbed.
	GoodRounds int       `json:"good_rounds"`
	Disturbed  Disturbed `json:"disturbed_slices"` // this arm's
	// LogRatio is the mean over good rounds of ln(time per frame of this arm
	// / of the control), both ends of Trim cut off; its standard error says
	// how the rounds scatter, not how instances do.
	LogRatio stats.Number `json:"log_ratio"`
	SE       stats.Number `json:"log_ratio_se"`
	// Speed is the control's time per frame over the whole instance, in ns,
	// and Bypass the log ratio of the arm without a DUT.
	Speed  stats.Number `json:"control_ns"`
	Bypass stats.Number `json:"bypass_log_ratio"`
	// CarryOver is what this arm does to the one after it, as a log ratio.
	CarryOver stats.Number `json:"carry_over_log_ratio"`
}

// Disturbed counts slices by what disturbed them; one may count several times.
type Disturbed struct {
	Switched int `json:"switched"` // the CPU ran something else
	Underway int `json:"underway"` // frames were lost or late
	Leftover int `json:"leftover"` // frames of the arm before were late
	Stalled  int `json:"stalled"`  // it took over Stall times as long as usual
}

// String lists the counts that are not zero.
func (d Disturbed) String() string {
	var parts []string
	for _, c := range []struct {
		n    int
		what string
	}{{d.Switched, "shared their CPU with other work"}, {d.Underway, "lost or delayed frames"},
		{d.Leftover, "began with frames of the arm before"}, {d.Stalled, "stalled"}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	if len(parts) == 0 {
		return "none was disturbed"
	}
	return show.List(parts)
}

// Trim is the share of rounds cut off at either end of an instance's
// mean: see docs/design/statistics.md.
const Trim = 0.25

// Interleaving says how the arms of a block took turns.
type Interleaving string
