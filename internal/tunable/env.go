package tunable

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"linerate/internal/fact"
	"linerate/internal/fact/factexpr"
	"linerate/internal/fact/release"
	"linerate/internal/list"
)

// Names are what expressions of the catalogue see: the host, and the values
// of its tunables.
type Names struct {
	factexpr.Host
	Role string `expr:"role"`

	// This tunable's value and a coupled one's, as numbers, and the value as a text.
	This     float64 `expr:"this"`
	Other    float64 `expr:"other"`
	ThisText string  `expr:"this_text"`

	// Value is the number a tunable has or would have (its default where it is not set), 0
	// if not known; Text is the same as text; Known reports whether Value is known.
	Value func(name string) float64 `expr:"value"`
	Text  func(name string) string  `expr:"text"`
	Known func(name string) bool    `expr:"known"`
	// HarvestDefault is of the release.
	HarvestDefault func() float64 `expr:"harvest_default"`
	// NumberAt is the nth number (from 1) of a text with several, 0 without;
	// Vector writes whole numbers as one text, as sysctl prints tcp_mem.
	NumberAt func(text string, n int) float64 `expr:"number_at"`
	Vector   func(numbers ...any) string      `expr:"vector"`
}

// Env runs the catalogue's expressions for one host. It is a value: With
// makes another.
type Env struct{ *Names }

// language is that of the catalogue's expressions.
var language = sync.OnceValue(factexpr.NewLanguage[Names])

// NewEnv is the environment of a host with a role. c answers value() for
// tunables that are not set, by their defaults.
func (c *Catalogue) NewEnv(f *fact.Facts, role string) Env {
	e := Env{&Names{Host: factexpr.Of(f), Role: role, NumberAt: numberAt, Vector: vector}}
	e.Text = func(name string) string { return c.textOf(f, e, name) }
	e.Value = func(name string) float64 { return Number(c.textOf(f, e, name)) }
	e.Known = func(name string) bool { return c.textOf(f, e, name) != "" }
	e.HarvestDefault = func() float64 { return float64(HarvestDefault(f.Release)) }
	return e
}

// textOf is a tunable's value: running, else what the files set and the system
// takes, else its default on this release.
func (c *Catalogue) textOf(f *fact.Facts, e Env, name string) string {
	r, known := c.Lookup(f.OS, name)
	v, ok := f.ValueUnless(name, func(l fact.Line) bool { return known && r.passesOver(f.Release, l) })
	if ok && known && r.Constraints.OnlyRaise && atRuntime(f, name) {
		// The kernel refuses less than it has; where that is not known, nothing is.
		if d, computed := r.DefaultOf(name, f.Release, e); !computed || Number(v) < Number(d) {
			return d
		}
	}
	if !known || ok && r.Type != Numbers {
		return v
	}
	d, _ := r.DefaultOf(name, f.Release, e)
	if ok {
		return r.Stored(f.Release, fact.Line{Name: name, Value: v, Stage: fact.Sysctl}, d)
	}
	return d
}

// atRuntime reports a name whose value is a line's that a running FreeBSD takes.
func atRuntime(f *fact.Facts, name string) bool {
	s, _ := f.Tunable(name)
	_, set := s.EffectiveLine(fact.Sysctl)
	return s.Live == nil && set && f.OS == fact.FreeBSD
}

func vector(numbers ...any) string {
	var all []string
	for _, x := range numbers {
		all = append(all, number(math.Trunc(factexpr.Number(x))))
	}
	return strings.Join(all, " ")
}

func numberAt(text string, n int) float64 {
	parts := strings.Fields(text)
	if n < 1 || n > len(parts) {
		return 0
	}
	return Number(parts[n-1])
}

// Number reads a setting's text as expressions see it: 0 where it is no number.
func Number(s string) float64 {
	n, ok := ParseInteger(strings.TrimSpace(s))
	if !ok {
		return 0
	}
	f, _ := n.Float64()
	return f
}

// With is the environment with this tunable's value, and the value of a
// coupled one.
func (e Env) With(this, other string) Env {
	x := *e.Names
	x.This, x.ThisText = Number(this), this
	x.Other = Number(other)
	return Env{&x}
}

// Eval runs an expression.
func (e Env) Eval(code string) (any, error) { return language().Value(code, e.Names) }

// Holds runs a condition; "" always holds.
func (e Env) Holds(code string) (bool, error) { return language().Holds(code, e.Names) }

// Formula runs an expression and writes its result as `sysctl -n` would.
func (e Env) Formula(code string) (string, error) {
	v, err := e.Eval(code)
	if err != nil {
		return "", err
	}
	if f, ok := v.(float64); ok {
		return number(f), nil
	}
	return fmt.Sprint(v), nil
}

// Unknown reports whether an expression reads something of the host that is
// not known, so that its result would say nothing.
func (e Env) Unknown(code string) bool {
	return code != "" && len(e.Lacks(language().Reads(code))) > 0
}

// Lacks lists what is not known of what an expression reads: a measure of the
// host, or a tunable whose own value hangs on one.
func (e Env) Lacks(names []string, calls []factexpr.Call) []string {
	lacks := list.Filter(names, e.unmeasured)
	for _, c := range calls {
		if (c.Function == "value" || c.Function == "text") && !e.Known(c.Argument) {
			lacks = append(lacks, c.Argument)
		}
	}
	slices.Sort(lacks)
	return slices.Compact(lacks)
}

// unmeasured reports a measure of the host whose zero means "not known".
func (e Env) unmeasured(name string) bool {
	return map[string]bool{"arch": e.Arch == "", "cpus": e.CPUs == 0, "cores": e.Cores == 0, "threads_per_core": e.ThreadsPerCore == 0,
		"domains": e.Domains == 0, "memory": e.Memory == 0, "pages": e.Pages == 0,
		"kmem": e.Kmem == 0, "vm": e.Tree && e.Hypervisor == "", "hz": e.HZ == 0, "link": e.Link == 0}[name]
}

// Default is what a host has when the tunable is not set, as `sysctl -n`
// prints it: the value, or what the formula gives on this host. ok is false
// when that is not known, such as a formula over memory when the host's
// memory is not.
func (c *Catalogue) Default(r *Record, f *fact.Facts) (value string, ok bool) {
	return r.DefaultIn(f.Release, c.NewEnv(f, ""))
}

// DefaultOf is DefaultIn of one of the record's instances, which may differ:
// conf.all and conf.default of a setting of devices.
func (r *Record) DefaultOf(name string, rel release.Release, e Env) (value string, ok bool) {
	if v, ok := r.InstanceDefaults[name]; ok {
		return v, true
	}
	return r.DefaultIn(rel, e)
}

// DefaultIn is Default with an environment made before.
func (r *Record) DefaultIn(rel release.Release, e Env) (value string, ok bool) {
	s := r.At(rel)
	if s.Default != nil && s.Formula == "" {
		return *s.Default, true
	}
	if s.Formula == "" || e.Unknown(s.Formula) {
		return "", false
	}
	v, err := e.Formula(s.Formula)
	return v, err == nil
}
