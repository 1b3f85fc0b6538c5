// Package planner computes what a host is to be changed to for its role: from
// its facts, the catalogue, what its admin says it must carry, the audit's
// findings and what was measured. It is pure; the same input makes the same
// plan, to the byte.
//
// What may enter a plan is data (catalogue/plans/*.yaml) of two kinds, and
// measured evidence: correctness for the role, capacity computed from stated
// needs and measured facts, and a verdict that fits this hardware and role.
// Nothing else, unless the caller includes what is unmeasured.
package planner

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"linerate/internal/role"
	"linerate/internal/tunable"
)

// Basis is why advice may enter a plan.
type Basis string

// The bases of advice. Benefit comes from evidence alone, never from here.
const (
	Correctness Basis = "correctness" // the role does not work right without it
	Capacity    Basis = "capacity"    // arithmetic from needs and facts
	Unmeasured  Basis = "unmeasured"  // somebody's advice; only when asked for
)

// Advice is one record of catalogue/plans: what a tunable should be on hosts
// of some roles, when, and why. Without a Value it says why the tunable is
// left alone on purpose.
type Advice struct {
	// Set or Leave names the tunable as the catalogue does; N and IF are
	// filled in by the devices that Each selects.
	Set   string   `yaml:"set"`
	Leave string   `yaml:"leave"`
	Roles []string `yaml:"roles"`
	Basis Basis    `yaml:"basis"`
	// Needs are inputs without which the value cannot be computed: link,
	// rtt, states, connections. When one is missing the plan says which.
	Needs []string `yaml:"needs"`
	// When says whether the advice is about this host at all; Unless, when
	// it holds, turns the advice into leaving it alone, for Otherwise.
	When      string `yaml:"when"`
	Unless    string `yaml:"unless"`
	Otherwise string `yaml:"otherwise"`
	// Unmet: where Unless holds, this host cannot be what was asked for, and
	// the plan says so before all else.
	Unmet bool `yaml:"unmet"`
	// Value is an expression for the value. Raise: a greater one stays.
	Value string `yaml:"value"`
	Raise bool   `yaml:"raise"`
	// Each is an expression for the interfaces it is about, one setting
	// each; the tunable's property is then set on that interface.
	Each string `yaml:"each"`
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

// Library is all advice, in the order of its files.
type Library struct{ advice []*Advice }

// document is a file of catalogue/plans.
type document struct {
	OS     string    `yaml:"os"`
	Advice []*Advice `yaml:"advice"`
}

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
		for _, a := range d.Advice {
			a.OS, a.File = d.OS, path.Base(name)
			if err := a.check(c); err != nil {
				return nil, fmt.Errorf("%s: %s: %w", name, a.Name(), err)
			}
		}
		l.advice = append(l.advice, d.Advice...)
	}
	return l, nil
}

// needs are the inputs that advice may ask for.
var needs = []string{"link", "rtt", "states", "connections"}

func (a *Advice) check(c *tunable.Catalogue) error {
	switch {
	case (a.Set == "") == (a.Leave == ""):
		return fmt.Errorf("wants one of set and leave")
	case a.Reason == "":
		return fmt.Errorf("lacks its reason")
	case len(a.Roles) == 0:
		return fmt.Errorf("lacks its roles")
	case a.Set != "" && (a.Value == "" || a.Risk == ""):
		return fmt.Errorf("sets something, and lacks its value or risk")
	case a.Set != "" && !slices.Contains([]Basis{Correctness, Capacity, Unmeasured}, a.Basis):
		return fmt.Errorf("its basis %q is none: correctness, capacity or unmeasured", a.Basis)
	case a.Unless != "" && a.Otherwise == "":
		return fmt.Errorf("has unless without otherwise")
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
	l := language()
	for _, code := range []string{a.When, a.Unless} {
		if err := l.CheckCondition(code); err != nil {
			return err
		}
	}
	for _, code := range []string{a.Value, a.Each} {
		if code == "" {
			continue
		}
		if _, err := l.Compile(code); err != nil {
			return err
		}
	}
	for _, text := range []string{a.Formula, a.Reason, a.Risk, a.Undo, a.Otherwise} {
		if err := l.CheckText(text); err != nil {
			return err
		}
	}
	return nil
}
