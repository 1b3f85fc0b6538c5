package lab

import (
	"fmt"
	"time"

	"linerate/internal/list"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

// Task returns what the session runs, with the trials so far.
func (r *Session) Task() Task { return r.task }

// Spec returns the study that the session runs.
func (r *Session) Spec() *study.Spec { return &r.task.Spec }

// Bed returns what the runner has up.
func (r *Session) Bed() Bed { return r.up }

// Here returns which variants are available on the testbed that is up.
func (r *Session) Here() study.Availability {
	kind := r.out.Testbeds[string(r.mode)].Kind
	a := study.Availability{Place: "and testbed " + kind, System: testbed.SystemOf(kind)}
	if !r.AllowHost {
		a.NoLeave = " (scope: host), and settings of the host are not allowed in this run"
	}
	return a
}

// Block returns the trials of a block so far.
func (r *Session) Block(n int) (of []study.Trial) {
	return list.Filter(r.task.Done, func(t study.Trial) bool { return t.Block == n })
}

// Last returns the highest place of a trial in its block so far; 0 if there is none.
func (r *Session) Last(block int) (last int) {
	for _, t := range r.Block(block) {
		last = max(last, t.Order)
	}
	return last
}

// Trial returns a slot's trial without results.
func Trial(slot study.Slot, part study.Part) study.Trial {
	return study.Trial{Part: part.Name, Variant: slot.Variant, Block: slot.Block, Order: slot.Order, Mode: part.Mode,
		Retry: slot.Retry, Reasons: []study.Refusal{}, Metrics: map[string]float64{}}
}

// Unavailable marks a trial that measured nothing because its variant is unavailable.
func Unavailable(t study.Trial, why string) study.Trial {
	t.Unavailable = why
	t.Reasons = []study.Refusal{{Gate: "unavailable", Text: why}}
	return t
}

// Judge completes a trial with its observations; failed, if not nil, is a failure of
// the traffic.
func (r *Session) Judge(t study.Trial, part study.Part, o *study.Observation, failed error) study.Trial {
	t.Observed = o
	t.Metrics, t.Reasons = study.Judge(part, r.task.Spec.Gates, *o, r.Block(t.Block)...)
	if failed != nil {
		t.Reasons = append([]study.Refusal{study.Failed(failed)}, t.Reasons...)
	}
	t.Valid = len(t.Reasons) == 0
	return t
}

// Lane is the result of one arm in a block in which several arms were up at once.
type Lane struct {
	Name     string
	Observed study.Observation
	Failed   error // the error that ended it
}

// Together creates the trials of all arms, in the order in which these were made, and
// of unavailable ones; slot is the one before the first.
func (r *Session) Together(slot study.Slot, part study.Part, arms []*Lane, gone map[string]string) (trials []study.Trial) {
	for _, a := range arms {
		slot.Order++
		if slot.Variant = a.Name; a.Name != study.BypassLane {
			trials = append(trials, r.Judge(Trial(slot, part), part, &a.Observed, a.Failed))
		}
	}
	slot.Order++
	for _, arm := range r.task.Spec.Arms() {
		if why, is := gone[arm]; is {
			slot.Variant = arm
			trials = append(trials, Unavailable(Trial(slot, part), why))
		}
	}
	return trials
}

// cpuState is the state of a CPU at one time.
type cpuState struct {
	cpu    int
	spin   float64
	stolen time.Duration
	at     time.Time
}

// Check reads the state of CPUs, −1 is any; again reads it once more and returns the changes.
func (r *Session) Check(cpus []int) (again func() ([]study.CPUCheck, error), err error) {
	before, err := r.check(cpus)
	return func() ([]study.CPUCheck, error) {
		after, err := r.check(cpus)
		if err != nil {
			return nil, err
		}
		return compare(before, after), nil
	}, err
}

// check times a spin on each CPU and reads its stolen time.
func (r *Session) check(cpus []int) ([]cpuState, error) {
	var out []cpuState
	for _, cpu := range cpus {
		spin, err := r.Machine.Spin(cpu)
		if err != nil {
			return nil, fmt.Errorf("calibrate CPU %d: %w", cpu, err)
		}
		stolen, err := r.Machine.Stolen(cpu)
		if err != nil {
			return nil, fmt.Errorf("read the stolen time of CPU %d: %w", cpu, err)
		}
		out = append(out, cpuState{cpu, spin, stolen, r.Machine.Now()})
	}
	return out, nil
}

func compare(before, after []cpuState) []study.CPUCheck {
	out := make([]study.CPUCheck, len(before))
	for i, b := range before {
		a := after[i]
		out[i] = study.CPUCheck{CPU: b.cpu, SpinBefore: b.spin, SpinAfter: a.spin}
		if d := a.at.Sub(b.at); d > 0 {
			out[i].Steal = float64(a.stolen-b.stolen) / float64(d)
		}
	}
	return out
}
