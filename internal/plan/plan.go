// Package plan holds the change set of a host: the value, its making and its check.
//
// A Plan is pure data: ordered settings with before, after, reason, risk and undo, under a
// digest. Package apply carries it out; nothing here touches a host.
//
// Make computes one from facts, the catalogue, what the host must carry, the audit's findings
// and measured evidence; Fixes from the findings alone; Confirmed from an experiment. The same
// input makes the same plan, to the byte. Advice is data (catalogue/plans/*.yaml) on one of two
// bases, correctness for the role or capacity from stated needs; unmeasured advice enters only
// on request.
package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"linerate/internal/setting"
)

// Version is the version of the JSON document, docs/reference/plan.md.
const Version = 1

// Plan is the change of one host. Its settings are in the order in which they
// are to be read by people; apply finds the order in which a kernel takes them.
type Plan struct {
	Version int `json:"version"`
	// Digest is "sha256:" and the hash of the document with an empty digest.
	// It tells an accident or an edit, not a forger: it is no signature.
	Digest string `json:"digest"`
	// OS is "freebsd" or "linux".
	OS string `json:"os"`
	// Release is what `uname -r` says on the host: 14.3-RELEASE-p2.
	Release string `json:"release"`
	Role    string `json:"role"`
	// Host is the host's own name (`uname -n`); "" fits any host.
	Host string `json:"host,omitempty"`
	// Needs are the requirements given in addition to the role, in words:
	// "link" → "10G", "states" → "5M".
	Needs map[string]string `json:"needs,omitempty"`

	// Unmet are the needs that no setting can meet on this host, in words: more memory than
	// it has.
	Unmet []string `json:"unmet,omitempty"`

	// Unanswered are needs from which nothing is computed, each with its reason, and
	// unknown facts of the host, with what could not be checked against them.
	Unanswered []Unanswered `json:"unanswered,omitempty"`

	Settings []Step `json:"settings"`
	// ByHand is what was confirmed to help and linerate has no place to set: of a
	// server's own configuration, or of the path to its clients.
	ByHand    []ByHand    `json:"by_hand,omitempty"`
	LeftAlone []LeftAlone `json:"left_alone"`
	Remove    []Removal   `json:"remove"`
	// Decide are changes that are not offered: lines that disagree, and changes after
	// which the audit would have something new to say.
	Decide []Decision `json:"decide,omitempty"`
}

// Step is one thing to change.
type Step struct {
	// Name is as the system spells it; of an interface's settings it is the
	// property (mtu, gro, rx) and Device the interface.
	Name      string            `json:"name"`
	Mechanism setting.Mechanism `json:"mechanism"`
	Device    string            `json:"device,omitempty"`
	Current   Current           `json:"current"`
	Value     string            `json:"value"`
	// Formula is how Value came about, filled in: "2 × 10 Gb/s × 30 ms = 75 MB".
	Formula string `json:"formula,omitempty"`
	Where   Where  `json:"where"`
	Reason  string `json:"reason"`
	Risk    string `json:"risk"`
	// ResetCost is what the change costs a running host: none, link-flap,
	// service, module, new, remount or reboot (package tunable).
	ResetCost string `json:"reset_cost"`
	// Undo says how it is taken back: in words where it is not automatic.
	Undo string `json:"undo"`
	// For and Against are what others say of it.
	For      []Claim  `json:"for,omitempty"`
	Against  []Claim  `json:"against,omitempty"`
	Evidence Evidence `json:"evidence"`
	// Instead are lines of the host's own files that set the same name, and
	// are better gone.
	Instead []Removal `json:"instead,omitempty"`
}

// ID names a setting within its plan: two settings of one plan never share it.
func (s Step) ID() string {
	if s.Device != "" {
		return fmt.Sprintf("%s %s %s", s.Mechanism, s.Device, s.Name)
	}
	return fmt.Sprintf("%s %s", s.Mechanism, s.Name)
}

