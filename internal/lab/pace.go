package lab

import (
	"time"

	"linerate/internal/study"
	"linerate/internal/testbed"
)

// overhead is what a trial is first believed to cost beside its traffic:
// reset, calibration, drain.
const overhead = 0.3

// overheadTogether is the same of an arm whose instance takes turns: set-up, and
// its share of the bypass.
const overheadTogether = 0.1

// overheadSlice is the same of a slice of an overloaded DUT: start, drain,
// end-of-stream frames.
const overheadSlice = 0.1

// overheadServed is the same of a block of servers: namespaces, links, starts
// and the last answers.
const overheadServed = 1.5

// pace remembers how long trials of each part took.
type pace map[string]struct {
	trials  int
	seconds float64
}

func (p pace) add(part string, seconds float64) {
	e := p[part]
	e.trials++
	e.seconds += seconds
	p[part] = e
}

// each estimates one trial of a part.
func (p pace) each(part study.Part, how study.Interleaving, arms int) float64 {
	believed := part.Expected() + overhead
	together := how != study.InSequence
	switch {
	case part.Mode == testbed.Serve:
		believed = part.Seconds + part.Warmup
		if how == study.Together { // all are asked at once
			believed /= float64(arms)
		}
		if !together {
			arms = 1
		}
		believed += overheadServed / float64(arms)
	case together && part.Search != nil: // as one after the other
	case together && part.Mode == testbed.Overload:
		believed += float64(part.Turns()) * overheadSlice
	case together:
		believed = part.Seconds + overheadTogether
	}
	e := p[part.Name]
	// The first belief weighs as much as two trials.
	return (2*believed + e.seconds) / float64(2+e.trials)
}

// left counts the slots done and in all, and estimates the time of the rest.
func (p pace) left(task Task, skip func(study.Part) bool) (done, total int, left time.Duration) {
	type cell struct {
		block   int
		variant string
	}
	tried, gone := map[cell]bool{}, map[string]bool{}
	for _, t := range task.Done {
		tried[cell{t.Block, t.Variant}] = true
		if t.Unavailable != "" {
			gone[t.Variant] = true
		}
	}
	seconds := 0.0
	settled := task.Spec.Settled(task.Seed, task.Done)
	for _, slot := range study.Schedule(task.Spec, task.Seed) {
		part, _ := task.Spec.Part(slot.Part)
		if skip(part) {
			continue
		}
		if settled && part.Name == task.Spec.Primary().Part && !tried[cell{slot.Block, slot.Variant}] {
			continue
		}
		total++
		if tried[cell{slot.Block, slot.Variant}] || gone[slot.Variant] {
			done++
			continue
		}
		seconds += p.each(part, task.Spec.Interleaving(part), len(task.Spec.Arms()))
	}
	seconds += task.Spec.InsideSeconds(task.Telemetry, task.Done, skip)
	return done, total, time.Duration(seconds * float64(time.Second))
}

// Estimate is how long a task is expected to take on an idle machine.
func Estimate(task Task) time.Duration {
	_, _, left := pace{}.left(task, func(study.Part) bool { return false })
	return left
}
