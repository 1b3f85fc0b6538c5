package calc_test

import (
	"math"
	"strconv"
	"testing"

	"linerate/internal/calc"
)

// extremes are what slips and hostile callers give.
var extremes = []string{"0", "1", "-1", "0.001", "65536", "1e30"}

// TestNoCalculatorGivesNonsense: whatever its inputs, a calculator refuses them
// or gives numbers, none of which is infinite, no number, or a negative amount.
func TestNoCalculatorGivesNonsense(t *testing.T) {
	for _, c := range calc.All() {
		if _, err := c.Run(nil); err != nil {
			t.Errorf("%s refuses its own defaults: %v", c.Name, err)
		}
		for _, a := range c.Inputs {
			for _, b := range c.Inputs {
				for _, x := range extremes {
					for _, y := range extremes {
						args := map[string]string{a.Name: x, b.Name: y}
						r, err := c.Run(args)
						if err != nil {
							continue
						}
						for _, o := range r.Outputs {
							if math.IsNaN(o.Value) || math.IsInf(o.Value, 0) || o.Value < 0 {
								t.Fatalf("%s of %v: %s is %g", c.Name, args, o.Name, o.Value)
							}
						}
					}
				}
			}
		}
	}
}

// TestOutputsAreInputs: outputs have different names, and its number can be given to
// another calculator.
func TestOutputsAreInputs(t *testing.T) {
	for _, c := range calc.All() {
		r, err := c.Run(nil)
		if err != nil {
			t.Fatal(err)
		}
		named := map[string]bool{}
		for _, o := range r.Outputs {
			if named[o.Name] {
				t.Errorf("%s has two outputs %q", c.Name, o.Name)
			}
			named[o.Name] = true
			if _, err := calc.Parse(strconv.FormatFloat(o.Value, 'g', -1, 64), o.Unit); err != nil {
				t.Errorf("%s: %s: %v", c.Name, o.Name, err)
			}
		}
	}
}
