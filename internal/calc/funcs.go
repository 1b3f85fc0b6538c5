package calc

import (
	_ "embed" // the formulas
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"

	"linerate/internal/list"
)

//go:embed functions.txt
var formulas string

// function is a formula called from expressions: by position, in base units. Arguments whose names
// end in "?" are optional, and default to 0.
type function struct {
	name    string
	args    []string
	is, doc string
	// program returns the compiled formula, compiled on first use.
	program func() (*vm.Program, error)
}

// functions are those of functions.txt.
var functions = sync.OnceValue(func() (all []*function) {
	for line := range strings.Lines(formulas) {
		line = strings.TrimSpace(line)
		if is, formula := strings.CutPrefix(line, "= "); formula {
			f := all[len(all)-1]
			f.is, f.program = is, sync.OnceValues(func() (*vm.Program, error) { return f.compile(all) })
		} else if head, doc, ok := strings.Cut(line, "): "); ok && line[0] != '#' {
			name, args, _ := strings.Cut(head, "(")
			all = append(all, &function{name: name, args: strings.Split(args, ", "), doc: doc})
		}
	}
	return all
})

// log2 returns the logarithm to base two, which expressions lack.
func log2(v ...any) (any, error) {
	f, err := toFloat(v[0])
	return math.Log2(f), err
}

// compile compiles the formula, which may call others.
func (f *function) compile(all []*function) (*vm.Program, error) {
	opts := []expr.Option{expr.Function("log2", log2, new(func(float64) float64)), expr.Env(f.env(nil))}
	for _, o := range all {
		if strings.Contains(f.is, o.name+"(") {
			opts = append(opts, expr.Function(o.name, o.call, new(func(...any) float64)))
		}
	}
	return expr.Compile(f.is, opts...)
}

// env maps argument names to values, 0 for omitted ones.
func (f *function) env(values []float64) map[string]any {
	env := map[string]any{}
	for i, name := range f.args {
		v := 0.0
		if i < len(values) {
			v = values[i]
		}
		env[strings.TrimSuffix(name, "?")] = v
	}
	return env
}

// Options provides the formulas to expr.Compile. They accept numbers of any type and numeric
// strings in base units, and return float64; a wrong number or type of arguments is an error of the
// expression.
func Options() []expr.Option {
	return list.Map(functions(), func(f *function) expr.Option { return expr.Function(f.name, f.call, new(func(...any) float64)) })
}

func (f *function) call(args ...any) (any, error) {
	most := len(f.args)
	least := most
	for least > 0 && strings.HasSuffix(f.args[least-1], "?") {
		least--
	}
	if len(args) < least || len(args) > most {
		return nil, fmt.Errorf("%s takes %d arguments, not %d", f.name, most, len(args))
	}
	a := make([]float64, len(args))
	for i, v := range args {
		n, err := toFloat(v)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", f.name, f.args[i], err)
		}
		a[i] = n
	}
	program, err := f.program()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	v, err := expr.Run(program, f.env(a))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	return toFloat(v)
}

// toFloat converts any number, or a numeric string.
func toFloat(v any) (float64, error) {
	switch n := v.(type) {
	case float64:
		return n, nil
	case int:
		return float64(n), nil
	case int64:
		return float64(n), nil
	case uint64:
		return float64(n), nil
	case int32:
		return float64(n), nil
	case uint32:
		return float64(n), nil
	case uint:
		return float64(n), nil
	case float32:
		return float64(n), nil
	case bool:
		if n {
			return 1, nil
		}
		return 0, nil
	case json.Number:
		return n.Float64()
	case string:
		f, err := strconv.ParseFloat(n, 64)
		if err != nil {
			return 0, fmt.Errorf("%q is not a number", clip(n))
		}
		return f, nil
	default:
		return 0, fmt.Errorf("%T is not a number", v)
	}
}
