// Package machine has the ways of setting what only a machine of its own has: files,
// what rc and the loader read, and what is booted.
package machine

import (
	"linerate/internal/setting"
	"linerate/internal/study"
)

// Files lays a configuration set over the DUT's root.
type Files struct {
	study.PlainWay
	Files string `yaml:"files,omitempty"` // a configuration set: a directory beside the study, laid over the DUT's root
}

// Needs satisfies study.Way.
func (*Files) Needs() study.Needs { return study.Needs{Machines: true} }

// Set satisfies study.Way.
func (w *Files) Set(to *setting.Setting) { to.Mechanism, to.Name = setting.Files, w.Files }

// RC sets a variable of rc.conf.
type RC struct {
	study.PlainWay
	RC string `yaml:"rc,omitempty"` // a variable of rc.conf
}

// Needs satisfies study.Way.
func (*RC) Needs() study.Needs { return study.Needs{Value: true, Machines: true} }

// Set satisfies study.Way.
func (w *RC) Set(to *setting.Setting) { to.Mechanism, to.Name = setting.RC, w.RC }

// Names satisfies study.Way.
func (w *RC) Names(s study.Setting) map[string]string { return map[string]string{w.RC: s.Value} }

// Loader sets a variable of loader.conf.
type Loader struct {
	study.PlainWay
	Loader string `yaml:"loader,omitempty"` // a variable of loader.conf
}

// Needs satisfies study.Way.
func (*Loader) Needs() study.Needs {
	return study.Needs{Value: true, Machines: true, Boot: "a loader variable is read by a boot"}
}

// Set satisfies study.Way.
func (w *Loader) Set(to *setting.Setting) { to.Mechanism, to.Name = setting.Loader, w.Loader }

// Names satisfies study.Way.
func (w *Loader) Names(s study.Setting) map[string]string {
	return map[string]string{w.Loader: s.Value}
}

// Image boots something else, once.
type Image struct {
	study.PlainWay
	Image string `yaml:"image,omitempty"` // booted once: a boot environment, a kernel, an entry of GRUB's
}

// Needs satisfies study.Way.
func (*Image) Needs() study.Needs { return study.Needs{Machines: true, Boot: "an image is booted"} }

// Set satisfies study.Way.
func (w *Image) Set(to *setting.Setting) { to.Mechanism, to.Name = setting.Image, w.Image }
