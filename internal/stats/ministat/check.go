package ministat

import (
	"fmt"
	"math"
	"strconv"
)

// Mismatch is a printed value that the samples do not give.
type Mismatch struct {
	Line     int    // in the text the block was found in
	Symbol   byte   // of the row
	Field    string // "N", "Min" … "pooled s", "verdict"
	Printed  string
	Computed string
}

func (m Mismatch) String() string {
	return fmt.Sprintf("line %d: %c %s: printed %s, computed %s", m.Line, m.Symbol, m.Field, m.Printed, m.Computed)
}

// Check recomputes a block from the samples of its rows, in their order, and
// returns what differs; a nil sample skips its row (the first row's is needed
// for the comparisons). Sums are taken in the given order, so the last digit
// of a value may differ by one where the original order is unknown; such
// differences are not reported.
func (b Block) Check(samples [][]float64, g Generation) []Mismatch {
	var out []Mismatch
	for i, r := range b.Rows {
		if i >= len(samples) || len(samples[i]) < 3 {
			continue
		}
		out = append(out, r.Check(samples[i], g)...)
		if r.Test != nil && i > 0 && len(samples[0]) >= 3 {
			out = append(out, r.checkTest(samples[0], samples[i], g)...)
		}
	}
	return out
}

// Check compares a row's summary with the sample it may be of.
func (r Row) Check(sample []float64, g Generation) []Mismatch {
	if len(sample) < 3 {
		return []Mismatch{{r.Line, r.Symbol, "N", strconv.Itoa(r.N), strconv.Itoa(len(sample))}}
	}
	c := checker{line: r.Line, symbol: r.Symbol}
	if r.N != len(sample) {
		c.miss("N", strconv.Itoa(r.N), strconv.Itoa(len(sample)))
		return c.found
	}
	s := newSet(Set{Points: sample}, g)
	c.number("Min", r.Min, s.min(), 8)
	c.number("Max", r.Max, s.max(), 8)
	c.number("Median", r.Median, s.median, 8)
	c.number("Avg", r.Avg, s.mean, 8)
	c.number("Stddev", r.Stddev, s.stddev, 8)
	return c.found
}

func (r Row) checkTest(reference, sample []float64, g Generation) []Mismatch {
	t := r.Test
	c := checker{line: t.Line, symbol: r.Symbol}
	level, err := strconv.ParseFloat(t.Confidence, 64)
	if err != nil {
		c.miss("confidence", t.Confidence, "none")
		return c.found
	}
	d, err := Compare(reference, sample, level, g)
	if err != nil {
		c.miss("confidence", t.Confidence, "none")
		return c.found
	}
	if d.Proven != t.Proven {
		c.miss("verdict", verdict(t.Proven), verdict(d.Proven))
		return c.found
	}
	if !t.Proven {
		return nil
	}
	c.number("difference", t.Delta, d.Delta, 6)
	c.number("+/-", t.Error, d.Error, 6)
	c.number("difference %", t.Percent, d.Percent, 6)
	c.number("+/- %", t.PercentError, d.PercentError, 6)
	c.number("pooled s", t.PooledSD, d.PooledSD, 6)
	return c.found
}

func verdict(proven bool) string {
	if proven {
		return "difference"
	}
	return "no difference proven"
}

// checker gathers mismatches of one row.
type checker struct {
	line   int
	symbol byte
	found  []Mismatch
}

func (c *checker) miss(field, printed, computed string) {
	c.found = append(c.found, Mismatch{c.line, c.symbol, field, printed, computed})
}

// number compares a printed value with a computed one at the precision it was
// printed with; a field the text does not have is not checked.
func (c *checker) number(field, printed string, computed float64, digits int) {
	again := general(computed, digits)
	if printed == "" || printed == again {
		return
	}
	p, err := strconv.ParseFloat(printed, 64)
	lastDigit := math.Pow(10, math.Floor(math.Log10(math.Abs(computed)))-float64(digits-1))
	if err == nil && math.Abs(p-computed) <= 1.001*lastDigit {
		return
	}
	c.miss(field, printed, again)
}
