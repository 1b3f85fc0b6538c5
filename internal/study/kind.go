package study

import (
	"maps"
	"slices"

	"linerate/internal/list"
	"linerate/internal/stats"
	"linerate/internal/testbed"
)

// Kind is one way of measuring: what a part of the kind may specify, how its arms take
// turns, what is measured, what makes a trial invalid, and what its results contain in
// addition to the verdicts. Register adds a kind; no other code lists the kinds.
//
// Everything is pure: a lab.Runner runs a kind. A kind embeds Base and
// writes the methods in which it differs.
type Kind interface {
	// Name is the kind's, for messages and for what runs and shows it.
	Name() string
	// Modes are what a part of the kind may have as its mode.
	Modes() []testbed.Mode
	// Owns reports whether a part is of the kind. The kind that was registered
	// last decides first.
	Owns(p Part) bool

	// DefaultMode is the mode of a part that gives none, in a study of this kind; "" where
	// the study is another kind's.
	DefaultMode(s *Spec) testbed.Mode
	// FillStudy puts defaults where a study with parts of the kind says nothing,
	// FillPart where one of these parts, s.Parts[place], does. said tells which
	// paths the file has.
	FillStudy(s *Spec, said func(path string) bool)
	FillPart(s *Spec, place int, said func(path string) bool)
	// CheckStudy refuses what is wrong with a study as a whole, of the kind or
	// not; CheckPart what is with a part of the kind, s.Parts[place], at a path.
	CheckStudy(s *Spec) *Problem
	CheckPart(s *Spec, place int, path string) *Problem
	// Sets are what keys of the kind make a variant other than the rest, by names as
	// settings have them.
	Sets(v Variant) map[string]string
	// Quick is a part in less time, beyond the length and number of its trials.
	Quick(p Part) Part

	// Order is a part's trials in an order of the kind's own, blocks counted from
	// first; nil are randomised complete blocks of all arms.
	Order(s *Spec, p Part, seed uint64, first int) []Slot
	// Compare judges arms by one metric; each arm has the values of the control
	// and its own, one a block.
	Compare(control stats.Arm, arms []stats.Arm, opt stats.Options) []stats.Comparison
	// Interleaving is how the arms of a block take turns.
	Interleaving(s *Spec, p Part) Interleaving
	// Needs are what a testbed must have for the part, by the names under which
	// Environment.Unavailable says why it has not.
	Needs(p Part) []string
	// OutOfReach says why a part cannot be measured after the trials so far; "":
	// it can.
	OutOfReach(s *Spec, p Part, trials []Trial) string
	// Resolve completes a part by what the trials so far have shown; ok is false
	// where they have not shown enough.
	Resolve(s *Spec, p Part, trials []Trial) (_ Part, ok bool)
	// Expected is how long a trial of a part is believed to take before any has
	// ended, in seconds.
	Expected(s *Spec, p Part) float64
	// Inside is the part as instruments look into it; ok is false where they
	// cannot.
	Inside(p Part) (_ Part, ok bool)

	// Metrics are all that trials of the kind measure, in the order of reports.
	Metrics() []Metric
	// Yields reports whether a part of the kind measures one of its metrics.
	Yields(p Part, m Metric) bool
	// Measure derives a trial's metrics; block are the trials of its block that
	// were before it.
	Measure(p Part, o Observation, block []Trial) map[string]float64
	// Gates are what its trials must pass, in the order of reports.
	Gates() []Gate

	// Derive adds the kind's results to those of any study, in addition to the verdicts.
	Derive(r *Results, s Spec)
	// Warn adds what a reader must know before believing them.
	Warn(r *Results, s Spec)
	// Doubt says why two arms that look equivalent by a metric may not be; "":
	// nothing speaks against it.
	Doubt(s Spec, p Part, metric string, trials []Trial, arms ...string) string
	// Workload names the words that metrics have (Metric.Words), by the study;
	// WorkloadOf by its trials alone. "" are the usual ones.
	Workload(s Spec) string
	WorkloadOf(trials []Trial) string
	// Replicates is what the kind's reports call blocks.
	Replicates() string
	// Method says in words how a part was measured: a paragraph.
	Method(s Spec, r Results, p Part) string
	// Sections are what a report of any study shows in addition to the verdicts.
	Sections(s Spec, r Results) []Section
	// Timeline is the metric that shows the drift of a part's trials best.
	Timeline(p Part) (_ Metric, ok bool)
}

// Base is a kind that adds nothing: to be embedded.
type Base struct{}

// The methods of Kind that a kind may leave as they are.

// DefaultMode satisfies Kind: none.
func (Base) DefaultMode(*Spec) testbed.Mode { return "" }

// FillStudy satisfies Kind: nothing.
func (Base) FillStudy(*Spec, func(string) bool) {}

// FillPart satisfies Kind: nothing.
func (Base) FillPart(*Spec, int, func(string) bool) {}

// CheckStudy satisfies Kind: nothing is wrong.
func (Base) CheckStudy(*Spec) *Problem { return nil }

// CheckPart satisfies Kind: nothing is wrong.
func (Base) CheckPart(*Spec, int, string) *Problem { return nil }

// Sets satisfies Kind: nothing.
func (Base) Sets(Variant) map[string]string { return nil }

// Quick satisfies Kind: the part as it is.
func (Base) Quick(p Part) Part { return p }

