package fact

import (
	"cmp"
	"slices"
	"strings"

	"linerate/internal/fact/redact"
)

// Namespace keeps names apart that different parts of a system use: the
// kernel's (sysctl, loader variables and hints share one) and rc.conf's.
type Namespace string

// The namespaces of settings.
const (
	Kernel Namespace = "kernel" // sysctls and loader variables
	RC     Namespace = "rc"     // rc.conf variables
	Fields Namespace = "field"  // an appliance's own settings, by their place in its configuration
)

// Stage is the part of a boot that reads a line's file.
type Stage string

// The stages of a boot that set something by a line of a file.
const (
	Loader Stage = "loader" // loader.conf and friends: before the kernel
	Hints  Stage = "hints"  // device.hints: as loader
	Sysctl Stage = "sysctl" // sysctl.conf: by sysctl(8), at boot
	RCConf Stage = "rc"     // rc.conf and friends: sourced by rc(8)
	Conf   Stage = "conf"   // another program's own configuration

	Modprobe    Stage = "modprobe" // modprobe.d: when a module is loaded
	CommandLine Stage = "cmdline"  // the kernel's command line: at boot
	Udev        Stage = "udev"     // rules of udev: when a device appears
	Networkd    Stage = "networkd" // .network files: when systemd-networkd sets up a link
	Agent       Stage = "agent"    // none: a program that writes the value by itself when it starts

	Tunables Stage = "tunables" // an appliance's list of tunables: for the loader, and by sysctl(8) at boot
	Field    Stage = "field"    // a field of an appliance's own, which sets more than one thing, or none by its name
)

// bootOrder is the order in which stages have their say at boot; the last
// one stands. FreeBSD: the loader reads device.hints, then loader.conf, whose
// variables override hints (loader(8)); the kernel takes what they left; rc(8)
// reads rc.conf, then rc.d/sysctl sets sysctl.conf. Linux: the command line
// (its sysctl.NAME= before init, Documentation/admin-guide/kernel-parameters),
// modules with their options, udev as devices appear, sysctl.d after both
// (systemd-sysctl.service(8): After=systemd-modules-load.service), networkd as
// it sets up links. Other programs start last, kubelet and its like after all.
// What an appliance sets for itself it sets as its own programs start.
var bootOrder = []Stage{Hints, Loader, CommandLine, Modprobe, Udev, RCConf, Sysctl, Tunables, Networkd, Conf, Agent, Field}

// order is the stage's place in the boot order.
func (m Stage) order() int { return slices.Index(bootOrder, m) }

// Tunable is one name, its value on the running host and every line of a
// file that sets it.
type Tunable struct {
	Name      string    `json:"name"`
	Namespace Namespace `json:"namespace"`
	// Live is the running value as `sysctl -n` prints it; nil when the name
	// does not exist there or running values are not known.
	Live *string `json:"live,omitempty"`
	// Access says where the running kernel lets it be set; nil when not known.
	Access *Access `json:"access,omitempty"`
	// Lines set it, in the order the system reads them; the last effective
	// one of each stage wins.
	Lines []Line `json:"lines,omitempty"`
}

// Access says where a running kernel lets a sysctl be set.
type Access struct {
	Boot    bool `json:"boot"`    // loader tunable (`sysctl -aNT`)
	Runtime bool `json:"runtime"` // writable (`sysctl -aNW`)
}

