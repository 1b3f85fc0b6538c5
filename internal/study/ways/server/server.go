// Package server has the ways of setting what a study's servers have: nginx's
// directives, Postfix's parameters, and the file system below them.
package server

import (
	"cmp"
	"math"
	"strings"

	"linerate/internal/calc"
	"linerate/internal/hint"
	"linerate/internal/setting"
	"linerate/internal/study"
)

// problem is what is wrong with a line of a server's configuration.
func problem(path string, err error) *study.Problem {
	if err == nil {
		return nil
	}
	return study.Wrong(path, "%v", err).Advise("%s", hint.Of(err))
}

// NGINX sets a directive of the web server.
type NGINX struct {
	study.PlainWay
	NGINX string `yaml:"nginx,omitempty"` // a directive of the web server
}

// Needs satisfies study.Way.
func (*NGINX) Needs() study.Needs { return study.Needs{Value: true} }

// Set satisfies study.Way.
func (w *NGINX) Set(to *setting.Setting) { to.Mechanism, to.Name = setting.NGINX, w.NGINX }

// Check satisfies study.Way.
func (w *NGINX) Check(s study.Setting, path string) *study.Problem {
	return problem(path+".nginx", setting.CheckNGINX(w.NGINX, s.Value))
}

// Names satisfies study.Way.
func (w *NGINX) Names(s study.Setting) map[string]string {
	return map[string]string{"nginx:" + w.NGINX: s.Value}
}

// Postfix sets a parameter of the mail server.
type Postfix struct {
	study.PlainWay
	Postfix string `yaml:"postfix,omitempty"` // a parameter of the mail server
}

// Needs satisfies study.Way.
func (*Postfix) Needs() study.Needs { return study.Needs{Value: true} }

// Set satisfies study.Way.
func (w *Postfix) Set(to *setting.Setting) { to.Mechanism, to.Name = setting.Postfix, w.Postfix }

// Check satisfies study.Way.
func (w *Postfix) Check(s study.Setting, path string) *study.Problem {
	return problem(path+".postfix", setting.CheckPostfix(w.Postfix, s.Value))
}

// Names satisfies study.Way.
func (w *Postfix) Names(s study.Setting) map[string]string {
	return map[string]string{"postfix:" + w.Postfix: s.Value}
}

// Disk is a file system (setting.Disk).
type Disk struct {
	Type     string `yaml:"type"`
	Options  string `yaml:"options,omitempty"`
	Features string `yaml:"features,omitempty"`
	Size     string `yaml:"size,omitempty"`
}

// FileSystem sets what a server's files, or its mail, are on.
type FileSystem struct {
	study.PlainWay
	FileSystem *Disk `yaml:"filesystem,omitempty,flow"` // what the server's files, or its mail, are on
}

func (w *FileSystem) parse() (setting.Disk, error) {
	f := w.FileSystem
	d := setting.Disk{Type: f.Type, Options: f.Options, Features: f.Features, Size: setting.DefaultDiskSize}
	if f.Size != "" {
		v, err := calc.Parse(f.Size, calc.Bytes)
		if err != nil {
			return d, err
		}
		d.Size = int64(min(math.Round(v), 1<<62))
	}
	return d, d.Check()
}

// Set satisfies study.Way. A study that was read has a file system that can be had.
func (w *FileSystem) Set(to *setting.Setting) {
	d, _ := w.parse()
	to.Mechanism, to.Disk = setting.FileSystem, &d
}

// Check satisfies study.Way.
func (w *FileSystem) Check(_ study.Setting, path string) *study.Problem {
	_, err := w.parse()
	return problem(path+".filesystem", err)
}

// Names satisfies study.Way: what the file system has that the usual one has not.
func (w *FileSystem) Names(study.Setting) map[string]string {
	out, f := map[string]string{}, w.FileSystem
	if f.Type != setting.DefaultDisk().Type {
		out["filesystem"] = f.Type
	}
	if f.Size != "" {
		out["filesystem size"] = f.Size
	}
	for o := range strings.SplitSeq(f.Options, ",") {
		if name, value, _ := strings.Cut(o, "="); name != "" && name != "defaults" {
			out["mount:"+name] = cmp.Or(value, "on")
		}
	}
	for o := range strings.SplitSeq(f.Features, ",") {
		if name, off := strings.CutPrefix(o, "^"); name != "" {
			out["mkfs:"+name] = map[bool]string{true: "off", false: "on"}[off]
		}
	}
	return out
}
