package plan

import (
	"io/fs"
	"path"
	"strings"

	"linerate/internal/yamlfile"
)

// Basis is the reason why advice may enter a plan. A measured gain is not advice.
type Basis string

// The bases of advice. They are spelled out because the schema is generated from them; the first
// and last equal the evidence kinds Correctness and Unmeasured.
const (
	ByRole     Basis = "correctness" // the role does not work correctly without it
	Capacity   Basis = "capacity"    // computed from needs and facts
	OnlyAdvice Basis = "unmeasured"  // not measured; included only on request
)

// Advice is one record of catalogue/plans: the value that a tunable should have on hosts of some
// roles, when, and why. Without Value it says why the tunable is deliberately left alone.
type Advice struct {
	// Set or Leave is the tunable's name in the catalogue; N and IF stand for what Each selects,
	// {driver} for each of Drivers.
	Set   string   `yaml:"set" cbor:",omitzero"`
	Leave string   `yaml:"leave" cbor:",omitzero"`
	Roles []string `yaml:"roles" cbor:",omitzero"`
	Basis Basis    `yaml:"basis" cbor:",omitzero"`
	// Needs lists the inputs required to compute the value: link, rtt, states, connections,
	// connection_rate. If one is missing, the plan names it.
	Needs []string `yaml:"needs" cbor:",omitzero"`
	// When says whether the advice applies to the host. Where Unless holds, the tunable is left
	// alone instead, with the text Otherwise.
	When      string `yaml:"when" cbor:",omitzero"`
	Unless    string `yaml:"unless" cbor:",omitzero"`
	Otherwise string `yaml:"otherwise" cbor:",omitzero"`
	// Study names the study that would measure unmeasured advice.
	Study string `yaml:"study" cbor:",omitzero"`
	// Unmet means that where Unless holds, this host cannot meet the needs; the plan reports that
	// first.
	Unmet bool `yaml:"unmet" cbor:",omitzero"`
	// Want is an expression for the number that the needs require, Bounds its upper limits.
	// Expressions see the limited number as granted. If it is less than Want, the plan reports
	// Short among the unmet needs.
	Want   string  `yaml:"want" cbor:",omitzero"`
	Bounds []Bound `yaml:"bounds" cbor:",omitzero"`
	Short  string  `yaml:"short" cbor:",omitzero"`
	// Value is an expression for the value; the default is granted. Raise means that a greater
	// current value is kept.
	Value string `yaml:"value" cbor:",omitzero"`
	Raise bool   `yaml:"raise" cbor:",omitzero"`
	// Each is an expression for the interfaces, interrupts or CPUs that the advice applies to, with
	// one setting for each.
	Each    string   `yaml:"each" cbor:",omitzero"`
	Drivers []string `yaml:"drivers" cbor:",omitzero"`
	// Formula is the computation with its numbers, for people: "${…}" is an expression. Reason,
	// Risk and Undo are templates of the same kind.
	Formula string `yaml:"formula" cbor:",omitzero"`
	Reason  string `yaml:"reason" cbor:",omitzero"`
	Risk    string `yaml:"risk" cbor:",omitzero"`
	Undo    string `yaml:"undo" cbor:",omitzero"`
	// Sources lists where the advice comes from.
	Sources []string `yaml:"sources" cbor:",omitzero"`

	OS   string `yaml:"-" cbor:",omitzero"`
	File string `yaml:"-" cbor:",omitzero"`
}

// Name returns the tunable that the advice is about.
func (a *Advice) Name() string {
	if a.Set != "" {
		return a.Set
	}
	return a.Leave
}

// measuredBy returns the verb that measures unmeasured advice.
func (a *Advice) measuredBy() string {
	if a.Study == "" {
		return "prove"
	}
	return "study run " + a.Study
}

// Bound is an upper limit of a wanted number; it applies where When holds.
type Bound struct {
	Most   string `yaml:"most" cbor:",omitzero"` // an expression
	When   string `yaml:"when" cbor:",omitzero"`
	Reason string `yaml:"reason" cbor:",omitzero"` // a clause: "no TCP window is larger"
}

// Answer is the plan's reply to a need for which no advice produced a setting.
type Answer struct {
	Need  string   `yaml:"need" cbor:",omitzero"`
	Roles []string `yaml:"roles" cbor:",omitzero"` // all if empty
	When  string   `yaml:"when" cbor:",omitzero"`
	Text  string   `yaml:"text" cbor:",omitzero"`

	OS string `yaml:"-" cbor:",omitzero"`
}

// Library holds all advice, in file order.
type Library struct{ content }

// content is the part of a library that is packed.
type content struct {
	Advice  []*Advice
	Answers []*Answer
}

// AdviceFile is a file of catalogue/plans.
type AdviceFile struct {
	OS      string    `yaml:"os" cbor:",omitzero"`
	Advice  []*Advice `yaml:"advice" cbor:",omitzero"`
	Answers []*Answer `yaml:"answers" cbor:",omitzero"`
}

// Load reads plans/*.yaml of the catalogue. Only this package's tests validate their content.
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

// expand returns one copy of the advice for each of its drivers.
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

// needs lists the inputs that advice may require.
var needs = []string{"link", "rtt", "states", "connections", "connection_rate"}
