package tunable

import (
	"fmt"
	"maps"
	"sync"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"

	"linerate/internal/calc"
	"linerate/internal/fact"
	"linerate/internal/fact/release"
)

// programs keeps what was compiled: a catalogue's expressions are few and
// used for every host.
var programs sync.Map // string → *vm.Program

// Compile checks an expression against the names of Env and the functions of
// package calc.
func Compile(code string) (*vm.Program, error) {
	if p, ok := programs.Load(code); ok {
		return p.(*vm.Program), nil
	}
	opts := append(calc.Options(), expr.Env(map[string]any(withoutCalc(blank()))))
	p, err := expr.Compile(code, opts...)
	if err != nil {
		return nil, fmt.Errorf("expression %q: %w", code, err)
	}
	programs.Store(code, p)
	return p, nil
}

// withoutCalc drops names that package calc offers as functions.
func withoutCalc(e Env) Env {
	for name := range calc.Functions() {
		delete(e, name)
	}
	return e
}

// Eval runs an expression.
func (e Env) Eval(code string) (any, error) {
	p, err := Compile(code)
	if err != nil {
		return nil, err
	}
	v, err := expr.Run(p, map[string]any(e))
	if err != nil {
		return nil, fmt.Errorf("expression %q: %w", code, err)
	}
	return v, nil
}

// Holds runs a condition; "" always holds.
func (e Env) Holds(code string) (bool, error) {
	if code == "" {
		return true, nil
	}
	v, err := e.Eval(code)
	if err != nil {
		return false, err
	}
	b, ok := v.(bool)
	if !ok {
		return false, fmt.Errorf("expression %q: want true or false, have %v", code, v)
	}
	return b, nil
}

// Text runs an expression and writes its result as `sysctl -n` would.
func (e Env) Text(code string) (string, error) {
	v, err := e.Eval(code)
	if err != nil {
		return "", err
	}
	return textOfValue(v), nil
}

func textOfValue(v any) string {
	switch v := v.(type) {
	case float64:
		return number(v)
	default:
		return fmt.Sprint(v)
	}
}

// With is the environment with this tunable's value, and the value of a
// coupled one.
func (e Env) With(this, other string) Env {
	x := maps.Clone(e)
	x["this"], x["this_text"] = toNumber(this), this
	x["other"], x["other_text"] = toNumber(other), other
	return x
}

// Default is what a host has when nobody sets the tunable, as `sysctl -n`
// prints it: the value, or what the formula gives on this host. ok is false
// when that is not known, such as a formula over memory when the host's
// memory is not.
func (c *Catalogue) Default(r *Record, f *fact.Facts) (value string, ok bool) {
	return r.defaultIn(f.Release, c.NewEnv(f, ""))
}

// DefaultIn is Default with an environment made before.
func (r *Record) DefaultIn(rel release.Release, e Env) (value string, ok bool) {
	return r.defaultIn(rel, e)
}

func (r *Record) defaultIn(rel release.Release, e Env) (string, bool) {
	s := r.At(rel)
	if s.Default != nil && s.Formula == "" {
		return *s.Default, true
	}
	if s.Formula == "" || e.unknown(s.Formula) {
		return "", false
	}
	v, err := e.Text(s.Formula)
	return v, err == nil
}