// Line is one line of a file that sets something.
type Line struct {
	// File is the path on the host, without the tree's root.
	File string `json:"file"`
	// Number counts from 1; for a continued line, the first.
	Number int `json:"line"`
	// Text is the line as written, without its newline.
	Text string `json:"text"`
	// Place is where an appliance's user finds what the line sets, in the
	// appliance's own words: "System ▸ Settings ▸ Tunables: net.inet.tcp.tso".
	Place string `json:"place,omitempty"`
	// Name and Value are as the system would read them, quotes removed and
	// variables replaced.
	Name  string `json:"name"`
	Value string `json:"value"`
	Stage Stage  `json:"mechanism"`
	// Order counts the lines of a stage in the order the system reads
	// them, over all its files, from 1.
	Order int `json:"order"`
	// Effective is false when a later line of the same stage sets the
	// same name again, or when the system ignores the line.
	Effective bool `json:"effective"`
	// Only says when the line's value is written at all: Raise, Lower, or "" for
	// always.
	Only string `json:"only,omitempty"`
	// Adds is true where the value holds what the name had before: "$name x".
	Adds bool `json:"adds,omitempty"`
	// Kept is true where the line is not effective by itself, and its value is
	// part of a later line's that adds to it.
	Kept bool `json:"kept,omitempty"`
	// Default is true in the system's own files (/boot/defaults, /etc/defaults).
	Default bool `json:"default,omitempty"`
	// Note says what is odd about the line though it is read: an unquoted
	// value, a value that needs execution, a driver name never probed.
	Note string `json:"note,omitempty"`
}

// Hidden reports a value that is redacted, as a whole or in part.
func (l Line) Hidden() bool { return strings.Contains(l.Value, redact.Mark) }

// Line.Only of a value that is written only where it is greater, or less, than
// what is there: tuned's "=>" and "=<".
const (
	Raise = ">"
	Lower = "<"
)

// Tunable returns a kernel setting (sysctl or loader variable) by name.
func (f *Facts) Tunable(name string) (Tunable, bool) { return f.find(name, Kernel) }

// RCVariable returns an rc.conf variable by name.
func (f *Facts) RCVariable(name string) (Tunable, bool) { return f.find(name, RC) }

func (f *Facts) find(name string, ns Namespace) (Tunable, bool) {
	return sought(f.Settings, func(s Tunable) int { return cmp.Or(cmp.Compare(s.Name, name), cmp.Compare(s.Namespace, ns)) })
}

// LiveValue returns the running value of a sysctl.
func (f *Facts) LiveValue(name string) (string, bool) {
	s, ok := f.Tunable(name)
	if !ok || s.Live == nil {
		return "", false
	}
	return *s.Live, true
}

// Value is the best knowledge of a kernel setting's value: the running one,
// else what the files say after the next boot (bootOrder).
func (f *Facts) Value(name string) (string, bool) { return f.ValueUnless(name, takesAll) }

// ValueUnless is Value on a system that refuses some lines.
func (f *Facts) ValueUnless(name string, refused func(Line) bool) (string, bool) {
	s, ok := f.Tunable(name)
	if parameter, of := strings.CutPrefix(name, "module."); of && !ok {
		s, ok = f.Tunable("cmdline." + parameter) // the kernel's command line has them too
	}
	if !ok {
		return "", false
	}
	if s.Live != nil {
		return *s.Live, true
	}
	l, ok := s.StandsUnless(refused)
	return l.Value, ok
}

// FieldValue is the value of an appliance's own field, by its path in the
// appliance's configuration; "" where it is not set.
func (f *Facts) FieldValue(path string) string {
	l, _ := f.FieldLine(path)
	return l.Value
}

// FieldLine is the line that sets an appliance's own field.
func (f *Facts) FieldLine(path string) (Line, bool) {
	s, _ := f.find(path, Fields)
	return s.EffectiveLine(Field)
}

// FieldIs reports that an appliance's own field has a value, in one of its
// sections where there are several.
func (f *Facts) FieldIs(path, value string) bool {
	s, _ := f.find(path, Fields)
	return slices.ContainsFunc(s.Lines, func(l Line) bool { return l.Value == value })
}

// RCValue is the value rc(8) sees of a variable.
func (f *Facts) RCValue(name string) (string, bool) {
	s, _ := f.RCVariable(name)
	l, ok := s.EffectiveLine(RCConf)
	return l.Value, ok
}

