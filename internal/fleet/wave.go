package fleet

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"linerate/internal/fleet/wedge"
	"linerate/internal/hint"
)

// WaveState is what became of one host in a wave.
type WaveState string

// The states of a host in a wave. What is applying, pending or unsettled goes back
// by itself when its time to confirm is over.
const (
	WavePlanned    WaveState = "planned"       // nothing was done yet
	WaveApplying   WaveState = "applying"      // noted before the first change of the host
	WavePending    WaveState = "pending"       // changed, every value read back, not confirmed
	WaveConfirmed  WaveState = "confirmed"     // the host has the plan
	WaveReverted   WaveState = "reverted"      // it was changed and is as it was
	WaveSkipped    WaveState = "skipped"       // it was not reached, or refused: nothing was changed
	WaveNothing    WaveState = "nothing"       // the host is as the plan wants it already
	WaveUnsettled  WaveState = "unsettled"     // not reached after the change: its own switch takes it back
	WaveRolledBack WaveState = "rolled-back"   // it had the plan and is as it was before
	WaveChanged    WaveState = "changed-since" // somebody changed it after it was confirmed: the rollback left it alone
)

// WaveStates lists the states of a host in a wave.
func WaveStates() []WaveState {
	return []WaveState{WaveConfirmed, WaveChanged, WavePending, WaveApplying, WaveUnsettled, WaveReverted, WaveRolledBack, WaveSkipped, WaveNothing, WavePlanned}
}

// InFlight reports a host that may be changed and not confirmed.
func (s WaveState) InFlight() bool {
	return s == WaveApplying || s == WavePending || s == WaveUnsettled
}

// Has reports a host that has the plan for good.
func (s WaveState) Has() bool { return s == WaveConfirmed || s == WaveChanged }

// Open reports a host that a wave which goes on has still to do.
func (s WaveState) Open() bool {
	return s.InFlight() || s == WavePlanned || s == WaveReverted || s == WaveSkipped
}

// WaveOutcome is how a wave stands.
type WaveOutcome string

// The outcomes of waves.
const (
	WaveRuns    WaveOutcome = ""            // under way, or its controller died
	WaveDone    WaveOutcome = "done"        // every step came to its end
	WaveStopped WaveOutcome = "stopped"     // a host failed, or too many were skipped
	WaveBroken  WaveOutcome = "interrupted" // by the user who ran it
	WaveUndone  WaveOutcome = "rolled back"
)

// Wave is plans applied to hosts of a fleet, step by step.
type Wave struct {
	ID    string    `json:"id"`
	Start time.Time `json:"start"`
	End   time.Time `json:"end,omitzero"`
	// From is the directory of the plans.
	From    string      `json:"from"`
	Hosts   int         `json:"hosts"`
	Outcome WaveOutcome `json:"outcome,omitempty"`
	// Reason says why it stopped.
	Reason  string      `json:"reason,omitempty"`
	Options WaveOptions `json:"options"`
}

// WaveOptions are how a wave was begun; one that goes on goes on by them.
type WaveOptions struct {
	Steps    string   `json:"steps"` // as ParseSteps reads them
	Parallel int      `json:"parallel"`
	Within   float64  `json:"confirm_within_s"`
	Chosen   bool     `json:"chosen,omitempty"` // somebody chose Within for these plans
	Soak     float64  `json:"soak_s,omitempty"`
	Checks   []string `json:"checks,omitempty"`
	// Timeout and Tries are of one check.
	Timeout float64 `json:"check_timeout_s"`
	Tries   int     `json:"check_tries"`
	// Skip is how many hosts of a step may be skipped, a number or a percentage.
	Skip string `json:"max_skipped"`
	// Become, SSHConfig and Reach are how its hosts were reached: --become, --ssh-config and
	// --timeout.
	Become    string  `json:"become,omitempty"`
	SSHConfig string  `json:"ssh_config,omitempty"`
	Reach     float64 `json:"timeout_s,omitempty"`
	// Measure makes the wave an experiment: its draw, and what was read so far.
	Measure *wedge.Trial `json:"measure,omitempty"`
}