// Title is the setting's name for people.
func (s Step) Title() string {
	switch {
	case s.Device != "":
		return fmt.Sprintf("%s %s of %s", s.Mechanism, s.Name, s.Device)
	case s.Mechanism == setting.Sysctl:
		return s.Name
	}
	return fmt.Sprintf("%s %s", s.Mechanism, s.Name)
}

// Current is a setting as the planner found it.
type Current struct {
	// Value is the running value; nil when there is none, or it was not known.
	Value *string `json:"value"`
	// Origin says where it comes from: "default", "/etc/sysctl.conf:12".
	Origin string `json:"origin,omitempty"`
}

// Where says what of the host changes.
type Where struct {
	// File is the drop-in file that makes it last, "" when nothing does.
	File string `json:"file,omitempty"`
	// Runtime is set when the running host is changed too.
	Runtime bool `json:"runtime"`
	// Place is where an appliance's user sets it so that it lasts: File does not last there.
	Place string `json:"place,omitempty"`
}

// String is the place, for people.
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

// Claim is what somebody says of a setting.
type Claim struct {
	Text   string `json:"text"`
	Source string `json:"source"`
}

// Kinds of Evidence.
const (
	MeasuredHere   = "measured here"
	MeasuredOthers = "measured by others"
	Arithmetic     = "arithmetic"  // capacity from stated needs and measured facts
	Correctness    = "correctness" // the role does not work right without it
	Unmeasured     = "unmeasured"
)

// Evidence says why the setting may be believed in.
type Evidence struct {
	Kind string `json:"kind"`
	// Text is the verdict or the derivation in words.
	Text string `json:"text,omitempty"`
	// Refs are ids of verdicts in the ledger, or sources.
	Refs []string `json:"refs,omitempty"`
}

// ByHand is a change that the reader makes.
type ByHand struct {
	Name     string   `json:"name"`
	Value    string   `json:"value"`
	Do       string   `json:"do"` // what to set, in words
	Reason   string   `json:"reason"`
	Evidence Evidence `json:"evidence"`
}

// LeftAlone is a tunable that the plan leaves as it is, on purpose.
type LeftAlone struct {
	Name   string  `json:"name"`
	Value  *string `json:"value,omitempty"` // its running value
	Reason string  `json:"reason"`
}

// Unanswered is a need that the plan has no setting for, or a fact that it lacks,
// and why.
type Unanswered struct {
	Need   string `json:"need"` // link, rtt, states, connections, connection_rate; memory, cpus, interfaces
	Reason string `json:"reason"`
}

// Removal is a line of the host's own files that is better gone. Nothing here
// removes it: it is advice, as a finding of the audit gave it.
type Removal struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`
	Text    string `json:"text"`
	Reason  string `json:"reason"`
	Finding string `json:"finding,omitempty"` // the finding's stable id
	// Name is what the line sets; Word is the word of a command line that goes, "" for
	// the whole line.
	Name string `json:"name,omitempty"`
	Word string `json:"word,omitempty"`

	idle  bool // the line sets nothing now
	whole bool // the line, or word, can be cut out of the file's text by itself
}

// same reports the same line, or word, of the same file.
func (r Removal) same(o Removal) bool {
	return r.File == o.File && r.Line == o.Line && r.Text == o.Text && r.Word == o.Word
}

// Decision is a change that a person has to decide about.
type Decision struct {
	Name   string `json:"name"`
	Change string `json:"change"` // in words
	Reason string `json:"reason"`
}

// Seal returns the plan with its version and digest filled in.
func Seal(p Plan) (Plan, error) {
	p.Version = Version
	d, err := digest(p)
	if err != nil {
		return Plan{}, err
	}
	p.Digest = d
	return p, nil
}

// Marshal is the plan as its canonical document: the same plan is the same
// bytes, always. Lists that are empty are [] and never null.
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

// Short is the digest as people read it out: its first twelve digits.
func (p Plan) Short() string {
	const prefix = len("sha256:")
	if len(p.Digest) < prefix+12 {
		return p.Digest
	}
	return p.Digest[prefix : prefix+12]
}
