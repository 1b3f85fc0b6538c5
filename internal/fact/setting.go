package fact

import (
	"cmp"
	"slices"
	"strings"
)

// Namespace keeps names apart that different parts of a system use: the
// kernel's (sysctl, loader variables and hints share one) and rc.conf's.
type Namespace string

// The namespaces of settings.
const (
	Kernel Namespace = "kernel" // sysctls and loader variables
	RC     Namespace = "rc"     // rc.conf variables
)

// Mechanism is the kind of file a line stands in: who reads it, and when.
type Mechanism string

// The mechanisms that set something by a line of a file.
const (
	Loader Mechanism = "loader" // loader.conf and friends: before the kernel
	Hints  Mechanism = "hints"  // device.hints: as loader
	Sysctl Mechanism = "sysctl" // sysctl.conf: by sysctl(8), at boot
	RCConf Mechanism = "rc"     // rc.conf and friends: sourced by rc(8)
	Conf   Mechanism = "conf"   // another program's own configuration

	Modprobe    Mechanism = "modprobe" // modprobe.d: when a module is loaded
	CommandLine Mechanism = "cmdline"  // the kernel's command line: at boot
	Udev        Mechanism = "udev"     // rules of udev: when a device appears
	Networkd    Mechanism = "networkd" // .network files: when systemd-networkd sets up a link
)

// bootOrder is the order in which mechanisms have their say at boot; the last
// one stands. FreeBSD: the loader reads device.hints, then loader.conf, whose
// variables override hints (loader(8)); the kernel takes what they left; rc(8)
// reads rc.conf, then rc.d/sysctl sets sysctl.conf. Linux: the command line
// (its sysctl.NAME= before init, Documentation/admin-guide/kernel-parameters),
// modules with their options, udev as devices appear, sysctl.d after both
// (systemd-sysctl.service(8): After=systemd-modules-load.service), networkd as
// it sets up links. Other programs start last.
var bootOrder = []Mechanism{Hints, Loader, CommandLine, Modprobe, Udev, RCConf, Sysctl, Networkd, Conf}

// stage is the mechanism's place in the boot order.
func (m Mechanism) stage() int { return slices.Index(bootOrder, m) }

// Setting is one name, its value on the running host and every line of a
// file that sets it.
type Setting struct {
	Name      string    `json:"name"`
	Namespace Namespace `json:"namespace"`
	// Live is the running value as `sysctl -n` prints it; nil when the name
	// does not exist there or running values are not known.
	Live *string `json:"live,omitempty"`
	// Env is the value in the kernel's environment: what the loader passed.
	Env *string `json:"env,omitempty"`
	// Type is the kernel's word for its type: integer, unsigned long,
	// string, opaque … ("" when not known; FreeBSD's `sysctl -t`).
	Type string `json:"type,omitempty"`
	// Access says where the running kernel lets it be set; nil when not known.
	Access *Access `json:"access,omitempty"`
	// Lines set it, in the order the system reads them; the last effective
	// one of each mechanism wins.
	Lines []Line `json:"lines,omitempty"`
}

// Access says where a running kernel lets a sysctl be set.
type Access struct {
	Boot    bool `json:"boot"`    // loader tunable (`sysctl -aNT`)
	Runtime bool `json:"runtime"` // writable (`sysctl -aNW`)
	VNET    bool `json:"vnet,omitempty"`
}

// Line is one line of a file that sets something.
type Line struct {
	// File is the path on the host, without the tree's root.
	File string `json:"file"`
	// Number counts from 1; for a continued line, the first.
	Number int `json:"line"`
	// Text is the line as written, without its newline.
	Text string `json:"text"`
	// Name and Value are as the system would read them, quotes removed and
	// variables replaced.
	Name      string    `json:"name"`
	Value     string    `json:"value"`
	Mechanism Mechanism `json:"mechanism"`
	// Order counts the lines of a mechanism in the order the system reads
	// them, over all its files, from 1.
	Order int `json:"order"`
	// Effective is false when a later line of the same mechanism sets the
	// same name again, or when the system ignores the line.
	Effective bool `json:"effective"`
	// Default is true in the system's own files (/boot/defaults, /etc/defaults).
	Default bool `json:"default,omitempty"`
	// Note says what is odd about the line though it is read: an unquoted
	// value, a value that needs execution, a driver name never probed.
	Note string `json:"note,omitempty"`
}

