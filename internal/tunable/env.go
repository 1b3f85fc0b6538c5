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

// Names are the variables and functions of the catalogue's expressions: the host, and the values of
// its tunables.
type Names struct {
	factexpr.Host
	Role string `expr:"role"`

	// This is the tunable's own value, Other that of a coupled one, as numbers; ThisText is the value as text.
	This     float64 `expr:"this"`
	Other    float64 `expr:"other"`
	ThisText string  `expr:"this_text"`

	// Value returns a tunable's number (its default if it is not set), or 0 if unknown; Text
	// returns it as text; Known reports whether it is known.
	Value func(name string) float64 `expr:"value"`
	Text  func(name string) string  `expr:"text"`
	Known func(name string) bool    `expr:"known"`
	// HarvestDefault returns the default mask of the release.
	HarvestDefault func() float64 `expr:"harvest_default"`
	// NumberAt returns the nth number (from 1) of a text with several, or 0; Vector formats
	// integers as one text, as sysctl prints tcp_mem.
	NumberAt func(text string, n int) float64 `expr:"number_at"`
	Vector   func(numbers ...any) string      `expr:"vector"`
}

// Env evaluates the catalogue's expressions for one host. It is immutable: With returns a new one.
type Env struct{ *Names }

// language is the catalogue's expression language.
var language = sync.OnceValue(factexpr.NewLanguage[Names])

// NewEnv returns the environment of a host with a role. For tunables that are not set, value()
// returns the defaults of c.
func (c *Catalogue) NewEnv(f *fact.Facts, role string) Env {
	e := Env{&Names{Host: factexpr.Of(f), Role: role, NumberAt: numberAt, Vector: vector}}
	e.Text = func(name string) string { return c.textOf(f, e, name) }
	e.Value = func(name string) float64 { return Number(c.textOf(f, e, name)) }
	e.Known = func(name string) bool { return c.textOf(f, e, name) != "" }
	e.HarvestDefault = func() float64 { return float64(HarvestDefault(f.Release)) }
	return e
}

// textOf returns a tunable's value: the running one, else the one that files set and the system
// accepts, else the release's default.
func (c *Catalogue) textOf(f *fact.Facts, e Env, name string) string {
	r, known := c.Lookup(f.OS, name)
	v, ok := f.ValueUnless(name, func(l fact.Line) bool { return known && r.passesOver(f.Release, l) })
	if ok && known && r.Constraints.OnlyRaise && atRuntime(f, name) {
		// The kernel refuses a value below the current one; if that is unknown, so is the result.
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

// atRuntime reports a name whose value comes from a line that FreeBSD applies at run time.
func atRuntime(f *fact.Facts, name string) bool {
	s, _ := f.Tunable(name)
	_, set := s.EffectiveLine(fact.Sysctl)
	return s.Live == nil && set && f.OS == fact.FreeBSD
}

func vector(numbers ...any) string {
	all := list.Map(numbers, func(x any) string { return number(math.Trunc(factexpr.Number(x))) })
	return strings.Join(all, " ")
}

func numberAt(text string, n int) float64 {
	parts := strings.Fields(text)
	if n < 1 || n > len(parts) {
		return 0
	}
	return Number(parts[n-1])
}

// Number returns a setting's text as a number, or 0 if it is not a number.
func Number(s string) float64 {
	n, ok := ParseInteger(strings.TrimSpace(s))
	if !ok {
		return 0
	}
	f, _ := n.Float64()
	return f
}

// With returns the environment with this tunable's value, and the value of a coupled one.
func (e Env) With(this, other string) Env {
	x := *e.Names
	x.This, x.ThisText = Number(this), this
	x.Other = Number(other)
	return Env{&x}
}

// Eval evaluates an expression.
func (e Env) Eval(code string) (any, error) { return language().Value(code, e.Names) }

// Holds evaluates a condition; "" is true.
func (e Env) Holds(code string) (bool, error) { return language().Holds(code, e.Names) }

// Formula evaluates an expression and formats the result like `sysctl -n`.
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

// Unknown reports whether an expression depends on unknown facts of the host, so that its result
// would be meaningless.
func (e Env) Unknown(code string) bool {
	return code != "" && len(e.Lacks(language().Reads(code))) > 0
}

// Lacks returns the unknown inputs of an expression: a property of the host, or a tunable whose
// value depends on one.
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

// unmeasured reports whether a property of the host is zero because it is unknown.
func (e Env) unmeasured(name string) bool {
	return map[string]bool{"arch": e.Arch == "", "cpus": e.CPUs == 0, "cores": e.Cores == 0, "threads_per_core": e.ThreadsPerCore == 0,
		"domains": e.Domains == 0, "memory": e.Memory == 0, "pages": e.Pages == 0,
		"kmem": e.Kmem == 0, "vm": e.Tree && e.Hypervisor == "", "hz": e.HZ == 0, "link": e.Link == 0}[name]
}

// Default returns the host's value of an unset tunable, as printed by `sysctl -n`: the fixed
// default, or the result of the formula on this host. ok is false if it is unknown, for example a
// formula that uses the host's unknown memory.
func (c *Catalogue) Default(r *Record, f *fact.Facts) (value string, ok bool) {
	return r.DefaultIn(f.Release, c.NewEnv(f, ""))
}

// DefaultOf is DefaultIn for an instance of the record, which may differ, as for conf.all and
// conf.default of device settings.
func (r *Record) DefaultOf(name string, rel release.Release, e Env) (value string, ok bool) {
	if v, ok := r.InstanceDefaults[name]; ok {
		return v, true
	}
	return r.DefaultIn(rel, e)
}

// DefaultIn is Default with an existing environment.
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
