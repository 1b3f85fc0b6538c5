// Package kernel has the ways of setting what a kernel itself keeps: nodes of sysctl,
// properties of interfaces, the CPUs of an ingress, and what a command sets.
package kernel

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/setting"
	"linerate/internal/study"
)

// Sysctl sets a node of the sysctl tree.
type Sysctl struct {
	study.PlainWay
	Sysctl string `yaml:"sysctl,omitempty"`
}

// SysctlTo is a setting of a sysctl.
func SysctlTo(name, value string) study.Setting {
	return study.Setting{Own: &Sysctl{Sysctl: name}, Value: value}
}

// Needs satisfies study.Way.
func (*Sysctl) Needs() study.Needs { return study.Needs{Value: true} }

// Set satisfies study.Way.
func (w *Sysctl) Set(to *setting.Setting) { to.Mechanism, to.Name = setting.Sysctl, w.Sysctl }

var bedPort = regexp.MustCompile(`\.(dut|gen|sink|rcv)[0-9]+\.`)

// Names satisfies study.Way: the sysctl as the catalogue writes it, with dots, and IF
// for a port of the testbed.
func (w *Sysctl) Names(s study.Setting) map[string]string {
	return map[string]string{bedPort.ReplaceAllString(strings.ReplaceAll(w.Sysctl, "/", "."), ".IF."): s.Value}
}

// Link sets a property or an offload of an interface.
type Link struct {
	study.PlainWay
	Link string `yaml:"link,omitempty"`
}

// LinkTo is a setting of an interface's property or offload.
func LinkTo(device, name, value string) study.Setting {
	return study.Setting{Own: &Link{Link: name}, Device: device, Value: value}
}

// Needs satisfies study.Way.
func (*Link) Needs() study.Needs { return study.Needs{Value: true, Device: true} }

// Set satisfies study.Way.
func (w *Link) Set(to *setting.Setting) { to.Mechanism, to.Name = setting.Link, w.Link }

// Names satisfies study.Way.
func (w *Link) Names(s study.Setting) map[string]string {
	return map[string]string{"link " + w.Link: s.Value}
}

// NAPI sets how Linux polls an interface.
type NAPI struct {
	study.PlainWay
	NAPI string `yaml:"napi,omitempty"`
}

// Needs satisfies study.Way.
func (*NAPI) Needs() study.Needs { return study.Needs{Value: true, Device: true} }

// Set satisfies study.Way.
func (w *NAPI) Set(to *setting.Setting) { to.Mechanism, to.Name = setting.NAPI, w.NAPI }

// Check satisfies study.Way.
func (w *NAPI) Check(_ study.Setting, path string) *study.Problem {
	if slices.Contains(setting.NAPINames, w.NAPI) {
		return nil
	}
	return study.OneOf(path+".napi", w.NAPI, setting.NAPINames...)
}

// Names satisfies study.Way.
func (w *NAPI) Names(s study.Setting) map[string]string {
	return map[string]string{"napi " + w.NAPI: s.Value}
}

// maxCPUs is more than any machine's.
const maxCPUs = 1024

// CPUs spreads the work of the ingress over CPUs.
type CPUs struct {
	study.PlainWay
	// CPUs are what the work of the ingress is spread over.
	CPUs int `yaml:"cpus,omitempty"`
}

// Set satisfies study.Way.
func (w *CPUs) Set(to *setting.Setting) {
	to.Mechanism, to.Value = setting.CPUs, strconv.Itoa(w.CPUs)
}

// Check satisfies study.Way.
func (w *CPUs) Check(_ study.Setting, path string) *study.Problem {
	return study.Within(path+".cpus", w.CPUs, 1, maxCPUs)
}

// Names satisfies study.Way.
func (w *CPUs) Names(study.Setting) map[string]string {
	return map[string]string{"cpus": strconv.Itoa(w.CPUs)}
}

// Command runs a command on the DUT, never through a shell.
type Command struct {
	study.PlainWay
	Command []string `yaml:"command,omitempty,flow"`
	Undo    []string `yaml:"undo,omitempty,flow" after:"value"` // takes a command back
}

// Set satisfies study.Way.
func (w *Command) Set(to *setting.Setting) {
	to.Mechanism, to.Argv, to.Undo = setting.Command, w.Command, w.Undo
}

// Check satisfies study.Way.
func (w *Command) Check(_ study.Setting, path string) *study.Problem {
	if len(w.Command) == 0 {
		return study.Wrong(path+".command", "the command is empty").Advise("write command: [PROGRAM, ARGUMENT, …]")
	}
	return nil
}

// Names satisfies study.Way.
func (w *Command) Names(study.Setting) map[string]string {
	return map[string]string{"command": fmt.Sprint(w.Command)}
}
