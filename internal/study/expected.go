package study

import (
	"math"
	"time"
)

// Initial estimates of what a trial takes in addition to its traffic, in seconds,
// fitted to records of the built-in studies on a virtual machine with two cores.
const (
	// overhead is for a trial that runs alone: reset, calibration, drain.
	// overheadAsked is added where the DUT is asked whether it is usable.
	overhead, overheadAsked = 0.45, 0.15
	// overheadFlooded is for a flood's trial, which has no receiver: reset, probes.
	overheadFlooded = 0.22
	// overheadInstance is for an instance in mode cost, overheadArm for each of
	// its arms, and overheadOverloaded for an arm in mode overload, whose
	// traffic is loaded and warmed up separately.
	overheadInstance, overheadArm, overheadOverloaded = 0.1, 0.04, 0.2
	// overheadSlice is for a slice of an overloaded DUT: start, drain,
	// end-of-stream frames.
	overheadSlice = 0.075
	// perFlow is added for each flow of a trial that runs alone, and perLaneFlow for
	// each flow and lane of an instance, where a flow is sent twice before it counts.
	perFlow, perLaneFlow = 0.75e-6, 3.2e-6
	// The time to apply and to remove an arm's settings; perRule includes what
	// the rule adds to the warm-up.
	perRule, perSetElement, perMapElement, perRoute = 240e-6, 4e-6, 5.5e-6, 5.4e-6
)

// settingUp estimates how long a variant's settings take, in seconds.
func settingUp(v Variant) (seconds float64) {
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

// settingUpEach returns the mean of settingUp over a study's arms.
func settingUpEach(s *Spec) (mean float64) {
	arms := s.Arms()
	for _, arm := range arms {
		v, _ := s.Variant(arm)
		mean += settingUp(v) / float64(len(arms))
	}
	return mean
}

// expectedOfPackets estimates how long a trial takes that offers packets for
// lasts seconds.
func expectedOfPackets(s *Spec, part Part, lasts float64) float64 {
	how, arms := s.Interleaving(part), float64(len(s.Arms()))
	flows := float64(s.Offers(part).Flows * DirectionCount(part))
	seconds := lasts + settingUpEach(s)
	switch {
	case part.Flood != "":
		seconds += overheadFlooded - part.Warmup - overheadAsked
	case how == InSequence || how == Lockstep: // like one after the other
		seconds += overhead + perFlow*flows
	case InOverload(part):
		seconds += overheadOverloaded + float64(Turns(part))*overheadSlice + perFlow*flows
	default: // the bypass is also a lane
		seconds += overheadArm - part.Warmup + (overheadInstance+part.Seconds+perLaneFlow*flows*(arms+1))/arms
	}
	if part.Usable {
		seconds += overheadAsked
	}
	return seconds
}

// Initial estimates of what a server block takes in addition to its requests.
const (
	// overheadMail is for a mail server: its disk, start, queue and end.
	overheadMail = 0.9
	// overheadDisk is for a file system, perFile for each file created on it.
	overheadDisk, perFile = 0.06, 0.11e-3
	// burstShare is the share of a part's seconds that its bursts take: fast arms
	// finish long before. It includes the first burst, which does not count.
	burstShare = 0.4
	// For a block of web servers, which need no disk: the block, each arm, and
	// the link's round trips for connecting and for the last answers.
	overheadWeb    = 0.3
	overheadWebArm = 0.05
	lastTrips      = 10
)

// turnFor is the length of a turn of a closed loop: long compared with
// connecting, short compared with the drift of a shared machine.
const turnFor = 400 * time.Millisecond

// TurnsOf returns how many turns each arm of a closed loop takes in the given time.
func TurnsOf(seconds float64) int { return max(1, int(math.Round(seconds/turnFor.Seconds()))) }

// expectedOfServers estimates how long a trial takes that sends requests to servers.
func expectedOfServers(s *Spec, part Part) float64 {
	how, arms := s.Interleaving(part), float64(len(s.Arms()))
	seconds := part.Seconds + part.Warmup
	switch {
	case how == Together: // all servers get requests at once
		seconds /= arms
	case RequestsOf(part).Burst > 0:
		seconds = part.Seconds * burstShare
	case how == Alternating: // each turn has a warm-up
		seconds += part.Warmup * float64(TurnsOf(part.Seconds)-1)
	}
	switch asks := part; {
	case asks.SMTP != nil:
		return seconds + overheadMail
	case asks.Files != nil:
		return seconds + overheadDisk + perFile*float64(asks.Files.Count)
	case how == InSequence:
		arms = 1
	}
	link, _ := LinkOf(s, part).Parse() // a parsed study has a valid one
	return seconds + overheadWebArm + (overheadWeb+lastTrips*link.RoundTrip().Seconds())/arms
}

// Bursts returns the largest number of rounds of a part of mode serve whose
// turns are a number of requests.
func Bursts(p Part) int { return max(2, int(math.Round(p.Seconds/burstFor.Seconds()))) }

// burstFor is the assumed length of a burst.
const burstFor = 150 * time.Millisecond
