package testbed

import (
	"cmp"
	"time"

	"linerate/internal/yamlfile"
)

// FileVersion of the file's format.
const FileVersion = 1

// The kinds of testbed that a file describes, as a study names them.
const (
	KindSSH   = "ssh"   // machines reached over SSH
	KindPorts = "ports" // generator and receiver are ports of this machine
)

// The roles of hosts.
const (
	DUT       = "dut"
	Generator = "generator"
	Receiver  = "receiver"
)

// The tools that make and count traffic.
const (
	ToolLinerate = "linerate" // this program, copied there and removed
	ToolPktGen   = "pkt-gen"  // netmap's, installed there
)

// File is a testbed: a device under test between a generator and a receiver.
type File struct {
	Version int    `yaml:"version"`
	Name    string `yaml:"name,omitempty"`
	Hosts   Hosts  `yaml:"hosts"`
	// Wires join the hosts' interfaces, in the direction of the traffic: the
	// n-th from the generator and the n-th to the receiver are a way through the
	// DUT, and all ways are used at once; one from generator to receiver passes
	// it by.
	Wires []Wire `yaml:"wires"`
	// Power turns the DUT off and on: a command run on this machine when a
	// reboot does not end. Its words are never seen by a shell.
	Power []string `yaml:"power,omitempty,flow"`
	// Services restart what reads the settings on the DUT, in order, for
	// studies with reset: services.
	Services [][]string `yaml:"services,omitempty,flow"`
	Reboot   Reboot     `yaml:"reboot,omitempty"`
	// Window is how long the DUT stays changed when nothing is heard of the
	// controller (the longest trial twice, and five minutes).
	Window  Duration `yaml:"window,omitempty"`
	Traffic Traffic  `yaml:"traffic,omitempty"`
}

// Hosts of a testbed. A receiver that is not given is the generator.
type Hosts struct {
	DUT       *Host `yaml:"dut,omitempty"`
	Generator *Host `yaml:"generator,omitempty"`
	Receiver  *Host `yaml:"receiver,omitempty"`
}

// Host is one machine.
type Host struct {
	// SSH is ssh://[user@]host[:port]; "" is this machine.
	SSH string `yaml:"ssh,omitempty"`
	// Become is how scripts become root there: sudo, doas or not at all.
	Become string `yaml:"become,omitempty"`
	// Management is the interface that is never touched.
	Management string `yaml:"management,omitempty"`
	// Namespace is a network namespace (ip-netns(8)) that holds the host's
	// interfaces; Linux only.
	Namespace string `yaml:"namespace,omitempty"`
	// CPUs that generate or receive; none: one worker that is not pinned.
	CPUs []int `yaml:"cpus,omitempty,flow"`
}

// Wire joins two interfaces, each HOST/INTERFACE.
type Wire struct {
	From string `yaml:"from"`
	To   string `yaml:"to"`
	// FromIPv4 … are addresses with their prefix, where the interface's own
	// are not to be used.
	FromIPv4 string `yaml:"from_ipv4,omitempty"`
	FromIPv6 string `yaml:"from_ipv6,omitempty"`
	ToIPv4   string `yaml:"to_ipv4,omitempty"`
	ToIPv6   string `yaml:"to_ipv6,omitempty"`
}

// Reboot says what a reboot of the DUT may take.
type Reboot struct {
	// Wait is how long the DUT may take to answer after a boot (5m).
	Wait Duration `yaml:"wait,omitempty"`
	// Attempts is how often a boot is tried, by power after the first (3).
	Attempts int `yaml:"attempts,omitempty"`
	// Online is a command run on the DUT that succeeds when it forwards.
	Online []string `yaml:"online,omitempty,flow"`
	// Rest is how long to leave the DUT alone after that (0s).
	Rest Duration `yaml:"rest,omitempty"`
}

// Traffic says what makes and counts the traffic.
type Traffic struct {
	Tool string `yaml:"tool,omitempty"` // linerate or pkt-gen
	// Generate and Receive add to pkt-gen's own arguments.
	Generate []string `yaml:"generate,omitempty,flow"`
	Receive  []string `yaml:"receive,omitempty,flow"`
}

// Duration is a time.Duration as Go writes it: 90s, 5m.
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

// MarshalYAML writes it back.
func (d Duration) MarshalYAML() (any, error) { return time.Duration(d).String(), nil }

// Parse reads a testbed file. Errors name file:line.
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

// OneOuter reports whether generator and receiver are one machine.
func (f *File) OneOuter() bool {
	g, r := f.Hosts.Generator, f.Hosts.Receiver
	return g != nil && r != nil && g.SSH == r.SSH && g.Namespace == r.Namespace
}
