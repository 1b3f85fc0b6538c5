package study

import (
	"slices"
	"time"

	"linerate/internal/drop"
	"linerate/internal/profile"
	"linerate/internal/testbed"
)

// Telemetry is what instruments saw of a variant that disturb what they watch: a profile,
// the CPU's counters, the kernel's reasons for dropping packets. They work in separate
// runs, one instrument at a time, whose rates are not used. One line of telemetry.jsonl.
type Telemetry struct {
	Part        string       `json:"part"`
	Mode        testbed.Mode `json:"mode"`
	Variant     string       `json:"variant"`
	Start       time.Time    `json:"start"`
	Seconds     float64      `json:"seconds"` // all in all
	Unavailable string       `json:"unavailable,omitempty"`
	// Profile names the files of the profile; nil: there is none.
	Profile *ProfileFiles `json:"profile,omitempty"`
	// PerPacket are the CPU's counters over the packets that arrived meanwhile.
	PerPacket []PerPacket `json:"per_packet,omitempty"`
	// Drops says where frames ended, with the kernel's reasons, and Reasons
	// how often it gave each.
	Drops   *drop.Account `json:"drops,omitempty"`
	Reasons drop.Counters `json:"reasons,omitempty"`
	// Missing says what an instrument could not see, and why.
	Missing []Missing `json:"missing,omitempty"`
	// Stacks is the profile itself, where it was read.
	Stacks *profile.Profile `json:"-"`
}

// ProfileFiles are a profile's files, stored with the record: the same stacks in two formats.
type ProfileFiles struct {
	Pprof   string `json:"pprof"`  // opens in go tool pprof
	Folded  string `json:"folded"` // a line for each stack
	SHA256  string `json:"sha256"` // of the pprof file
	Event   string `json:"event"`
	Samples int64  `json:"samples"`
}

// PerPacket is one of the CPU's counters.
type PerPacket struct {
	Event   string  `json:"event"`
	Count   float64 `json:"count"`
	Packets uint64  `json:"packets"` // that arrived meanwhile
}

// Each is the count per packet.
func (p PerPacket) Each() float64 { return p.Count / float64(max(1, p.Packets)) }

// Missing is something an instrument could not see.
type Missing struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

// The lengths of the instruments' runs, in seconds of traffic, at most: where
// trials are short, four and two trials' time. A search's trials are short for
// other reasons, and count as of a quarter of a second.
const (
	profileSeconds = 2.0
	countSeconds   = 0.5
	SearchSeconds  = 0.25
)

// Inside is a run of instruments: a part, a variant, and for how long.
type Inside struct {
	Part    Part
	Variant string
	// Profile and Count are the seconds of traffic under the profiler, and
	// under each of the other instruments.
	Profile, Count float64
}

// InsideNext is the next run of instruments that a study wants and has not
// had; ok is false when there is none. skip passes over parts.
func InsideNext(s Spec, had []Telemetry, trials []Trial, skip func(Part) bool) (in Inside, ok bool) {
	left := s.insideLeft(had, trials, skip)
	if len(left) == 0 {
		return Inside{}, false
	}
	return left[0], true
}

func (s *Spec) insideLeft(had []Telemetry, trials []Trial, skip func(Part) bool) (left []Inside) {
	for _, p := range s.insideParts() {
		if skip(p) {
			continue
		}
		profile, count := min(profileSeconds, 4*p.Seconds), min(countSeconds, 2*p.Seconds)
		for _, v := range s.Variants {
			if !isGone(trials, v.Name) && !hasTelemetry(had, p.Name, v.Name) {
				left = append(left, Inside{Part: p, Variant: v.Name, Profile: profile, Count: count})
			}
		}
	}
	return left
}

// InsideSeconds is about how long the instruments' runs will take that are
// left.
func (s *Spec) InsideSeconds(had []Telemetry, trials []Trial, skip func(Part) bool) (total float64) {
	for _, in := range s.insideLeft(had, trials, skip) {
		total += in.Profile + 2*in.Count + in.Part.Warmup + 0.5
	}
	return total
}

func isGone(trials []Trial, variant string) bool {
	return slices.ContainsFunc(trials, func(t Trial) bool { return t.Variant == variant && t.Unavailable != "" })
}

func hasTelemetry(had []Telemetry, part, variant string) bool {
	return slices.ContainsFunc(had, func(t Telemetry) bool { return t.Part == part && t.Variant == variant })
}
