package study

import "linerate/internal/setting"

// Setting is one thing a variant sets. Exactly one of its keys before value names the
// way in which; the others complete it.
type Setting struct {
	// Own is the way, of a setting that was checked never nil.
	Own    Way    `yaml:"-"`
	Value  string `yaml:"value,omitempty"`
	Device string `yaml:"device,omitempty"` // "ingress" or "egress"; of a live host an interface
	Scope  string `yaml:"scope,omitempty"`  // "host" or nothing

	// Others are ways of which the file has keys beside Own's: a wrong setting has some.
	Others []any `yaml:"-"`
}

// Way is a kind of setting: a pointer to a struct of the keys (yaml) that it adds to a
// setting's, the one that names it first. The packages below study/ways have them, and
// package kinds makes them known. A way embeds PlainWay.
type Way interface {
	// Needs says what a setting of the way must have beside its own keys.
	Needs() Needs
	// Set completes what the testbed is to set; the value and the device are there.
	Set(to *setting.Setting)
	// Check refuses what is wrong with a setting of the way, at its path.
	Check(s Setting, path string) *Problem
	// Names are what a setting of the way sets, by the names that evidence has, with
	// the values.
	Names(s Setting) map[string]string
}

// Needs are what a setting must have, and what it needs of its testbed.
type Needs struct {
	// Value: it has one; no other setting has.
	Value bool
	// Device: it has one; MayDevice: it may.
	Device, MayDevice bool
	// Machines: only testbeds of machines can set it.
	Machines bool
	// Boot is why it needs a boot of the DUT; "": it needs none.
	Boot string
}

// PlainWay is a way that needs nothing and whose settings are never wrong: to be embedded.
type PlainWay struct{}

// Needs satisfies Way: nothing.
func (PlainWay) Needs() Needs { return Needs{} }

// Check satisfies Way: nothing is wrong.
func (PlainWay) Check(Setting, string) *Problem { return nil }

// Names satisfies Way: the mechanism, with the setting on one line.
func (PlainWay) Names(s Setting) map[string]string {
	set := s.Setting()
	return map[string]string{string(set.Mechanism): set.String()}
}
