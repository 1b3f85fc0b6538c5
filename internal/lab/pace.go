package lab

import (
	"time"

	"linerate/internal/study"
	"linerate/internal/testbed"
)

// What trials are first believed to cost beside their traffic, in seconds: fitted
// to records of the built-in studies on two cores of a virtual machine.
const (
	// overhead is that of a trial that runs alone: reset, calibration, drain;
	// overheadAsked is more where the DUT is asked whether it is usable.
	overhead, overheadAsked = 0.45, 0.15
	// overheadFlooded is that of a flood's trial, which has no receiver: reset, probes.
	overheadFlooded = 0.22
	// overheadInstance is that of an instance in mode cost, overheadArm of each
	// of its arms, and overheadOverloaded of an arm in mode overload, whose
	// traffic is loaded and warmed up by itself.
	overheadInstance, overheadArm, overheadOverloaded = 0.1, 0.04, 0.2
	// overheadSlice is that of a slice of an overloaded DUT: start, drain,
	// end-of-stream frames.
	overheadSlice = 0.075
	// perFlow is what a flow adds to a trial that runs alone, and perLaneFlow to
	// each lane of an instance, in which it is sent twice before it counts.
	perFlow, perLaneFlow = 0.75e-6, 3.2e-6
	// What an arm's settings take to be made and to be taken away again; a rule's
	// is also what warming up by it takes.
	perRule, perSetElement, perMapElement, perRoute = 240e-6, 4e-6, 5.5e-6, 5.4e-6
)

// settingUp is how long a variant's settings are believed to take.
func settingUp(v study.Variant) (seconds float64) {
	for _, s := range v.Apply() {
		if r := s.Rules; r != nil {
			seconds += perRule*float64(r.Linear) + perSetElement*float64(r.SetElements) + perMapElement*float64(r.MapElements)
		}
		if s.Table != nil {
			seconds += perRoute * float64(s.Table.Count)
		}
	}
	return seconds
}

// settingUpEach is the mean over a study's arms.
func settingUpEach(s *study.Spec) (mean float64) {
	arms := s.Arms()
	for _, arm := range arms {
		v, _ := s.Variant(arm)
		mean += settingUp(v) / float64(len(arms))
	}
	return mean
}

// What blocks of servers are first believed to cost beside their requests.
const (
	// overheadMail is that of a mail server: its disk, start, queue and end.
	overheadMail = 0.9
	// overheadDisk is that of a file system, perFile of each file that is made on it.
	overheadDisk, perFile = 0.06, 0.11e-3
	// burstShare is the share of a part's seconds that its bursts take: fast arms
	// are through long before, and the first, which does not count, is with them.
	burstShare = 0.4
	// Of a block of web servers, which have no disk to be made: itself, each arm,
	// and in round trips of the link what connects before and answers after.
	overheadWeb    = 0.3
	overheadWebArm = 0.05
	lastTrips      = 10
)

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
func (p pace) each(s *study.Spec, part study.Part) float64 {
	e := p[part.Name]
	// The first belief weighs as much as two trials.
	return (2*believed(s, part) + e.seconds) / float64(2+e.trials)
}

// believed is how long a trial of a part is thought to take before any has ended.
func believed(s *study.Spec, part study.Part) float64 {
	how, arms := s.Interleaving(part), float64(len(s.Arms()))
	if part.Mode == testbed.Serve {
		return believedServed(s, part, how, arms)
	}
	flows := float64(s.Offers(part).Flows * part.Ways())
	seconds := part.Expected() + settingUpEach(s)
	switch {
	case part.Flood != "":
		seconds += overheadFlooded - part.Warmup - overheadAsked
	case how == study.InSequence || part.Search != nil: // in lockstep as one after the other
		seconds += overhead + perFlow*flows
	case part.Mode == testbed.Overload:
		seconds += overheadOverloaded + float64(part.Turns())*overheadSlice + perFlow*flows
	default: // the bypass is a lane too
		seconds += overheadArm - part.Warmup + (overheadInstance+part.Seconds+perLaneFlow*flows*(arms+1))/arms
	}
	if part.Management {
		seconds += overheadAsked
	}
	return seconds
}

// believedServed is the same of servers.
func believedServed(s *study.Spec, part study.Part, how study.Interleaving, arms float64) float64 {
	seconds := part.Seconds + part.Warmup
	switch {
	case how == study.Together: // all are asked at once
		seconds /= arms
	case part.Requests().Burst > 0:
		seconds = part.Seconds * burstShare
	case how == study.Alternating: // each turn is warmed up
		seconds += part.Warmup * float64(turnsOf(part.Seconds)-1)
	}
	switch {
	case part.SMTP != nil:
		return seconds + overheadMail
	case part.Files != nil:
		return seconds + overheadDisk + perFile*float64(part.Files.Count)
	case how == study.InSequence:
		arms = 1
	}
	link, _ := s.LinkOf(part).Parse() // a study that was read has one that parses
	return seconds + overheadWebArm + (overheadWeb+lastTrips*link.RoundTrip().Seconds())/arms
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
	seconds += task.Spec.InsideSeconds(task.Telemetry, task.Done, skip)
	return done, total, time.Duration(seconds * float64(time.Second))
}

// Estimate is how long a task is expected to take on an idle machine.
func Estimate(task Task) time.Duration {
	_, _, left := pace{}.left(task, func(study.Part) bool { return false })
	return left
}
