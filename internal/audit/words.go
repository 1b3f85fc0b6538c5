package audit

// kindWords say what each kind of finding means, for headings and for the
// rules of a SARIF log.
var kindWords = map[Kind]string{
	Syntax:        "the system rejects the line",
	Removed:       "gone on this release",
	Renamed:       "renamed on this release",
	Unknown:       "unknown name, or its module is absent",
	Misplaced:     "set where it has no effect",
	Range:         "wrong type or out of range",
	Harmful:       "harmful here",
	Counter:       "the kernel counts trouble",
	Memory:        "takes too much memory",
	Coupled:       "settings that disagree",
	LowersDefault: "replaces a better default",
	Outdated:      "left behind by releases",
	Order:         "set before it can be",
	Drift:         "the file says one thing, the host runs another",
	Duplicate:     "set more than once",
	Ineffective:   "has no effect here",
	Folklore:      "rests on a claim only",
	Default:       "equal to the default",
}

// Describe is the heading of a kind.
func (k Kind) Describe() string { return kindWords[k] }
