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

// WaveState is the state of one host in a wave.
type WaveState string

// The states of a host in a wave. Hosts that are applying, pending or unsettled
// revert by themselves when the time to confirm has expired.
const (
	WavePlanned    WaveState = "planned"       // nothing has been done yet
	WaveApplying   WaveState = "applying"      // recorded before the first change on the host
	WavePending    WaveState = "pending"       // changed and every value verified, but not confirmed
	WaveConfirmed  WaveState = "confirmed"     // the host has the plan
	WaveReverted   WaveState = "reverted"      // it was changed and has been restored
	WaveSkipped    WaveState = "skipped"       // it was not reached, or refused; nothing was changed
	WaveNothing    WaveState = "nothing"       // the host already matches the plan
	WaveUnsettled  WaveState = "unsettled"     // not reached after the change; its own timer reverts it
	WaveRolledBack WaveState = "rolled-back"   // it had the plan and has been restored
	WaveChanged    WaveState = "changed-since" // somebody changed it after confirmation; the rollback left it alone
)

// WaveStates lists the states of a host in a wave.
func WaveStates() []WaveState {
	return []WaveState{WaveConfirmed, WaveChanged, WavePending, WaveApplying, WaveUnsettled, WaveReverted, WaveRolledBack, WaveSkipped, WaveNothing, WavePlanned}
}

// InFlight reports whether a host may be changed but not confirmed.
func (s WaveState) InFlight() bool {
	return s == WaveApplying || s == WavePending || s == WaveUnsettled
}

// Has reports whether a host has the plan permanently.
func (s WaveState) Has() bool { return s == WaveConfirmed || s == WaveChanged }

// Open reports whether a resumed wave still has to handle the host.
func (s WaveState) Open() bool {
	return s.InFlight() || s == WavePlanned || s == WaveReverted || s == WaveSkipped
}

// WaveOutcome is the state of a wave.
type WaveOutcome string

// The outcomes of waves.
const (
	WaveRuns    WaveOutcome = ""            // in progress, or its controller died
	WaveDone    WaveOutcome = "done"        // every step completed
	WaveStopped WaveOutcome = "stopped"     // a host failed, or too many were skipped
	WaveBroken  WaveOutcome = "interrupted" // by the user who ran it
	WaveUndone  WaveOutcome = "rolled back"
)

// Wave is the application of plans to hosts of a fleet, in steps.
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

// WaveOptions are a wave's options; a resumed wave keeps them.
type WaveOptions struct {
	Steps    string   `json:"steps"` // in the syntax of ParseSteps
	Parallel int      `json:"parallel"`
	Within   float64  `json:"confirm_within_s"`
	Chosen   bool     `json:"chosen,omitempty"` // the user chose Within for these plans
	Soak     float64  `json:"soak_s,omitempty"`
	Checks   []string `json:"checks,omitempty"`
	// Timeout and Tries apply to each check.
	Timeout float64 `json:"check_timeout_s"`
	Tries   int     `json:"check_tries"`
	// Skip is how many hosts of a step may be skipped: a number or a percentage.
	Skip string `json:"max_skipped"`
	// Become, SSHConfig and Reach are the values of --become, --ssh-config and --timeout.
	Become    string  `json:"become,omitempty"`
	SSHConfig string  `json:"ssh_config,omitempty"`
	Reach     float64 `json:"timeout_s,omitempty"`
	// Measure makes the wave an experiment: the random order, and the readings so far.
	Measure *wedge.Trial `json:"measure,omitempty"`
}

// WaveEvent is an event on one host in a wave. Events are never modified: the
// last one of a host is its state.
type WaveEvent struct {
	Seq  int64     `json:"seq"`
	Wave string    `json:"wave"`
	Time time.Time `json:"time"`
	Name string    `json:"name"`
	// Host is the machine's identifier, "" if it reports none; Source and Become say how
	// it is reached.
	Host   string    `json:"host,omitempty"`
	Source string    `json:"source,omitempty"`
	Become string    `json:"become,omitempty"`
	Step   int       `json:"step"` // from 1; 0: in no step, because there is nothing to do
	State  WaveState `json:"state"`
	// Digest is the plan's digest, Transaction the host's own identifier of the change.
	Digest      string `json:"digest,omitempty"`
	Transaction string `json:"transaction,omitempty"`
	Text        string `json:"text,omitempty"`
}

// WaveFilter selects events of waves; zero fields match all.
type WaveFilter struct {
	Wave  string
	Hosts []string // identifiers or names
}

// Last returns the last event of each host, in the order of first mention. Source and
// Become are taken from its first event.
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
	Percent float64 // if Hosts is 0
}

// Of returns the number of hosts out of n; up rounds percentages up.
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

// ParsePart parses "3" or "5%".
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

// maxSteps bounds the number of steps of a wave.
const maxSteps = 50

// Steps gives the total number of hosts changed at the end of each step.
type Steps []Part

// ParseSteps parses the steps of a wave: "1,5%,100%".
func ParseSteps(text string) (Steps, error) {
	var out Steps
	for word := range strings.SplitSeq(text, ",") {
		p, err := ParsePart(word)
		if err != nil {
			return nil, hint.With(err, "such as 1,5%%,100%%: one host, then 5 %% of all, then the rest")
		}
		if p == (Part{}) {
			return nil, hint.With(hint.Usagef("a step without a host"), "such as 1,5%%,100%%")
		}
		for _, before := range out {
			if before.Percent > 0 && p.Percent > 0 && p.Percent <= before.Percent || before.Hosts > 0 && p.Hosts > 0 && p.Hosts <= before.Hosts {
				return nil, hint.With(hint.Usagef("steps %q do not increase", text), "each says how many hosts are changed when it is over, those before it included: 1,5%%,100%%")
			}
		}
		if out = append(out, p); len(out) > maxSteps {
			return nil, hint.Usagef("more than %d steps", maxSteps)
		}
	}
	return out, nil
}

// Divide returns where each step ends among n hosts, without steps that add none;
// hosts after the last end are in no step.
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

// StepOf returns the step, from 1, of the host at an index; 0 after the last step.
func StepOf(ends []int, index int) int {
	i := slices.IndexFunc(ends, func(end int) bool { return index < end })
	return i + 1
}
