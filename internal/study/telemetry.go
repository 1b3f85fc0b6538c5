package study

import (
	"slices"
	"time"

	"linerate/internal/profile"
	"linerate/internal/testbed"
)

// Telemetry is what a profiler saw of a variant. It disturbs what it watches, so it works
// in separate runs, whose rates are not used. One line of telemetry.jsonl. Records of
// earlier versions also have counters per packet and the kernel's reasons for drops there.
type Telemetry struct {
	Part        string       `json:"part"`
	Mode        testbed.Mode `json:"mode"`
	Variant     string       `json:"variant"`
	Start       time.Time    `json:"start"`
	Seconds     float64      `json:"seconds"` // all in all
	Unavailable string       `json:"unavailable,omitempty"`
	// Profile names the file of the profile; nil: there is none.
	Profile *ProfileFiles `json:"profile,omitempty"`
	// Missing says what could not be seen, and why.
	Missing []Missing `json:"missing,omitempty"`

	// Stacks is the profile itself, where it was read.
	Stacks *profile.Profile `json:"-"`
}

// ProfileFiles is a profile's file, stored with the record.
type ProfileFiles struct {
	Pprof  string `json:"pprof"` // opens in go tool pprof
	SHA256 string `json:"sha256"`
	Event  string `json:"event"`
}

// Missing is something that could not be seen.
type Missing struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

// The length of a profile's run, in seconds of traffic, at most: where trials are short,
// four trials' time. A search's trials are short for other reasons, and count as of a
// quarter of a second.
const (
	profileSeconds = 2.0
	SearchSeconds  = 0.25
)

// Inside is a run of the profiler: a part, a variant, and for how many seconds.
type Inside struct {
	Part    Part
	Variant string
	Seconds float64
}

// InsideNext is the next run of the profiler that a study wants and has not
// had; ok is false when there is none. skip passes over parts.
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

// InsideSeconds is about how long the profiler's runs will take that are
// left.
func (s *Spec) InsideSeconds(had []Telemetry, trials []Trial, skip func(Part) bool) (total float64) {
	for _, in := range s.insideLeft(had, trials, skip) {
		total += in.Seconds + in.Part.Warmup + 0.5
	}
	return total
}
