// Package plan computes and checks the change set of a host.
//
// A Plan is pure data: ordered settings with before, after, reason, risk and undo, under a
// digest. Package apply carries it out; nothing here touches a host.
//
// Make computes a plan from facts, the catalogue, the needs of the host, the audit's findings
// and measured evidence; Fixes from the findings alone; Confirmed from an experiment. The same
// input gives the same plan, byte for byte. Advice is data (catalogue/plans/*.yaml) on one of
// two bases: correctness for the role, or capacity from given needs. Unmeasured advice is
// included only on request.
package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"linerate/internal/setting"
)

// Version is the version of the JSON document; see docs/reference/plan.md.
const Version = 1

// Plan is the change set of one host. Settings are in reading order; apply determines the order in
// which the kernel gets them.
type Plan struct {
	Version int `json:"version"`
	// Digest is "sha256:" and the hash of the document with an empty digest. It detects accidents
	// and edits; it is not a signature.
	Digest string `json:"digest"`
	// OS is "freebsd" or "linux".
	OS string `json:"os"`
	// Release is the output of `uname -r` on the host, such as 14.3-RELEASE-p2.
	Release string `json:"release"`
	Role    string `json:"role"`
	// Host is the host name (`uname -n`); "" matches any host.
	Host string `json:"host,omitempty"`
	// Needs are the requirements given in addition to the role, in words:
	// "link" → "10G", "states" → "5M".
	Needs map[string]string `json:"needs,omitempty"`

	// Unmet lists the needs that no setting can meet on this host, for example for lack of memory.
	Unmet []string `json:"unmet,omitempty"`

	// Unanswered lists needs that affect no setting, and unknown facts of the host, each with its
	// reason or its consequence.
	Unanswered []Unanswered `json:"unanswered,omitempty"`

	Settings []Step `json:"settings"`
	// ByHand lists settings confirmed to help that linerate has no place for: in a server's own
	// configuration, or on the path to its clients.
	ByHand    []ByHand    `json:"by_hand,omitempty"`
	LeftAlone []LeftAlone `json:"left_alone"`
	Remove    []Removal   `json:"remove"`
	// Decide lists changes that the plan does not offer: conflicting lines, and changes that would
	// cause new findings of the audit.
	Decide []Decision `json:"decide,omitempty"`
}

// Step is one change.
type Step struct {
	// Name is the system's name of the setting; for a setting of an interface it is the property
	// (mtu, gro, rx), and Device is the interface.
	Name      string            `json:"name"`
	Mechanism setting.Mechanism `json:"mechanism"`
	Device    string            `json:"device,omitempty"`
	Current   Current           `json:"current"`
	Value     string            `json:"value"`
	// Formula is the computation of Value with its numbers: "2 × 10 Gb/s × 30 ms = 75 MB".
	Formula string `json:"formula,omitempty"`
	Where   Where  `json:"where"`
	Reason  string `json:"reason"`
	Risk    string `json:"risk"`
	// ResetCost is the effect of the change on a running host: none, link-flap, service, module,
	// new, remount or reboot (package tunable).
	ResetCost string `json:"reset_cost"`
	// Undo says how to revert the change; it matters where that is not automatic.
	Undo string `json:"undo"`
	// For and Against are claims by others.
	For      []Claim  `json:"for,omitempty"`
	Against  []Claim  `json:"against,omitempty"`
	Evidence Evidence `json:"evidence"`
	// Instead lists lines of the host's own files that set the same name and should be removed.
	Instead []Removal `json:"instead,omitempty"`
}

// ID identifies a setting within its plan; it is unique there.
func (s Step) ID() string {
	if s.Device != "" {
		return fmt.Sprintf("%s %s %s", s.Mechanism, s.Device, s.Name)
	}
	return fmt.Sprintf("%s %s", s.Mechanism, s.Name)
}

// Title returns the setting's name for people.
func (s Step) Title() string {
	switch {
	case s.Device != "":
		return fmt.Sprintf("%s %s of %s", s.Mechanism, s.Name, s.Device)
	case s.Mechanism == setting.Sysctl:
		return s.Name
	}
	return fmt.Sprintf("%s %s", s.Mechanism, s.Name)
}

// Current is the state of a setting before the plan.
type Current struct {
	// Value is the running value; nil if there is none or it is unknown.
	Value *string `json:"value"`
	// Origin says where the value comes from: "default", "/etc/sysctl.conf:12".
	Origin string `json:"origin,omitempty"`
}