// Order satisfies Kind: randomised complete blocks.
func (Base) Order(*Spec, Part, uint64, int) []Slot { return nil }

// Interleaving satisfies Kind: one trial after the other.
func (Base) Interleaving(*Spec, Part) Interleaving { return InSequence }

// Needs satisfies Kind: the part's mode.
func (Base) Needs(p Part) []string { return []string{string(p.Mode)} }

// OutOfReach satisfies Kind: nothing is.
func (Base) OutOfReach(*Spec, Part, []Trial) string { return "" }

// Resolve satisfies Kind: the part is complete.
func (Base) Resolve(_ *Spec, p Part, _ []Trial) (Part, bool) { return p, true }

// Expected satisfies Kind: its warm-up and its measured time.
func (Base) Expected(_ *Spec, p Part) float64 { return p.Warmup + p.Seconds }

// Inside satisfies Kind: instruments cannot look.
func (Base) Inside(p Part) (Part, bool) { return p, false }

// Metrics satisfies Kind: none.
func (Base) Metrics() []Metric { return nil }

// Yields satisfies Kind: all of the kind's.
func (Base) Yields(Part, Metric) bool { return true }

// Measure satisfies Kind: nothing.
func (Base) Measure(Part, Observation, []Trial) map[string]float64 { return map[string]float64{} }

// Gates satisfies Kind: none.
func (Base) Gates() []Gate { return nil }

// Derive satisfies Kind: nothing.
func (Base) Derive(*Results, Spec) {}

// Warn satisfies Kind: nothing.
func (Base) Warn(*Results, Spec) {}

// Doubt satisfies Kind: nothing speaks against it.
func (Base) Doubt(Spec, Part, string, []Trial, ...string) string { return "" }

// Workload satisfies Kind: the usual words.
func (Base) Workload(Spec) string { return "" }

// WorkloadOf satisfies Kind: the usual words.
func (Base) WorkloadOf([]Trial) string { return "" }

// Method satisfies Kind: nothing to say.
func (Base) Method(Spec, Results, Part) string { return "" }

// Sections satisfies Kind: none.
func (Base) Sections(Spec, Results) []Section { return nil }

// Replicates satisfies Kind.
func (Base) Replicates() string { return "blocks" }

// Timeline satisfies Kind: none.
func (Base) Timeline(Part) (m Metric, ok bool) { return m, false }

// Compare compares in blocks (stats.CompareBlocks).
func (Base) Compare(control stats.Arm, arms []stats.Arm, opt stats.Options) []stats.Comparison {
	return stats.CompareBlocks(control, arms, opt)
}

// nobodys is the kind of a part that none owns, as of one that was not found.
type nobodys struct{ Base }

func (nobodys) Name() string          { return "" }
func (nobodys) Modes() []testbed.Mode { return nil }
func (nobodys) Owns(Part) bool        { return true }

// The names of the kinds.
const (
	KindForward    = "forward"    // packets through a DUT
	KindSearch     = "search"     // for throughput
	KindServe      = "serve"      // requests to servers
	KindSwitchback = "switchback" // a live host, switched back and forth
)

// kinds are all, in the order of reports.
var kinds = []Kind{forwardKind{}, searchKind{}, serveKind{}, switchbackKind{}}

// Kinds are all that are known, in the order of reports.
func Kinds() []Kind { return slices.Clone(kinds) }

// KindOf is the kind of a part.
func KindOf(p Part) Kind {
	for _, k := range slices.Backward(kinds) {
		if k.Owns(p) {
			return k
		}
	}
	return nobodys{}
}

// kinds are those of a study's parts, in the order of reports.
func (s *Spec) kinds() (out []Kind) {
	return list.Filter(kinds, func(k Kind) bool {
		return slices.ContainsFunc(s.Parts, func(p Part) bool { return KindOf(p).Name() == k.Name() })
	})
}

// modes are those of all kinds.
func modes() (out []string) {
	for _, k := range kinds {
		for _, m := range k.Modes() {
			if !slices.Contains(out, string(m)) {
				out = append(out, string(m))
			}
		}
	}
	return out
}

// Sets are what keys of any kind make a variant other than the rest; never nil.
func Sets(v Variant) map[string]string {
	out := map[string]string{}
	for _, k := range kinds {
		maps.Copy(out, k.Sets(v))
	}
	return out
}

// Interleaving tells how the arms of a part's blocks take turns, on a testbed
// that can do all that the part's kind asks for.
func (s *Spec) Interleaving(p Part) Interleaving { return KindOf(p).Interleaving(s, p) }

// OutOfReach says why a part cannot be measured after the trials so far, or "".
func (s *Spec) OutOfReach(p Part, trials []Trial) string { return KindOf(p).OutOfReach(s, p, trials) }

// Resolve completes a part by what the trials so far have shown.
func (s *Spec) Resolve(p Part, trials []Trial) (Part, bool) { return KindOf(p).Resolve(s, p, trials) }

// insideParts are the parts that instruments look into: one of each mode, the
// primary metric's before others.
func (s *Spec) insideParts() (parts []Part) {
	if !s.Profile {
		return nil
	}
	primary, _ := s.Part(s.Primary().Part)
	seen := map[testbed.Mode]bool{}
	for _, p := range append([]Part{primary}, s.Parts...) {
		if in, ok := KindOf(p).Inside(p); ok && !seen[p.Mode] {
			seen[p.Mode] = true
			parts = append(parts, in)
		}
	}
	return parts
}
