package plan

import (
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"linerate/internal/role"
	"linerate/internal/tunable"
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

// document is a file of catalogue/plans.
type document struct {
	OS      string    `yaml:"os"`
	Advice  []*Advice `yaml:"advice"`
	Answers []*Answer `yaml:"answers"`
}

// FileType is the shape of a file of advice.
func FileType() reflect.Type { return reflect.TypeFor[document]() }

// Load reads plans/*.yaml of the catalogue's files and checks every record
// against the catalogue.
func Load(fsys fs.FS, c *tunable.Catalogue) (*Library, error) {
	names, err := fs.Glob(fsys, "plans/*.yaml")
	if err != nil {
		return nil, err
	}
	l := &Library{}
	for _, name := range names {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		var d document
		if err := yaml.UnmarshalWithOptions(text, &d, yaml.Strict()); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if err := l.add(path.Base(name), d, c); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return l, nil
}

// add checks a file's records and keeps them.
func (l *Library) add(file string, d document, c *tunable.Catalogue) error {
	for _, a := range d.Advice {
		a.OS, a.File = d.OS, file
		for _, a := range a.expand() {
			if err := a.check(c); err != nil {
				return fmt.Errorf("%s: %w", a.Name(), err)
			}
			l.Advice = append(l.Advice, a)
		}
	}
	for _, a := range d.Answers {
		a.OS = d.OS
		if err := a.check(); err != nil {
			return fmt.Errorf("answer to %s: %w", a.Need, err)
		}
		l.Answers = append(l.Answers, a)
	}
	return nil
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

func (a *Advice) check(c *tunable.Catalogue) error {
	switch {
	case (a.Set == "") == (a.Leave == ""):
		return fmt.Errorf("wants one of set and leave")
	case a.Reason == "":
		return fmt.Errorf("lacks its reason")
	case len(a.Roles) == 0:
		return fmt.Errorf("lacks its roles")
	case a.Set != "" && (a.Value+a.Want == "" || a.Risk == ""):
		return fmt.Errorf("sets something, and lacks its value or risk")
	case a.Set != "" && !slices.Contains([]Basis{ByRole, Capacity, OnlyAdvice}, a.Basis):
		return fmt.Errorf("its basis %q is none: correctness, capacity or unmeasured", a.Basis)
	case a.Unless != "" && a.Otherwise == "":
		return fmt.Errorf("has unless without otherwise")
	case len(a.Bounds) > 0 && a.Want == "":
		return fmt.Errorf("has bounds, and lacks what is wanted")
	case len(a.Sources) == 0:
		return fmt.Errorf("lacks its sources")
	}
	for _, r := range a.Roles {
		if err := role.Check(r); err != nil {
			return err
		}
	}
	for _, n := range a.Needs {
		if !slices.Contains(needs, n) {
			return fmt.Errorf("needs %q, which nobody can give: %s", n, strings.Join(needs, ", "))
		}
	}
	if _, ok := c.Lookup(a.OS, a.Name()); !ok {
		return fmt.Errorf("is not in the catalogue of %q", a.OS)
	}
	return a.checkExpressions()
}

func (a *Advice) checkExpressions() error {
	conditions, texts := []string{a.When, a.Unless}, []string{a.Formula, a.Reason, a.Risk, a.Undo, a.Otherwise, a.Short}
	values := []string{a.Want, a.Value, a.Each}
	for _, b := range a.Bounds {
		if b.Most == "" || b.Reason == "" {
			return fmt.Errorf("a bound lacks its number or its reason")
		}
		conditions, values = append(conditions, b.When), append(values, b.Most)
	}
	return compile(conditions, values, texts)
}

func (a *Answer) check() error {
	if !slices.Contains(needs, a.Need) || a.Text == "" {
		return fmt.Errorf("wants one of %s, and a text", strings.Join(needs, ", "))
	}
	for _, r := range a.Roles {
		if err := role.Check(r); err != nil {
			return err
		}
	}
	return compile([]string{a.When}, nil, []string{a.Text})
}

// compile checks conditions, values and texts; those that are empty are none.
func compile(conditions, values, texts []string) error {
	l := language()
	for _, code := range conditions {
		if err := l.CheckCondition(code); err != nil {
			return err
		}
	}
	for _, code := range values {
		if code == "" {
			continue
		}
		if _, err := l.Compile(code); err != nil {
			return err
		}
	}
	for _, text := range texts {
		if err := l.CheckText(text); err != nil {
			return err
		}
	}
	return nil
}