// Setting returns a kernel setting (sysctl or loader variable) by name.
func (f *Facts) Setting(name string) (Setting, bool) { return f.find(name, Kernel) }

// RCSetting returns an rc.conf variable by name.
func (f *Facts) RCSetting(name string) (Setting, bool) { return f.find(name, RC) }

func (f *Facts) find(name string, ns Namespace) (Setting, bool) {
	i, ok := slices.BinarySearchFunc(f.Settings, name, func(s Setting, n string) int {
		return cmp.Or(cmp.Compare(s.Name, n), cmp.Compare(s.Namespace, ns))
	})
	if !ok {
		return Setting{}, false
	}
	return f.Settings[i], true
}

// LiveValue returns the running value of a sysctl.
func (f *Facts) LiveValue(name string) (string, bool) {
	s, ok := f.Setting(name)
	if !ok || s.Live == nil {
		return "", false
	}
	return *s.Live, true
}

// Value is the best knowledge of a kernel setting's value: the running one,
// else what the files say after the next boot (BootOrder).
func (f *Facts) Value(name string) (string, bool) {
	s, ok := f.Setting(name)
	if !ok {
		return "", false
	}
	if s.Live != nil {
		return *s.Live, true
	}
	if l, ok := s.FromFiles(); ok {
		return l.Value, true
	}
	return "", false
}

// RCValue is the value rc(8) sees of a variable.
func (f *Facts) RCValue(name string) (string, bool) {
	s, ok := f.RCSetting(name)
	if !ok {
		return "", false
	}
	l, ok := s.EffectiveLine(RCConf)
	return l.Value, ok
}

// RCYes reports whether rc(8) takes a variable for switched on: YES, TRUE,
// ON or 1 in any case (rc.subr, checkyesno).
func (f *Facts) RCYes(name string) bool {
	v, _ := f.RCValue(name)
	switch strings.ToLower(v) {
	case "yes", "true", "on", "1":
		return true
	}
	return false
}

// EffectiveLine returns the line of a mechanism whose value stands.
func (s Setting) EffectiveLine(m Mechanism) (Line, bool) {
	for _, l := range slices.Backward(s.Lines) {
		if l.Mechanism == m && l.Effective {
			return l, true
		}
	}
	return Line{}, false
}

// FromFiles returns the line that would stand after a boot: the effective one
// of the last mechanism that has one (BootOrder).
func (s Setting) FromFiles() (Line, bool) {
	for _, m := range slices.Backward(bootOrder) {
		if l, ok := s.EffectiveLine(m); ok {
			return l, true
		}
	}
	return Line{}, false
}

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
		return cmp.Or(cmp.Compare(a.Mechanism.stage(), b.Mechanism.stage()), cmp.Compare(a.Order, b.Order))
	})
	return lines
}

// AddLines files lines under their settings and marks which are effective:
// within a mechanism, the last one read. Lines must come in reading order.
func (f *Facts) AddLines(lines []Line) {
	at := map[settingKey]int{}
	for i, s := range f.Settings {
		at[settingKey{s.Name, s.Namespace}] = i
	}
	stands := map[standing]int{}
	for _, l := range lines {
		k := settingKey{l.Name, Kernel}
		if l.Mechanism == RCConf {
			k.ns = RC
		}
		i, ok := at[k]
		if !ok {
			i = len(f.Settings)
			at[k] = i
			f.Settings = append(f.Settings, Setting{Name: l.Name, Namespace: k.ns})
		}
		f.Settings[i].addLine(l, stands, i)
	}
}

type settingKey struct {
	name string
	ns   Namespace
}

// standing names the line of a setting that stands for a mechanism.
type standing struct {
	setting   int
	mechanism Mechanism
}

// addLine appends a line, which unseats the one that stood before it.
func (s *Setting) addLine(l Line, stands map[standing]int, i int) {
	k := standing{i, l.Mechanism}
	if l.Effective {
		last, ok := stands[k]
		if !ok {
			last = slices.IndexFunc(s.Lines, func(o Line) bool { return o.Mechanism == l.Mechanism && o.Effective })
		}
		if last >= 0 {
			s.Lines[last].Effective = false
		}
		stands[k] = len(s.Lines)
	}
	s.Lines = append(s.Lines, l)
}
