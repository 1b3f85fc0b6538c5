package study

import (
	"math"
	"time"
)

// The initial estimates of a trial's time in addition to its traffic, in seconds, fitted to
// records of the built-in studies on a virtual machine with two cores.
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

// settingUpEach is the mean over a study's arms.
func settingUpEach(s *Spec) (mean float64) {
	arms := s.Arms()
	for _, arm := range arms {
		v, _ := s.Variant(arm)
		mean += settingUp(v) / float64(len(arms))
	}
	return mean
}

// expectedOfPackets is how long a trial is believed to take that offers packets for
// so many seconds.
func expectedOfPackets(s *Spec, part Part, lasts float64) float64 {
	how, arms := s.Interleaving(part), float64(len(s.Arms()))
	flows := float64(s.Offers(part).Flows * DirectionCount(part))
	seconds := lasts + settingUpEach(s)
	switch {
	case part.Flood != "":
		seconds += overheadFlooded - part.Warmup - overheadAsked
	case how == InSequence || how == Lockstep: // as one after the other
		seconds += overhead + perFlow*flows
	case InOverload(part):
		seconds += overheadOverloaded + float64(Turns(part))*overheadSlice + perFlow*flows
	default: // the bypass is a lane too
		seconds += overheadArm - part.Warmup + (overheadInstance+part.Seconds+perLaneFlow*flows*(arms+1))/arms
	}
	if part.Usable {
		seconds += overheadAsked
	}
	return seconds
}

// The initial estimates of a server block's time in addition to its requests.
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

// turnFor is how long a turn of a closed loop lasts: long compared with connecting, short
// compared with the drift of a shared machine.
const turnFor = 400 * time.Millisecond

// TurnsOf is how many turns each arm of a closed loop has in so many seconds.
func TurnsOf(seconds float64) int { return max(1, int(math.Round(seconds/turnFor.Seconds()))) }

// expectedOfServers is how long a trial is believed to take that asks servers.
func expectedOfServers(s *Spec, part Part) float64 {
	how, arms := s.Interleaving(part), float64(len(s.Arms()))
	seconds := part.Seconds + part.Warmup
	switch {
	case how == Together: // all are asked at once
		seconds /= arms
	case RequestsOf(part).Burst > 0:
		seconds = part.Seconds * burstShare
	case how == Alternating: // each turn is warmed up
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
	link, _ := LinkOf(s, part).Parse() // a study that was read has one that parses
	return seconds + overheadWebArm + (overheadWeb+lastTrips*link.RoundTrip().Seconds())/arms
}

// Bursts is in how many rounds a part of mode serve whose turns are a number of
// requests asks, at most.
func Bursts(p Part) int { return max(2, int(math.Round(p.Seconds/burstFor.Seconds()))) }

// burstFor is how long a burst is thought to take.
const burstFor = 150 * time.Millisecond
