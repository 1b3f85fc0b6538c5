// Package calc holds the arithmetic of network tuning: line rates, windows,
// buffers, tables and their memory, each with units, a source and vectors.
//
// Two ways in. All lists the calculators of `linerate calc`, which take and
// return quantities with units. Functions exposes the same formulas to the
// expressions of the catalogue and of the audit's rules, which know only
// numbers in base units: bits per second, bytes, seconds, packets.
package calc

import (
	"fmt"
	"math"

	"linerate/internal/hint"
)

// Input is one argument of a calculator.
type Input struct {
	Name string `json:"name"`
	Unit Unit   `json:"unit"`
	// Default is used when the caller gives nothing, written as a user
	// would. Empty means that the input is required.
	Default string `json:"default"`
	Doc     string `json:"doc"`
}

// Output is one named result, in the base unit of its kind.
type Output struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  Unit    `json:"unit"`
	// Text is the value as people write it.
	Text string `json:"text"`
	// Doc says how the value came about.
	Doc string `json:"doc,omitempty"`
}

// Note is what somebody else says of the same figure, and whether it holds.
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
	// Tolerance is relative; zero asks for equality to 1e-9.
	Tolerance float64 `json:"tolerance,omitempty"`
	From      string  `json:"from"`
}

// Calculator is one formula with everything a reader needs to trust it.
type Calculator struct {
	Name    string   `json:"name"`
	Aliases []string `json:"aliases,omitempty"`
	Summary string   `json:"summary"`
	Inputs  []Input  `json:"inputs"`
	Sources []string `json:"sources"`
	Notes   []Note   `json:"notes,omitempty"`
	Vectors []Vector `json:"vectors,omitempty"`

	run func(in map[string]float64) ([]Output, error)
	// table lists rows to show with the outputs; nil: none.
	table func(in map[string]float64) *Table
}

// Table is a companion of a result: the same formula over usual values.
type Table struct {
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows"`
}

// Result is what a calculator answers.
type Result struct {
	Calculator string   `json:"calculator"`
	Inputs     []Output `json:"inputs"`
	Outputs    []Output `json:"outputs"`
	Table      *Table   `json:"table,omitempty"`
	Sources    []string `json:"sources"`
	Notes      []Note   `json:"notes"`
}

// Output returns the named output's value; ok is false when there is none.
func (r Result) Output(name string) (value float64, ok bool) {
	for _, o := range r.Outputs {
		if o.Name == name {
			return o.Value, true
		}
	}
	return 0, false
}

// Find returns the calculator with this name or alias, or a usage error that
// names the nearest.
func Find(name string) (*Calculator, error) {
	var known []string
	for _, c := range All() {
		if c.Name == name {
			return c, nil
		}
		for _, a := range c.Aliases {
			if a == name {
				return c, nil
			}
		}
		known = append(known, c.Name)
		known = append(known, c.Aliases...)
	}
	return nil, hint.Unknown("calculator", name, known)
}

// Run parses args (input name → text with unit), fills in defaults and
// computes. Unknown or missing inputs and quantities of another kind are
// usage errors.
func (c *Calculator) Run(args map[string]string) (Result, error) {
	in, shown, err := c.parse(args)
	if err != nil {
		return Result{}, err
	}
	out, err := c.run(in)
	if err != nil {
		return Result{}, err
	}
	for i := range out {
		if math.IsNaN(out[i].Value) || math.IsInf(out[i].Value, 0) {
			return Result{}, hint.Usagef("%s: %s has no finite value for these inputs", c.Name, out[i].Name)
		}
		out[i].Text = Format(out[i].Value, out[i].Unit)
	}
	r := Result{Calculator: c.Name, Inputs: shown, Outputs: out, Sources: c.Sources, Notes: c.Notes}
	if r.Notes == nil {
		r.Notes = []Note{}
	}
	if c.table != nil {
		r.Table = c.table(in)
	}
	return r, nil
}

func (c *Calculator) parse(args map[string]string) (map[string]float64, []Output, error) {
	in := make(map[string]float64, len(c.Inputs))
	var shown []Output
	var names []string
	for _, i := range c.Inputs {
		names = append(names, i.Name)
		text, given := args[i.Name]
		if !given || text == "" {
			text = i.Default
		}
		if text == "" {
			return nil, nil, hint.With(hint.Usagef("%s needs %s", c.Name, i.Name), "%s", i.Doc)
		}
		v, err := Parse(text, i.Unit)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %s: %w", c.Name, i.Name, err)
		}
		if v < 0 {
			return nil, nil, hint.With(hint.Usagef("%s: %s of %s is below nothing", c.Name, i.Name, Format(v, i.Unit)), "%s", i.Doc)
		}
		in[i.Name] = v
		shown = append(shown, Output{Name: i.Name, Value: v, Unit: i.Unit, Text: Format(v, i.Unit), Doc: i.Doc})
	}
	for name := range args {
		if _, ok := in[name]; !ok {
			return nil, nil, hint.Unknown("input of "+c.Name, name, names)
		}
	}
	return in, shown, nil
}
