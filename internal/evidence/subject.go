package evidence

import (
	"cmp"
	"slices"
	"strings"

	"linerate/internal/setting"
	"linerate/internal/show"
	"linerate/internal/tunable"
)

// Subject is the subject of a verdict: which tunable changed, from which
// value to which, on which machine and release.
type Subject struct {
	Tunable string `json:"tunable"` // named as in the catalogue, or as the study set it
	// Before and After are its values in the control and the variant; "" is
	// the default.
	Before  string `json:"before"`
	After   string `json:"after"`
	Alone   bool   `json:"alone"` // no other setting changed with it
	Changes int    `json:"-"`     // number of settings that the variant changed; 0: not stored
	OS      string `json:"os"`
	Release string `json:"release"`
	CPU     string `json:"cpu"` // or the machine's name, if nothing else is known
	Cores   int    `json:"cores"`
	NIC     string `json:"nic"`
	Driver  string `json:"driver"`
	// MachineID identifies the machine (fact.Facts.MachineID), or is its hostname if
	// the record has none; files do not store it.
	MachineID string `json:"-"`
}

// Machine describes the hardware: "Atom C2758, 8 cores, Intel 82599 (ix)".
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

// System returns the operating system and its release, without the kernel's
// build information.
func (s Subject) System() string {
	release, _, _ := strings.Cut(s.Release, " #")
	return strings.TrimSpace(s.OS + " " + release)
}

// Change describes the change: "default → 0".
func (s Subject) Change() string {
	return cmp.Or(s.Before, "default") + " → " + cmp.Or(s.After, "default")
}

// maxChanges is how many settings a variant may change at once for its verdict
// to count for one of them: a pair counts (rings of both directions), a whole
// configuration does not.
const maxChanges = 2

// nicDrivers lists the drivers that have tunables under their names.
var nicDrivers = []string{"em", "igb", "igc", "ix", "ixl"}

// Tells reports whether a verdict counts for one tunable: it changed alone or with its
// pair, it is not a subsystem's switch that changed along with others, and the network card
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

// reversed returns the reverse change.
func (s Subject) reversed() Subject {
	s.Before, s.After = s.After, s.Before
	return s
}

var folder = strings.NewReplacer(" ", "_", "-", "_", ":", "_")

// FoldName folds a tunable's name to lower case, with N for unit numbers:
// what is measured on igb1 is evidence for igb0. Blanks, dashes and colons
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

// Akin reports whether two names differ in the driver only, such as
// dev.igb.0.fc and dev.ix.0.fc.
func Akin(a, b string) bool {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	if len(x) != len(y) || len(x) < 3 || x[0] != y[0] {
		return false
	}
	return slices.Equal(x[2:], y[2:])
}
