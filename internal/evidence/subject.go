package evidence

import (
	"cmp"
	"slices"
	"strings"

	"linerate/internal/setting"
	"linerate/internal/show"
	"linerate/internal/tunable"
)

// Subject is what a verdict is about: which tunable was changed, from what to
// what, on which machine and release.
type Subject struct {
	Tunable string `json:"tunable"` // as the catalogue names it, or as the study set it
	// Before and After are its values under the control and the variant; ""
	// is the default.
	Before  string `json:"before"`
	After   string `json:"after"`
	Alone   bool   `json:"alone"` // nothing else was changed with it
	Changes int    `json:"-"`     // how many settings the variant changed; 0: not kept
	OS      string `json:"os"`
	Release string `json:"release"`
	CPU     string `json:"cpu"` // or what the machine is called, where that is all there is
	Cores   int    `json:"cores"`
	NIC     string `json:"nic"`
	Driver  string `json:"driver"`
	// MachineID is the machine's own identity (fact.Facts.MachineID), or its hostname
	// where its record has none; files do not keep it.
	MachineID string `json:"-"`
}

// Machine is the hardware, for people: "Atom C2758, 8 cores, Intel 82599 (ix)".
func (s Subject) Machine() string {
	text := cmp.Or(s.CPU, "an unknown machine")
	if s.Cores > 0 {
		text += ", " + show.Plural(s.Cores, "core")
	}
	switch {
	case s.NIC != "" && s.Driver != "" && s.NIC != s.Driver:
		text += ", " + s.NIC + " (" + s.Driver + ")"
	case s.NIC != "" || s.Driver != "":
		text += ", " + cmp.Or(s.NIC, s.Driver)
	}
	return text
}

// System is the operating system and its release, without how a kernel was
// built.
func (s Subject) System() string {
	release, _, _ := strings.Cut(s.Release, " #")
	return strings.TrimSpace(s.OS + " " + release)
}

// Change is what was set, for people: "default → 0".
func (s Subject) Change() string {
	return cmp.Or(s.Before, "default") + " → " + cmp.Or(s.After, "default")
}

// maxChanges is how many settings a variant may change at once for its verdict
// to say something about one of them: a pair (rings of both directions) does,
// a whole configuration does not.
const maxChanges = 2

// nicDrivers are the drivers whose tunables carry their names.
var nicDrivers = []string{"em", "igb", "igc", "ix", "ixl"}

// Tells reports whether a verdict says something about one tunable: it was changed alone or
// with its pair, it is not a subsystem's switch that was changed with others, and the card
// has it.
func (s Subject) Tells(r *tunable.Record) bool {
	if !s.Alone && (s.Changes > maxChanges || r.Mechanism == setting.RC) {
		return false
	}
	for _, driver := range nicDrivers {
		if strings.HasPrefix(r.Name, "hw."+driver+".") || strings.HasPrefix(r.Name, "dev."+driver+".") {
			return s.Driver == driver || driver == "em" && s.Driver == "igb"
		}
	}
	return true
}

// reversed is the same change the other way round.
func (s Subject) reversed() Subject {
	s.Before, s.After = s.After, s.Before
	return s
}

var folder = strings.NewReplacer(" ", "_", "-", "_", ":", "_")

// FoldName writes a tunable's name without case and with its unit numbers as
// N: what is measured on igb1 is evidence on igb0. Blanks, dashes and colons
// become underscores.
func FoldName(name string) string {
	parts := strings.Split(strings.ToLower(folder.Replace(strings.TrimSpace(name))), ".")
	for i, p := range parts {
		if i > 0 && p != "" && (strings.Trim(p, "0123456789") == "" || p == "*" || p == "x" || p == "%d") && parts[0] == "dev" {
			parts[i] = "n"
		}
	}
	return strings.Join(parts, ".")
}

// Akin reports whether two names differ in their driver only: what
// dev.igb.0.fc is to dev.ix.0.fc.
func Akin(a, b string) bool {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	if len(x) != len(y) || len(x) < 3 || x[0] != y[0] {
		return false
	}
	return slices.Equal(x[2:], y[2:])
}
