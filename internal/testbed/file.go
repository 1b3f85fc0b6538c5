package testbed

import (
	"cmp"
	"time"

	"linerate/internal/yamlfile"
)

// FileVersion is the version of the file format.
const FileVersion = 1

// The kinds of testbed that a file describes, named as in studies.
const (
	KindSSH   = "ssh"   // machines reached over SSH
	KindPorts = "ports" // generator and receiver are ports on this machine
)

// The roles of hosts.
const (
	DUT       = "dut"
	Generator = "generator"
	Receiver  = "receiver"
)

// The tools that generate and count traffic.
const (
	ToolLinerate = "linerate" // this program, copied to the machine and removed
	ToolPktGen   = "pkt-gen"  // netmap's, installed on the machine
)

// File is a testbed: a device under test between a generator and a receiver.
type File struct {
	Version int    `yaml:"version"`
	Name    string `yaml:"name,omitempty"`
	Hosts   Hosts  `yaml:"hosts"`
	// Wires connect the hosts' interfaces, in the direction of the traffic: the
	// n-th wire from the generator and the n-th to the receiver form a way
	// through the DUT, and all ways are used at once; a wire from generator to
	// receiver bypasses the DUT.
	Wires []Wire `yaml:"wires"`
	// Power cycles the DUT's power: a command run on this machine if a reboot
	// does not complete. It is run without a shell.
	Power []string `yaml:"power,omitempty,flow"`
	// Services are commands that restart what reads the settings on the DUT,
	// in order, for studies with reset: services.
	Services [][]string `yaml:"services,omitempty,flow"`
	Reboot   Reboot     `yaml:"reboot,omitempty"`
	// Window is how long the DUT stays changed without a sign of life from
	// the controller (default: twice the longest trial plus five minutes).
	Window  Duration `yaml:"window,omitempty"`
	Traffic Traffic  `yaml:"traffic,omitempty"`
}

// Hosts are the machines of a testbed. If no receiver is given, it is the generator.
type Hosts struct {
	DUT       *Host `yaml:"dut,omitempty"`
	Generator *Host `yaml:"generator,omitempty"`
	Receiver  *Host `yaml:"receiver,omitempty"`
}

// Host is one machine.
type Host struct {
	// SSH is ssh://[user@]host[:port]; "" is the local machine.
	SSH string `yaml:"ssh,omitempty"`
	// Become is how scripts become root on it: sudo, doas or "" for not at all.
	Become string `yaml:"become,omitempty"`
	// Management is the interface that is never changed.
	Management string `yaml:"management,omitempty"`
	// Namespace is a network namespace (ip-netns(8)) with the host's
	// interfaces; Linux only.
	Namespace string `yaml:"namespace,omitempty"`
	// CPUs are the CPUs for generating or receiving; empty: one worker that is not pinned.
	CPUs []int `yaml:"cpus,omitempty,flow"`
}

// Wire connects two interfaces, each given as HOST/INTERFACE.
type Wire struct {
	From string `yaml:"from"`
	To   string `yaml:"to"`
	// FromIPv4 and the following are addresses with their prefix that replace
	// the interface's own.
	FromIPv4 string `yaml:"from_ipv4,omitempty"`
	FromIPv6 string `yaml:"from_ipv6,omitempty"`
	ToIPv4   string `yaml:"to_ipv4,omitempty"`
	ToIPv6   string `yaml:"to_ipv6,omitempty"`
}

// Reboot limits a reboot of the DUT.
type Reboot struct {
	// Wait is how long the DUT may take to answer after a boot (default 5m).
	Wait Duration `yaml:"wait,omitempty"`
	// Attempts is how often to try a boot; after the first by cycling the power (default 3).
	Attempts int `yaml:"attempts,omitempty"`
	// Online is a command, run on the DUT, that succeeds when it forwards.
	Online []string `yaml:"online,omitempty,flow"`
	// Rest is how long to wait after that (default 0s).
	Rest Duration `yaml:"rest,omitempty"`
}

// Traffic selects the tool that generates and counts traffic.
type Traffic struct {
	Tool string `yaml:"tool,omitempty"` // linerate or pkt-gen
	// Generate and Receive are additional arguments for pkt-gen.
	Generate []string `yaml:"generate,omitempty,flow"`
	Receive  []string `yaml:"receive,omitempty,flow"`
}

// Duration is a time.Duration in Go's notation: 90s, 5m.
type Duration time.Duration

// UnmarshalYAML reads a duration.
func (d *Duration) UnmarshalYAML(unmarshal func(any) error) error {
	var s string
	if err := unmarshal(&s); err != nil {
		return err
	}
	v, err := time.ParseDuration(s)
	*d = Duration(v)
	return err
}

// MarshalYAML writes a duration.
func (d Duration) MarshalYAML() (any, error) { return time.Duration(d).String(), nil }

// Parse parses a testbed file. Errors name file:line.
func Parse(file string, data []byte) (File, error) {
	var f File
	places, err := yamlfile.Read(file, data, yamlfile.Kind{Noun: "a testbed", Content: "hosts and wires", Version: FileVersion}, &f)
	if err != nil {
		return File{}, err
	}
	f.fill()
	if p := f.check(); p != nil {
		return File{}, places.Error(p.Path, p.What, p.Advice)
	}
	return f, nil
}

func (f *File) fill() {
	f.Version = FileVersion
	if f.Hosts.Receiver == nil {
		f.Hosts.Receiver = f.Hosts.Generator
	}
	if f.Reboot.Wait == 0 {
		f.Reboot.Wait = Duration(5 * time.Minute)
	}
	f.Reboot.Attempts = cmp.Or(f.Reboot.Attempts, 3)
	f.Traffic.Tool = cmp.Or(f.Traffic.Tool, ToolLinerate)
}

// OneOuter reports whether generator and receiver are the same machine.
func (f *File) OneOuter() bool {
	g, r := f.Hosts.Generator, f.Hosts.Receiver
	return g != nil && r != nil && g.SSH == r.SSH && g.Namespace == r.Namespace
}
