// Package calc is the arithmetic of network tuning: line rates, windows, buffers,
// tables and their memory, each with units, a source and test vectors.
//
// It has two interfaces. All lists the calculators of `linerate calc`, which take and
// return quantities with units and are data (calculators.yaml). Options provides the
// formulas of functions.txt to them, and to the expressions of the catalogue and of the
// audit's rules, which use only numbers in base units: bit/s, bytes, seconds, packets.
package calc

import (
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/expr-lang/expr"
	"github.com/goccy/go-yaml"

	"linerate/internal/hint"
	"linerate/internal/list"
)

//go:embed calculators.yaml
var calculators []byte

// All returns every calculator, in the order of help; they must not be changed.
var All = sync.OnceValue(func() (all []*Calculator) {
	if err := yaml.UnmarshalWithOptions(calculators, &all, yaml.Strict()); err != nil {
		panic(err) // the file is embedded; a test reads it
	}
	return all
})

// Input is one argument of a calculator.
type Input struct {
	Name string `json:"name"`
	Unit Unit   `json:"unit"`
	// Default is the value if none is given, as a user would write it.
	Default string  `json:"default"`
	Least   float64 `json:"least,omitempty"`
	Doc     string  `json:"doc"`
}

// Formula computes an output from the inputs and the outputs above it.
type Formula struct {
	Name string `json:"name"`
	Unit Unit   `json:"unit"`
	Is   string `json:"is"`
	Doc  string `json:"doc,omitempty"`
}

// Output is one named result, in the base unit of its kind.
type Output struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  Unit    `json:"unit"`
	// Text is the formatted value.
	Text string `json:"text"`
	// Doc says how the value was computed.
	Doc string `json:"doc,omitempty"`
}

// Note is what someone else says about the same quantity, and whether it is true.
type Note struct {
	Who   string `json:"who"`
	Says  string `json:"says"`
	Wrong bool   `json:"wrong"`
	Truth string `json:"truth,omitempty"`
}

// Vector is a worked example that the calculator must reproduce.
type Vector struct {
	In   map[string]string  `json:"in"`
	Want map[string]float64 `json:"want"`
	// Tolerance is relative; zero means equality to 1e-9.
	Tolerance float64 `json:"tolerance,omitempty"`
	From      string  `json:"from"`
}

// Calculator is a set of formulas with documentation, sources and tests.
type Calculator struct {
	Name    string    `json:"name"`
	Aliases []string  `json:"aliases,omitempty"`
	Summary string    `json:"summary"`
	Inputs  []Input   `json:"inputs"`
	Outputs []Formula `json:"outputs"`
	Sources []string  `json:"sources"`
	Notes   []Note    `json:"notes,omitempty"`
	Vectors []Vector  `json:"vectors,omitempty"`
	// Table shows the outputs for typical values of one input.
	Table *Usual `json:"table,omitempty"`
}

// Usual is a list of values of an input, and the columns of their table: inputs and outputs.
type Usual struct {
	Over    string   `json:"over"`
	Values  []string `json:"values"`
	Columns []string `json:"columns"`
}

// Table accompanies a result: the same formula for typical values.
type Table struct {
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows"`
}

// Result is the result of a calculator.
type Result struct {
	Calculator string   `json:"calculator"`
	Inputs     []Output `json:"inputs"`
	Outputs    []Output `json:"outputs"`
	Table      *Table   `json:"table,omitempty"`
	Sources    []string `json:"sources"`
	Notes      []Note   `json:"notes"`
}

// Find returns the calculator with a name or alias, or a usage error that names the nearest.
func Find(name string) (*Calculator, error) {
	var known []string
	for _, c := range All() {
		if c.Name == name || slices.Contains(c.Aliases, name) {
			return c, nil
		}
		known = append(append(known, c.Name), c.Aliases...)
	}
	return nil, hint.Unknown("calculator", name, known)
}

// Run parses args (input name → text with unit), fills in defaults and computes. Unknown or missing
// inputs and quantities of another kind are usage errors.
func (c *Calculator) Run(args map[string]string) (r Result, err error) {
	for name := range args {
		if known := list.Map(c.Inputs, func(i Input) string { return i.Name }); !slices.Contains(known, name) {
			return r, hint.Unknown("input of "+c.Name, name, known)
		}
	}
	r = Result{Calculator: c.Name, Sources: c.Sources, Notes: append([]Note{}, c.Notes...)}
	if r.Inputs, r.Outputs, err = c.compute(args); err != nil || c.Table == nil {
		return r, err
	}
	r.Table = &Table{Columns: c.Table.Columns}
	for _, v := range c.Table.Values {
		of := map[string]string{}
		for name, text := range args {
			of[name] = text
		}
		of[c.Table.Over] = v
		in, out, err := c.compute(of)
		if err != nil {
			return r, err
		}
		var row []string
		for _, o := range append(in, out...) {
			if slices.Contains(c.Table.Columns, o.Name) {
				row = append(row, o.Text)
			}
		}
		r.Table.Rows = append(r.Table.Rows, row)
	}
	return r, nil
}

// compute returns the inputs as parsed, and the outputs.
func (c *Calculator) compute(args map[string]string) (in, out []Output, err error) {
	known := map[string]any{}
	for _, i := range c.Inputs {
		text := cmp.Or(args[i.Name], i.Default)
		v, err := Parse(text, i.Unit)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %s: %w", c.Name, i.Name, err)
		}
		if v < i.Least {
			return nil, nil, hint.With(hint.Usagef("%s: %s of %s is below %s", c.Name, i.Name, Format(v, i.Unit), Format(i.Least, i.Unit)), "%s", i.Doc)
		}
		known[i.Name] = v
		in = append(in, Output{Name: i.Name, Value: v, Unit: i.Unit, Text: Format(v, i.Unit), Doc: i.Doc})
	}
	for _, f := range c.Outputs {
		program, err := expr.Compile(f.Is, append(Options(), expr.Env(known))...)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %s: %w", c.Name, f.Name, err)
		}
		got, err := expr.Run(program, known)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %s: %w", c.Name, f.Name, err)
		}
		v, err := toFloat(got)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, nil, hint.Usagef("%s: %s has no finite value for these inputs", c.Name, f.Name)
		}
		if !slices.ContainsFunc(functions(), func(x *function) bool { return x.name == f.Name }) { // these are called again
			known[f.Name] = v
		}
		out = append(out, Output{f.Name, v, f.Unit, Format(v, f.Unit), f.Doc})
	}
	return in, out, nil
}
