package fact

import (
	"cmp"
	"slices"
	"strings"

	"linerate/internal/fact/redact"
)

// Namespace separates equal names in different parts of a system: the kernel's (shared by sysctl,
// loader variables and hints) and rc.conf's.
type Namespace string

// The namespaces of settings.
const (
	Kernel Namespace = "kernel" // sysctls and loader variables
	RC     Namespace = "rc"     // rc.conf variables
	Fields Namespace = "field"  // an appliance's own settings, by their path in its configuration
)

// Stage is the part of a boot that reads a line's file.
type Stage string

// The stages of a boot in which a line of a file sets something.
const (
	Loader Stage = "loader" // loader.conf and similar: before the kernel
	Hints  Stage = "hints"  // device.hints: as loader
	Sysctl Stage = "sysctl" // sysctl.conf: by sysctl(8), at boot
	RCConf Stage = "rc"     // rc.conf and similar: sourced by rc(8)
	Conf   Stage = "conf"   // configuration of another program

	Modprobe    Stage = "modprobe" // modprobe.d: when a module is loaded
	CommandLine Stage = "cmdline"  // the kernel's command line: at boot
	Udev        Stage = "udev"     // rules of udev: when a device appears
	Networkd    Stage = "networkd" // .network files: when systemd-networkd sets up a link
	Agent       Stage = "agent"    // no file: a program writes the value by itself when it starts

	Tunables Stage = "tunables" // an appliance's list of tunables: read by the loader, and by sysctl(8) at boot
	Field    Stage = "field"    // an appliance's own field, which sets several things, or none under its name
)

// bootOrder is the order of stages at boot; the last one wins. FreeBSD: the loader reads
// device.hints, then loader.conf, whose variables override hints (loader(8)); the kernel takes the
// result; rc(8) reads rc.conf, then rc.d/sysctl applies sysctl.conf. Linux: the command line (its
// sysctl.NAME= before init, Documentation/admin-guide/kernel-parameters), modules with their
// options, udev as devices appear, sysctl.d after both (systemd-sysctl.service(8):
// After=systemd-modules-load.service), networkd as it configures links. Other programs start later,
// agents such as kubelet last. An appliance's own settings are applied as its programs start.
var bootOrder = []Stage{Hints, Loader, CommandLine, Modprobe, Udev, RCConf, Sysctl, Tunables, Networkd, Conf, Agent, Field}

// order returns the stage's position in the boot order.
func (m Stage) order() int { return slices.Index(bootOrder, m) }

// Tunable is one name with its running value and every line of a file that sets it.
type Tunable struct {
	Name      string    `json:"name"`
	Namespace Namespace `json:"namespace"`
	// Live is the running value as printed by `sysctl -n`; nil if the name does not exist or
	// running values are unknown.
	Live *string `json:"live,omitempty"`
	// Access says when the running kernel allows setting it; nil if unknown.
	Access *Access `json:"access,omitempty"`
	// Lines are the lines that set it, in reading order; the last effective one of each stage wins.
	Lines []Line `json:"lines,omitempty"`
}

// Access says when a running kernel allows setting a sysctl.
type Access struct {
	Boot    bool `json:"boot"`    // loader tunable (`sysctl -aNT`)
	Runtime bool `json:"runtime"` // writable (`sysctl -aNW`)
}

// Line is one line of a file that sets something.
type Line struct {
	// File is the path on the host, without the tree's root.
	File string `json:"file"`
	// Number counts from 1; for a continued line it is the first.
	Number int `json:"line"`
	// Text is the line as written, without its newline.
	Text string `json:"text"`
	// Place is where an appliance's user finds the setting, in the appliance's terms: "System ▸
	// Settings ▸ Tunables: net.inet.tcp.tso".
	Place string `json:"place,omitempty"`
	// Name and Value are as the system reads them, with quotes removed and variables expanded.
	Name  string `json:"name"`
	Value string `json:"value"`
	Stage Stage  `json:"mechanism"`
	// Order numbers the lines of a stage in reading order, across all its files, from 1.
	Order int `json:"order"`
	// Effective is false if a later line of the same stage sets the same name, or the system
	// ignores the line.
	Effective bool `json:"effective"`
	// Only restricts when the value is written: Raise, Lower, or "" for always.
	Only string `json:"only,omitempty"`
	// Adds means that the value includes the name's previous one: "$name x".
	Adds bool `json:"adds,omitempty"`
	// Kept means that the line is not effective by itself, but its value is part of a later line
	// that adds to it.
	Kept bool `json:"kept,omitempty"`
	// Default means that the line is in the system's own files (/boot/defaults, /etc/defaults).
	Default bool `json:"default,omitempty"`
	// Note says what is unusual about the line: an unquoted value, a value that requires execution,
	// a driver name that was never probed.
	Note string `json:"note,omitempty"`
}

