package lab

import (
	"time"

	"linerate/internal/study"
)

// pace records how long trials of each part took.
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
func (p pace) each(s *study.Spec, part study.Part) float64 {
	e := p[part.Name]
	// The initial estimate weighs as much as two trials.
	return (2*s.Expected(part) + e.seconds) / float64(2+e.trials)
}

// left counts the completed and all trials, and estimates the time for the rest.
// Of the retries of an invalid trial it only includes the next.
func (p pace) left(task Task, skip func(study.Part) bool) (done, total int, left time.Duration) {
	type cell struct {
		block   int
		variant string
	}
	tried, gone := map[cell]bool{}, map[string]bool{}
	for _, t := range task.Done {
		if tried[cell{t.Block, t.Variant}] { // a retry after an invalid trial
			total++
			done++
		}
		tried[cell{t.Block, t.Variant}] = true
		if t.Unavailable != "" {
			gone[t.Variant] = true
		}
	}
	seconds, each := 0.0, map[string]float64{} // by part
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
		if _, ok := each[part.Name]; !ok {
			each[part.Name] = p.each(&task.Spec, part)
		}
		seconds += each[part.Name]
	}
	if slot, ok := study.Next(task.Spec, task.Seed, task.Done, skip); ok && tried[cell{slot.Block, slot.Variant}] {
		part, _ := task.Spec.Part(slot.Part)
		total++
		seconds += p.each(&task.Spec, part)
	}
	seconds += task.Spec.InsideSeconds(task.Telemetry, task.Done, skip)
	return done, total, time.Duration(seconds * float64(time.Second))
}

// Estimate estimates how long a task takes on an idle machine.
func Estimate(task Task) time.Duration {
	_, _, left := pace{}.left(task, func(study.Part) bool { return false })
	return left
}
