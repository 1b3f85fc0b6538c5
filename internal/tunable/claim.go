package tunable

import "linerate/internal/fact/release"

// Claims is one source with its claims.
type Claims struct {
	// Source is the short name by which findings cite it: guide, talk-2019 …
	Source string `yaml:"source" cbor:",omitzero"`
	OS     string `yaml:"os" cbor:",omitzero"`
	Title  string `yaml:"title" cbor:",omitzero"`
	Author string `yaml:"author" cbor:",omitzero"`
	// Date is the date of the source, as precisely as known.
	Date string `yaml:"date" cbor:",omitzero"`
	// Releases are the releases that the claims are about.
	Releases string  `yaml:"releases" cbor:",omitzero"`
	Kind     string  `yaml:"kind" cbor:",omitzero"` // guide, talk, vendor, documentation, benchmark (of speed), hardening
	Claims   []Claim `yaml:"claims" cbor:",omitzero"`
	File     string  `yaml:"-" cbor:",omitzero"`
}

// Claim is what a source says about a tunable.
type Claim struct {
	Name string `yaml:"name" cbor:",omitzero"`
	// Value is the value that it sets or advises, Default what it says the default is.
	Value   string `yaml:"value" cbor:",omitzero"`
	Default string `yaml:"default" cbor:",omitzero"`
	// In is the file for the line.
	In string `yaml:"in" cbor:",omitzero"`
	// Active is false for a line that is commented out.
	Active bool `yaml:"active" cbor:",omitzero"`
	// Says is its reason, paraphrased.
	Says string `yaml:"says" cbor:",omitzero"`
	// At is the place in the source: a line, a minute, a slide.
	At string `yaml:"at" cbor:",omitzero"`
	// Verdict is one of the Verdict constants; Truth explains it.
	Verdict string `yaml:"verdict" cbor:",omitzero"`
	Truth   string `yaml:"truth" cbor:",omitzero"`
	// Since is the first release for which the verdict is valid, if there is one; before that the
	// claim gives no finding.
	Since release.Release `yaml:"since" cbor:",omitzero"`
	// When is the condition under which the verdict is valid, if it depends on the host; "" is
	// always.
	When string `yaml:"when" cbor:",omitzero"`
	// Harmless means that the line may stay: its value does no harm, only the claim is wrong or
	// outdated.
	Harmless bool `yaml:"harmless" cbor:",omitzero"`

	Source string `yaml:"-" cbor:",omitzero"`
	Line   int    `yaml:"-" cbor:",omitzero"`
}

// Verdicts on a claim, according to the system's source code. None is about benefit, which only
// measurements show.
const (
	Folklore = "folklore" // plausible, not measured
	Holds    = "holds"    // the source code agrees
	Depends  = "depends"  // right for some hosts or loads, wrong for others
	Stale    = "stale"    // was right on older releases
	Wrong    = "wrong"    // was never right
	Measured = "measured" // the source itself measured it
)