// Hidden reports whether the value is redacted, in whole or in part.
func (l Line) Hidden() bool { return strings.Contains(l.Value, redact.Mark) }

// The values of Line.Only for a value that is written only if it is greater, or less, than the
// current one: TuneD's "=>" and "=<".
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

// Value returns the best known value of a kernel setting: the running one, else the one that files
// give after the next boot (bootOrder).
func (f *Facts) Value(name string) (string, bool) { return f.ValueUnless(name, takesAll) }

// ValueUnless is Value for a system that refuses some lines.
func (f *Facts) ValueUnless(name string, refused func(Line) bool) (string, bool) {
	s, ok := f.Tunable(name)
	if parameter, of := strings.CutPrefix(name, "module."); of && !ok {
		s, ok = f.Tunable("cmdline." + parameter) // it may be on the kernel command line
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

// FieldValue returns the value of an appliance's own field, by its path in the appliance's
// configuration; "" if it is not set.
func (f *Facts) FieldValue(path string) string {
	l, _ := f.FieldLine(path)
	return l.Value
}

// FieldLine returns the line that sets an appliance's own field.
func (f *Facts) FieldLine(path string) (Line, bool) {
	s, _ := f.find(path, Fields)
	return s.EffectiveLine(Field)
}

// FieldIs reports whether an appliance's own field has a value, in at least one section if there
// are several.
func (f *Facts) FieldIs(path, value string) bool {
	s, _ := f.find(path, Fields)
	return slices.ContainsFunc(s.Lines, func(l Line) bool { return l.Value == value })
}

// RCValue returns the value of a variable for rc(8).
func (f *Facts) RCValue(name string) (string, bool) {
	s, _ := f.RCVariable(name)
	l, ok := s.EffectiveLine(RCConf)
	return l.Value, ok
}

// RCYes reports whether rc(8) treats a variable as enabled: YES, TRUE, ON or 1 in any case
// (rc.subr, checkyesno).
func (f *Facts) RCYes(name string) bool {
	v, _ := f.RCValue(name)
	return slices.Contains([]string{"yes", "true", "on", "1"}, strings.ToLower(v))
}

// EffectiveLine returns the effective line of a stage.
func (s Tunable) EffectiveLine(m Stage) (Line, bool) {
	for _, l := range slices.Backward(s.Lines) {
		if l.Stage == m && l.Effective {
			return l, true
		}
	}
	return Line{}, false
}

// Stands returns the line that wins after a boot: the effective one of the last stage that has one
// (bootOrder). All code uses this to decide which of several lines wins.
func (s Tunable) Stands() (Line, bool) { return s.StandsUnless(takesAll) }

// StandsUnless is Stands for a system that refuses some lines: a line of an earlier stage then
// wins.
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

// Lines returns every line of every file that sets something, except the system's own defaults, in
// boot order.
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

// AddLines adds lines to their settings and marks the effective ones: within a stage, the last one
// read. Lines must be in reading order.
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

// standing identifies the effective line of a tunable in a stage.
type standing struct {
	tunable int
	stage   Stage
}

// stood holds indices of a stage's lines while more lines are added.
type stood struct {
	last    int // the effective one, -1 for none
	cleared int // no line before it is marked Kept
}

// drop clears Kept on lines of a stage, starting at from: the new value does not include theirs.
func (s *Tunable) drop(m Stage, from int) {
	for i := from; i < len(s.Lines); i++ {
		if s.Lines[i].Stage == m {
			s.Lines[i].Kept = false
		}
	}
}

// addLine appends a line, which replaces the previous effective one.
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
