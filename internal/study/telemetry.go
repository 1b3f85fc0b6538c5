package study

import (
	"slices"
	"time"

	"linerate/internal/profile"
	"linerate/internal/testbed"
)

// Telemetry is a profile of a variant. Profiling disturbs what it observes, so it takes
// separate runs, whose rates are not used. It is one line of telemetry.jsonl.
type Telemetry struct {
	Part        string       `json:"part"`
	Mode        testbed.Mode `json:"mode"`
	Variant     string       `json:"variant"`
	Start       time.Time    `json:"start"`
	Seconds     float64      `json:"seconds"` // in total
	Unavailable string       `json:"unavailable,omitempty"`
	// Profile names the file of the profile; nil if there is none.
	Profile *ProfileFiles `json:"profile,omitempty"`
	// Missing lists what could not be observed, and why.
	Missing []Missing `json:"missing,omitempty"`

	// Stacks is the profile itself, if it was read.
	Stacks *profile.Profile `json:"-"`
}

// ProfileFiles is a profile's file, stored with the record.
type ProfileFiles struct {
	Pprof  string `json:"pprof"` // opens in go tool pprof
	SHA256 string `json:"sha256"`
	Event  string `json:"event"`
}

// Missing is something that could not be observed.
type Missing struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

// The maximum length of a profiling run, in seconds of traffic; for short trials it is
// four trials' time. The trials of a search are short for other reasons, and count as a
// quarter of a second.
const (
	profileSeconds = 2.0
	SearchSeconds  = 0.25
)

// Inside is a profiling run: a part, a variant, and a duration in seconds.
type Inside struct {
	Part    Part
	Variant string
	Seconds float64
}

// InsideNext returns the next profiling run that a study still needs; ok is
// false if there is none. skip skips parts.
func InsideNext(s Spec, had []Telemetry, trials []Trial, skip func(Part) bool) (in Inside, ok bool) {
	left := s.insideLeft(had, trials, skip)
	if len(left) == 0 {
		return Inside{}, false
	}
	return left[0], true
}

func (s *Spec) insideLeft(had []Telemetry, trials []Trial, skip func(Part) bool) (left []Inside) {
	gone := missing(trials)
	for _, p := range s.insideParts() {
		if skip(p) {
			continue
		}
		for _, v := range s.Variants {
			seen := slices.ContainsFunc(had, func(t Telemetry) bool { return t.Part == p.Name && t.Variant == v.Name })
			if !gone[v.Name] && !seen {
				left = append(left, Inside{Part: p, Variant: v.Name, Seconds: min(profileSeconds, 4*p.Seconds)})
			}
		}
	}
	return left
}

// InsideSeconds estimates how long the remaining profiling runs take.
func (s *Spec) InsideSeconds(had []Telemetry, trials []Trial, skip func(Part) bool) (total float64) {
	for _, in := range s.insideLeft(had, trials, skip) {
		total += in.Seconds + in.Part.Warmup + 0.5
	}
	return total
}
