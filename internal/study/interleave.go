package study

import (
	"fmt"
	"slices"

	"linerate/internal/setting"
	"linerate/internal/show"
	"linerate/internal/stats"
)

// The ways to interleave. In the first two all arms are up at once, as one
// instance, and take turns slice by slice.
const (
	// BySlices interleaves slices of a fraction of a millisecond in one endless stream.
	BySlices Interleaving = "slices"
	// Alternating gives turns of tens of milliseconds. In mode cost a turn is
	// many such slices in a row, and settings that are global to the kernel
	// are written before it; in mode overload the DUT's queue drains after it.
	Alternating Interleaving = "alternating"
	// Lockstep advances all searches together: every arm runs the trial that
	// its search asks for next, in random order, before any arm runs another.
	Lockstep Interleaving = "lockstep"
	// Together sends the same requests to all servers at the same time, offset by a
	// fraction of the mean gap, so that disturbances of the machine hit all alike.
	Together Interleaving = "together"
	// InSequence runs one trial after another, each with its own DUT.
	InSequence Interleaving = "sequential"
)

// BypassLane is the name of the arm without a DUT in an instance's record. No
// variant can have this name.
const BypassLane = "(bypass)"

// Switches reports whether all host-scope settings of the variants are known to be
// cheap to write repeatedly: sysctls.
func (s *Spec) Switches() bool {
	return !slices.ContainsFunc(s.Variants, func(v Variant) bool {
		return slices.ContainsFunc(v.HostScope(), func(set Setting) bool { return !set.Is(setting.Sysctl) })
	})
}

// HostScope reports whether any variant sets something that all DUTs share.
func (s *Spec) HostScope() bool {
	return slices.ContainsFunc(s.Variants, func(v Variant) bool { return len(v.HostScope()) > 0 })
}

// Attempt returns which instance of its block a trial belongs to; 0 if to none.
func (t Trial) Attempt() int { return t.Saw().Interleaved.attempt() }

// attempt returns which instance it belongs to; 0 if to none.
func (i *Interleaved) attempt() int {
	if i == nil {
		return 0
	}
	return i.Attempt
}

// Attempts returns how many instances of a block are on record.
func Attempts(trials []Trial, block int) (n int) {
	for _, t := range trials {
		if t.Block == block {
			n = max(n, t.Attempt())
		}
	}
	return n
}

// Instances returns which instance counts for each block: the last whose
// control is valid. Arms are compared within one instance only.
func Instances(s Spec, trials []Trial) map[int]int {
	counts := map[int]int{}
	for _, t := range trials {
		if t.Valid && t.Variant == s.Control {
			counts[t.Block] = max(counts[t.Block], t.Attempt())
		}
	}
	return counts
}

// howOf returns how the trials of a variant were interleaved with the control's.
func howOf(trials []Trial, part, variant string) Interleaving {
	for _, t := range trials {
		if t.Part == part && t.Variant == variant && t.Attempt() > 0 {
			return t.Observed.Interleaved.How
		}
	}
	return InSequence
}

// Interleaved is a trial's part in its instance.
type Interleaved struct {
	How     Interleaving `json:"how"`
	Attempt int          `json:"attempt"`          // which instance of its block, from 1
	Lane    int          `json:"lane"`             // index among the instance's arms, in the order of their creation
	Raw     string       `json:"raw,omitempty"`    // file of the instance's slices; none in lockstep
	SHA256  string       `json:"sha256,omitempty"` // of that file
	Lanes
}

// Lanes summarises an instance's slices of one arm.
type Lanes struct {
	Rounds int `json:"rounds"`
	// GoodRounds counts the rounds in which neither this arm's slice nor the
	// control's was disturbed.
	GoodRounds int       `json:"good_rounds"`
	Disturbed  Disturbed `json:"disturbed_slices"` // this arm's
	// LogRatio is the mean over good rounds of ln(time per frame of this arm
	// / of the control), trimmed by Trim at both ends. Its standard error
	// reflects the scatter between rounds, not between instances.
	LogRatio stats.Number `json:"log_ratio"`
	SE       stats.Number `json:"log_ratio_se"`
	// Speed is the control's time per frame over the whole instance, in ns;
	// Bypass is the log ratio of the arm without a DUT.
	Speed  stats.Number `json:"control_ns"`
	Bypass stats.Number `json:"bypass_log_ratio"`
	// CarryOver is the effect of this arm on the one after it, as a log ratio.
	CarryOver stats.Number `json:"carry_over_log_ratio"`
}

// Disturbed counts slices by cause of disturbance; one slice may count several times.
type Disturbed struct {
	Switched int `json:"switched"` // the CPU ran something else
	Underway int `json:"underway"` // frames were lost or late
	Leftover int `json:"leftover"` // frames of the previous arm arrived late
	Stalled  int `json:"stalled"`  // it took more than Stall times the median
}

// String lists the nonzero counts.
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

// Trim is the share of rounds trimmed at either end of an instance's mean:
// see docs/design/statistics.md.
const Trim = 0.25

// Interleaving is how the arms of a block take turns.
type Interleaving string
