package tunable

import "linerate/internal/fact/release"

// Claims is one source and what it says.
type Claims struct {
	// Source is the short name that findings cite: guide, talk-2019 …
	Source string `yaml:"source"`
	OS     string `yaml:"os"`
	Title  string `yaml:"title"`
	Author string `yaml:"author"`
	// Date is when the source said it, as precisely as known.
	Date string `yaml:"date"`
	// Releases are those that the claim is about.
	Releases string  `yaml:"releases"`
	Kind     string  `yaml:"kind"` // guide, talk, vendor, documentation, benchmark (of speed), hardening
	Claims   []Claim `yaml:"claims"`
	File     string  `yaml:"-"`
}

// Claim is what one source says of one tunable.
type Claim struct {
	Name string `yaml:"name"`
	// Value is what it sets or advises, Default what it says the default is.
	Value   string `yaml:"value"`
	Default string `yaml:"default"`
	// In is the file it puts the line into.
	In string `yaml:"in"`
	// Active is false for a line that is commented out.
	Active bool `yaml:"active"`
	// Says is its reason, in our words.
	Says string `yaml:"says"`
	// At is the place in the source: a line, a minute, a slide.
	At string `yaml:"at"`
	// Verdict is one of the Verdict constants; Truth says why.
	Verdict string `yaml:"verdict"`
	Truth   string `yaml:"truth"`
	// Since is the release from which the verdict holds, where it did not
	// always; before it the claim is no finding.
	Since release.Release `yaml:"since"`
	// When is the condition under which the verdict holds, where it depends on
	// the host; "" is always.
	When string `yaml:"when"`
	// Harmless says that the line may stay: its value does no harm, only what
	// the claim says of it is wrong or out of date.
	Harmless bool `yaml:"harmless"`

	Source string `yaml:"-"`
	Line   int    `yaml:"-"`
}

// Verdicts on a claim, against the system's source; none is about benefit,
// which only measurement knows.
const (
	Folklore = "folklore" // plausible, unmeasured
	Holds    = "holds"    // the source code agrees
	Depends  = "depends"  // right on some hosts or loads, wrong on others
	Stale    = "stale"    // was right, on older releases
	Wrong    = "wrong"    // never was right
	Measured = "measured" // the source itself measured it
)
