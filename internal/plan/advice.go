package plan

import (
	"io/fs"
	"path"
	"strings"

	"linerate/internal/yamlfile"
)

// Basis is why advice may enter a plan. A measured gain is no advice.
type Basis string

// The bases of advice, spelled out because the schema reads them here: the first and the
// last are a step's Correctness and Unmeasured.
const (
	ByRole     Basis = "correctness" // the role does not work right without it
	Capacity   Basis = "capacity"    // arithmetic from needs and facts
	OnlyAdvice Basis = "unmeasured"  // advice without a measurement; only on request
)

// Advice is one record of catalogue/plans: what a tunable should be on hosts
// of some roles, when, and why. Without a Value it says why the tunable is
// left alone on purpose.
type Advice struct {
	// Set or Leave names the tunable as the catalogue does; N and IF are
	// filled in by what Each selects, {driver} by each of Drivers.
	Set   string   `yaml:"set"`
	Leave string   `yaml:"leave"`
	Roles []string `yaml:"roles"`
	Basis Basis    `yaml:"basis"`
	// Needs are inputs without which the value cannot be computed: link,
	// rtt, states, connections, connection_rate. When one is missing the plan says which.
	Needs []string `yaml:"needs"`
	// When says whether the advice is about this host at all; Unless, when
	// it holds, turns the advice into leaving it alone, for Otherwise.
	When      string `yaml:"when"`
	Unless    string `yaml:"unless"`
	Otherwise string `yaml:"otherwise"`
	// Study is the study that would measure unmeasured advice.
	Study string `yaml:"study"`
	// Unmet: where Unless holds, this host cannot meet what was asked for, and the plan
	// says so first.
	Unmet bool `yaml:"unmet"`
	// Want is an expression for the number that the needs ask for, Bounds
	// what it must not pass: expressions see the number that is left as
	// granted. Where that is less, the plan says Short among what it cannot
	// meet.
	Want   string  `yaml:"want"`
	Bounds []Bound `yaml:"bounds"`
	Short  string  `yaml:"short"`
	// Value is an expression for the value; granted where it is not given.
	// Raise: a greater one stays.
	Value string `yaml:"value"`
	Raise bool   `yaml:"raise"`
	// Each is an expression for the interfaces, or the interrupts or CPUs by
	// name, that it is about, one setting each.
	Each    string   `yaml:"each"`
	Drivers []string `yaml:"drivers"`
	// Formula is the computation filled in, for people: "${…}" is an
	// expression. Reason, Risk and Undo are texts of the same kind.
	Formula string `yaml:"formula"`
	Reason  string `yaml:"reason"`
	Risk    string `yaml:"risk"`
	Undo    string `yaml:"undo"`
	// Sources say where that was read.
	Sources []string `yaml:"sources"`

	OS   string `yaml:"-"`
	File string `yaml:"-"`
}

// Name is the tunable that the advice is about.
func (a *Advice) Name() string {
	if a.Set != "" {
		return a.Set
	}
	return a.Leave
}

// measuredBy is the verb that measures unmeasured advice.
func (a *Advice) measuredBy() string {
	if a.Study == "" {
		return "prove"
	}
	return "study run " + a.Study
}

// Bound is what a wanted number must not pass, where When holds.
type Bound struct {
	Most   string `yaml:"most"` // an expression
	When   string `yaml:"when"`
	Reason string `yaml:"reason"` // a clause: "no TCP window is larger"
}

// Answer is what a plan says of a need that no advice made a setting of.
type Answer struct {
	Need  string   `yaml:"need"`
	Roles []string `yaml:"roles"` // all when empty
	When  string   `yaml:"when"`
	Text  string   `yaml:"text"`

	OS string `yaml:"-"`
}

// Library is all advice, in the order of its files.
type Library struct{ content }

// content is what a library keeps, packed and not.
type content struct {
	Advice  []*Advice
	Answers []*Answer
}

// AdviceFile is a file of catalogue/plans.
type AdviceFile struct {
	OS      string    `yaml:"os"`
	Advice  []*Advice `yaml:"advice"`
	Answers []*Answer `yaml:"answers"`
}

// Load reads plans/*.yaml of the catalogue's files. What they hold is checked by this
// package's tests alone.
func Load(fsys fs.FS) (*Library, error) {
	files, err := yamlfile.Own[AdviceFile](fsys, "plans/*.yaml")
	l := &Library{}
	for _, f := range files {
		for _, a := range f.Doc.Advice {
			a.OS, a.File = f.Doc.OS, path.Base(f.Name)
			l.Advice = append(l.Advice, a.expand()...)
		}
		for _, a := range f.Doc.Answers {
			a.OS = f.Doc.OS
			l.Answers = append(l.Answers, a)
		}
	}
	return l, err
}

// expand is the advice, once for each of its drivers.
func (a *Advice) expand() []*Advice {
	if len(a.Drivers) == 0 {
		return []*Advice{a}
	}
	var all []*Advice
	for _, d := range a.Drivers {
		x, fill := *a, strings.NewReplacer("{driver}", d)
		x.Set, x.Leave, x.Each = fill.Replace(a.Set), fill.Replace(a.Leave), fill.Replace(a.Each)
		all = append(all, &x)
	}
	return all
}

// needs are the inputs that advice may ask for.
var needs = []string{"link", "rtt", "states", "connections", "connection_rate"}
