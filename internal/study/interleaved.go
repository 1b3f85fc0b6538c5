package study

import (
	"fmt"

	"linerate/internal/show"
	"linerate/internal/stats"
)

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