// WaveEvent is one thing that happened to one host in a wave. Events are never
// edited: the last one of a host is how it stands.
type WaveEvent struct {
	Seq  int64     `json:"seq"`
	Wave string    `json:"wave"`
	Time time.Time `json:"time"`
	Name string    `json:"name"`
	// Host is the machine's identifier, "" where it tells none; Source and Become are how
	// it is reached.
	Host   string    `json:"host,omitempty"`
	Source string    `json:"source,omitempty"`
	Become string    `json:"become,omitempty"`
	Step   int       `json:"step"` // from 1; 0: in none, there is nothing to do
	State  WaveState `json:"state"`
	// Digest is the plan's, Transaction the host's own identifier of the change.
	Digest      string `json:"digest,omitempty"`
	Transaction string `json:"transaction,omitempty"`
	Text        string `json:"text,omitempty"`
}

// WaveFilter narrows events of waves; zero fields admit all.
type WaveFilter struct {
	Wave  string
	Hosts []string // identifiers or names
}

// Last is how each host stands, in the order in which they were named first. How it is
// reached its first event says, for all.
func Last(events []WaveEvent) []WaveEvent {
	at := map[string]int{}
	var out []WaveEvent
	for _, e := range events {
		i, ok := at[e.Name]
		if !ok {
			at[e.Name] = len(out)
			out = append(out, e)
			continue
		}
		if e.Transaction == "" && e.State != WaveApplying {
			e.Transaction = out[i].Transaction
		}
		e.Source, e.Become = out[i].Source, out[i].Become
		out[i] = e
	}
	return out
}

// CountStates counts hosts by state.
func CountStates(hosts []WaveEvent) map[WaveState]int {
	out := map[WaveState]int{}
	for _, h := range hosts {
		out[h.State]++
	}
	return out
}

// Part is a number of hosts, or a percentage of them.
type Part struct {
	Hosts   int
	Percent float64 // where Hosts is 0
}

// Of is how many of n hosts it is: percentages are rounded up where up is set.
func (p Part) Of(n int, up bool) int {
	if p.Percent == 0 {
		return min(p.Hosts, n)
	}
	exact := p.Percent * float64(n) / 100
	if up {
		return min(int(math.Ceil(exact-1e-9)), n)
	}
	return min(int(exact+1e-9), n)
}

// ParsePart reads "3" or "5%".
func ParsePart(text string) (Part, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	if percent {
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(v >= 0 && v <= 100) {
			return Part{}, hint.Usagef("%.40q is not a percentage of 0 to 100", text)
		}
		return Part{Percent: v}, nil
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || n > 1_000_000 {
		return Part{}, hint.Usagef("%.40q is neither a number of hosts nor a percentage", text)
	}
	return Part{Hosts: n}, nil
}

// maxSteps bounds the steps of a wave.
const maxSteps = 50

// Steps say how many hosts of all are changed when each step is over.
type Steps []Part

// ParseSteps reads the steps of a wave: "1,5%,100%".
func ParseSteps(text string) (Steps, error) {
	var out Steps
	for word := range strings.SplitSeq(text, ",") {
		p, err := ParsePart(word)
		if err != nil {
			return nil, hint.With(err, "such as 1,5%%,100%%: one host, then 5 %% of all, then the rest")
		}
		if p == (Part{}) {
			return nil, hint.With(hint.Usagef("a step of no host"), "such as 1,5%%,100%%")
		}
		for _, before := range out {
			if before.Percent > 0 && p.Percent > 0 && p.Percent <= before.Percent || before.Hosts > 0 && p.Hosts > 0 && p.Hosts <= before.Hosts {
				return nil, hint.With(hint.Usagef("steps %q do not grow", text), "each says how many hosts are changed when it is over, those before it included: 1,5%%,100%%")
			}
		}
		if out = append(out, p); len(out) > maxSteps {
			return nil, hint.Usagef("more than %d steps", maxSteps)
		}
	}
	return out, nil
}

// Divide says where each step ends among n hosts; steps that add none are left out,
// and hosts behind the last end are in none.
func (s Steps) Divide(n int) []int {
	var ends []int
	last := 0
	for _, p := range s {
		if end := p.Of(n, true); end > last {
			ends = append(ends, end)
			last = end
		}
	}
	return ends
}

// StepOf is the step, from 1, of the host at an index; 0 behind the last.
func StepOf(ends []int, index int) int {
	i := slices.IndexFunc(ends, func(end int) bool { return index < end })
	return i + 1
}
