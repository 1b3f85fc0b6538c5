package tunable

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"linerate/internal/fact"
	"linerate/internal/fact/factexpr"
	"linerate/internal/fact/release"
)

// checkExpressions compiles every expression of a record and runs its vectors. An expression
// without a vector is an error.
func (r *Record) checkExpressions(bad func(string, ...any)) {
	formulas := []string{}
	if r.Formula != "" {
		formulas = append(formulas, r.Formula)
	}
	for _, c := range r.Changes {
		if c.Formula != nil && *c.Formula != "" {
			formulas = append(formulas, *c.Formula)
		}
	}
	for _, f := range formulas {
		if _, err := language().Compile(f); err != nil {
			bad("%v", err)
		}
	}
	if len(formulas) > 0 && len(r.Vectors) == 0 {
		bad("a formula without a vector")
	}
	for _, v := range r.Vectors {
		if err := r.runDefault(v); err != nil {
			bad("%v", err)
		}
	}
	for _, c := range r.Cautions {
		oneOf(bad, "caution's kind", c.Kind, cautions)
		checkCondition(bad, "caution", c.When, c.Vectors)
	}
	for _, k := range r.Coupled {
		checkCondition(bad, "coupling with "+k.Name, k.Holds, k.Vectors)
	}
	for _, k := range r.Recommend {
		checkCondition(bad, "recommendation for "+k.Role, k.When, nil)
		checkExpression(bad, "recommendation for "+k.Role, k.Formula, k.Vectors)
		if k.Role == "" || k.Reason == "" {
			bad("a recommendation needs a role and a reason")
		}
		oneOf(bad, "recommendation's do", k.Do, deeds)
		if k.Do != "" && k.Value+k.Formula != "" {
			bad("recommendation for %s: a value and do %q", k.Role, k.Do)
		}
	}
}

// checkCondition is checkExpression for an expression that must be true or false.
func checkCondition(bad func(string, ...any), what, code string, vectors []Vector) {
	if err := language().CheckCondition(code); err != nil {
		bad("%s: %v", what, err)
		return
	}
	checkExpression(bad, what, code, vectors)
}

// checkExpression compiles one expression and runs its vectors.
func checkExpression(bad func(string, ...any), what, code string, vectors []Vector) {
	if code == "" {
		if len(vectors) > 0 {
			bad("%s: vectors without an expression", what)
		}
		return
	}
	if _, err := language().Compile(code); err != nil {
		bad("%s: %v", what, err)
		return
	}
	for _, v := range vectors {
		if err := v.run(code); err != nil {
			bad("%s: %v", what, err)
		}
	}
}

// runDefault compares the vector with the record's default on the vector's release.
func (r *Record) runDefault(v Vector) error {
	e, rel, err := v.env()
	if err != nil {
		return err
	}
	s := r.At(rel)
	if s.Formula == "" {
		return errors.New("a vector for a release whose default is no formula")
	}
	got, err := e.Formula(s.Formula)
	if err == nil && got != v.Want {
		err = fmt.Errorf("formula %q of %v is %s, want %s (%s)", s.Formula, v.With, got, v.Want, v.From)
	}
	return err
}

func (v Vector) run(code string) error {
	e, _, err := v.env()
	if err != nil {
		return err
	}
	got, err := e.Formula(code)
	if err == nil && got != v.Want {
		err = fmt.Errorf("expression %q of %v %v is %s, want %s", code, v.With, v.Values, got, v.Want)
	}
	return err
}

// env returns the vector's host. The name "release" in With is the release.
func (v Vector) env() (Env, release.Release, error) {
	e := blank()
	var rel release.Release
	for name, x := range v.With {
		if name == "release" {
			var err error
			if rel, err = release.Parse(fmt.Sprint(x)); err != nil {
				return Env{}, rel, fmt.Errorf("vector: %w", err)
			}
			e.Major, e.Minor, e.AtLeast = rel.Major, rel.Minor, rel.AtLeast
			e.HarvestDefault = func() float64 { return float64(HarvestDefault(rel)) }
			continue
		}
		if err := e.set(name, x); err != nil {
			return Env{}, rel, fmt.Errorf("vector: %w", err)
		}
	}
	if e.Pages == 0 {
		e.Pages = e.Memory / e.Page
	}
	e.Text = func(name string) string { return v.Values[name] }
	e.Value = func(name string) float64 { return Number(v.Values[name]) }
	e.IsSet = func(name string) bool { _, ok := v.Values[name]; return ok }
	e.RC = func(name string) bool { on, _ := yes(v.Values[name]); return on }
	return e, rel, nil
}

// fields maps each name of the expressions to its field of Names.
var fields = sync.OnceValue(func() map[string][]int {
	at := map[string][]int{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Names]()) {
		if name := f.Tag.Get("expr"); name != "" {
			at[name] = f.Index
		}
	}
	return at
})

// set assigns a value from YAML to a name: lists become membership tests for functions over names.
func (e Env) set(name string, x any) error {
	at, ok := fields()[name]
	if !ok {
		return fmt.Errorf("no variable %q", name)
	}
	field := reflect.ValueOf(e.Names).Elem().FieldByIndex(at)
	value, err := castLike(field.Interface(), x)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	field.Set(reflect.ValueOf(value))
	return nil
}

// castLike converts a value from YAML to the type that Names has.
func castLike(have, x any) (any, error) {
	switch have.(type) {
	case int, float64:
		f := factexpr.Number(x)
		if f == 0 && fmt.Sprint(x) != "0" {
			return nil, fmt.Errorf("want a number, have %v", x)
		}
		if _, whole := have.(int); whole {
			return int(f), nil
		}
		return f, nil
	case bool:
		if b, ok := x.(bool); ok {
			return b, nil
		}
	case string:
		return fmt.Sprint(x), nil
	case []string:
		return asStrings(x), nil
	case func(string) bool:
		names := asStrings(x)
		return func(n string) bool { return slices.Contains(names, n) }, nil
	}
	return nil, fmt.Errorf("cannot be %v", x)
}

func asStrings(x any) []string {
	list, ok := x.([]any)
	if !ok {
		return []string{fmt.Sprint(x)}
	}
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = fmt.Sprint(s)
	}
	return names
}

// blank is an Env of a host about which nothing is known.
func blank() Env {
	return Env{&Names{
		Host:           factexpr.Of(&fact.Facts{}),
		Value:          func(string) float64 { return 0 },
		Text:           func(string) string { return "" },
		Known:          func(string) bool { return true },
		HarvestDefault: func() float64 { return 0 },
		NumberAt:       numberAt, Vector: vector,
	}}
}