// RCYes reports whether rc(8) takes a variable for switched on: YES, TRUE,
// ON or 1 in any case (rc.subr, checkyesno).
func (f *Facts) RCYes(name string) bool {
	v, _ := f.RCValue(name)
	return slices.Contains([]string{"yes", "true", "on", "1"}, strings.ToLower(v))
}

// EffectiveLine returns the line of a stage whose value stands.
func (s Tunable) EffectiveLine(m Stage) (Line, bool) {
	for _, l := range slices.Backward(s.Lines) {
		if l.Stage == m && l.Effective {
			return l, true
		}
	}
	return Line{}, false
}

// Stands returns the line that would stand after a boot: the effective one
// of the last stage that has one (bootOrder). Every verb that asks which of
// several lines wins asks here.
func (s Tunable) Stands() (Line, bool) { return s.StandsUnless(takesAll) }

// StandsUnless is Stands on a system that refuses some lines: what an earlier stage
// set stands then.
func (s Tunable) StandsUnless(refused func(Line) bool) (Line, bool) {
	for _, m := range slices.Backward(bootOrder) {
		if l, ok := s.EffectiveLine(m); ok && !refused(l) {
			return l, true
		}
	}
	return Line{}, false
}

// takesAll refuses no line.
func takesAll(Line) bool { return false }

// Lines returns every line of every file that sets something, the system's
// own defaults left out, in the order in which a boot reads them.
func (f *Facts) Lines() []Line {
	var lines []Line
	for _, s := range f.Settings {
		for _, l := range s.Lines {
			if !l.Default {
				lines = append(lines, l)
			}
		}
	}
	slices.SortStableFunc(lines, func(a, b Line) int {
		return cmp.Or(cmp.Compare(a.Stage.order(), b.Stage.order()), cmp.Compare(a.Order, b.Order))
	})
	return lines
}

// AddLines files lines under their settings and marks which are effective:
// within a stage, the last one read. Lines must come in reading order.
func (f *Facts) AddLines(lines []Line) {
	at := map[settingKey]int{}
	for i, s := range f.Settings {
		at[settingKey{s.Name, s.Namespace}] = i
	}
	stands := map[standing]*stood{}
	for _, l := range lines {
		k := settingKey{l.Name, Kernel}
		switch l.Stage {
		case RCConf:
			k.ns = RC
		case Field:
			k.ns = Fields
		}
		i, ok := at[k]
		if !ok {
			i = len(f.Settings)
			at[k] = i
			f.Settings = append(f.Settings, Tunable{Name: l.Name, Namespace: k.ns})
		}
		f.Settings[i].addLine(l, stands, i)
	}
}

type settingKey struct {
	name string
	ns   Namespace
}

// standing names the line of a tunable that stands for a stage.
type standing struct {
	tunable int
	stage   Stage
}

// stood is where the lines of a stage are while more of them are added.
type stood struct {
	last    int // the one that stands, -1 for none
	cleared int // no line before it is kept
}

// drop unmarks what lines of a stage were kept for, from the first that may be: a value
// without theirs follows.
func (s *Tunable) drop(m Stage, from int) {
	for i := from; i < len(s.Lines); i++ {
		if s.Lines[i].Stage == m {
			s.Lines[i].Kept = false
		}
	}
}

// addLine appends a line, which unseats the one that stood before it.
func (s *Tunable) addLine(l Line, stands map[standing]*stood, i int) {
	if l.Effective {
		k := standing{i, l.Stage}
		before := stands[k]
		if before == nil {
			before = &stood{last: slices.IndexFunc(s.Lines, func(o Line) bool { return o.Stage == l.Stage && o.Effective })}
			stands[k] = before
		}
		if before.last >= 0 {
			s.Lines[before.last].Effective = false
			s.Lines[before.last].Kept = l.Adds
		}
		if !l.Adds {
			s.drop(l.Stage, before.cleared)
			before.cleared = len(s.Lines)
		}
		before.last = len(s.Lines)
	}
	s.Lines = append(s.Lines, l)
}