// text returns the value with its origin, or the words for none.
func (c Current) text(none string) string {
	if c.Value != nil {
		none = *c.Value
	}
	if c.Origin != "" {
		none += " (" + c.Origin + ")"
	}
	return none
}

// Where says what the change touches on the host.
type Where struct {
	// File is the drop-in file that makes the change persistent, or "".
	File string `json:"file,omitempty"`
	// Runtime means that the running host is changed, too.
	Runtime bool `json:"runtime"`
	// Place is where the user of an appliance must set it to make it persistent: File is not kept there.
	Place string `json:"place,omitempty"`
}

// String formats the place for people.
func (w Where) String() string {
	switch {
	case w.Place != "" && w.Runtime:
		return w.Place
	case w.Place != "":
		return w.Place + " (at the next boot)"
	case w.File != "" && w.Runtime:
		return "now, and " + w.File
	case w.File != "":
		return w.File + " (at the next boot)"
	}
	return "now, until the next boot"
}

// Claim is a statement about a setting by someone else.
type Claim struct {
	Text   string `json:"text"`
	Source string `json:"source"`
}

// Kinds of Evidence.
const (
	MeasuredHere   = "measured here"
	MeasuredOthers = "measured by others"
	Arithmetic     = "arithmetic"  // capacity computed from given needs and facts
	Correctness    = "correctness" // the role does not work correctly without it
	Unmeasured     = "unmeasured"
)

// Evidence is the justification of a setting.
type Evidence struct {
	Kind string `json:"kind"`
	// Text is the verdict or the derivation.
	Text string `json:"text,omitempty"`
	// Refs are IDs of verdicts in the ledger, or sources.
	Refs []string `json:"refs,omitempty"`
}

// ByHand is a change for the user to make.
type ByHand struct {
	Name     string   `json:"name"`
	Value    string   `json:"value"`
	Do       string   `json:"do"` // what to set, as text
	Reason   string   `json:"reason"`
	Evidence Evidence `json:"evidence"`
}

// LeftAlone is a tunable that the plan deliberately does not change.
type LeftAlone struct {
	Name   string  `json:"name"`
	Value  *string `json:"value,omitempty"` // running value
	Reason string  `json:"reason"`
}

// Unanswered is a need for which the plan has no setting, or an unknown fact, with an explanation.
type Unanswered struct {
	Need   string `json:"need"` // link, rtt, states, connections, connection_rate; memory, cpus, interfaces
	Reason string `json:"reason"`
}

// Removal is a line of the host's own files that should be removed. It is advice from a finding of
// the audit; the plan does not remove it.
type Removal struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`
	Text    string `json:"text"`
	Reason  string `json:"reason"`
	Finding string `json:"finding,omitempty"` // stable ID of the finding
	// Name is what the line sets; Word is the parameter of a command line to remove, or "" for the
	// whole line.
	Name string `json:"name,omitempty"`
	Word string `json:"word,omitempty"`

	idle  bool // the line currently has no effect
	whole bool // the line, or word, can be removed from the file by itself
}

// same reports whether both are the same line, or word, of the same file.
func (r Removal) same(o Removal) bool {
	return r.File == o.File && r.Line == o.Line && r.Text == o.Text && r.Word == o.Word
}

// Decision is a change that the user must decide about.
type Decision struct {
	Name   string `json:"name"`
	Change string `json:"change"` // as text
	Reason string `json:"reason"`
}

// Seal returns the plan with its version and digest set.
func Seal(p Plan) (Plan, error) {
	p.Version = Version
	d, err := digest(p)
	if err != nil {
		return Plan{}, err
	}
	p.Digest = d
	return p, nil
}

// Marshal encodes the plan as its canonical document: equal plans give equal bytes. Empty lists are
// [], never null.
func Marshal(p Plan) ([]byte, error) {
	p.Settings = full(p.Settings)
	p.LeftAlone = full(p.LeftAlone)
	p.Remove = full(p.Remove)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(p); err != nil {
		return nil, fmt.Errorf("write a plan: %w", err)
	}
	return b.Bytes(), nil
}

func full[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func digest(p Plan) (string, error) {
	p.Digest = ""
	doc, err := Marshal(p)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(doc)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// Short returns the first twelve digits of the digest, for reading out.
func (p Plan) Short() string {
	const prefix = len("sha256:")
	if len(p.Digest) < prefix+12 {
		return p.Digest
	}
	return p.Digest[prefix : prefix+12]
}
