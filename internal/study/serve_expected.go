package study

import (
	"math"
	"time"
)

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
