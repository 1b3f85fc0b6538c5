package netbenches

import (
	"math"
	"strconv"
	"strings"
)

// maxValues bounds a file of bare numbers: real ones hold an iteration a line.
const maxValues = 10_000

// ParseValues reads a file of one number per line (.pps, pps.CFG, .equilibrium,
// .data before 2016 …); ok is false when anything else is in it.
func ParseValues(data []byte) (values []float64, ok bool) {
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		v, err := strconv.ParseFloat(line, 64)
		if err != nil || len(values) == maxValues || !(v >= 0 && v <= maxPlotted) {
			return nil, false
		}
		values = append(values, v)
	}
	return values, len(values) > 0
}

// maxPlotted bounds what a graph shows.
const maxPlotted = 1e15

// Plotted is one line of gnuplot.data: what the archive's graphs show.
type Plotted struct {
	Index                string
	Median, Minimum, Max float64
	Extra                []string // columns after the fourth
}

// ParseGnuplot reads gnuplot.data with its header in any of its wordings, or
// without one. The index may be quoted and hold spaces; "\n" in it is a line
// break of the graph's label. Lines it cannot read are returned as bad.
func ParseGnuplot(data []byte) (rows []Plotted, bad []int) {
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		f := quotedFields(strings.TrimSpace(line))
		if len(f) == 0 || strings.HasPrefix(f[0], "#") {
			continue
		}
		row, ok := plotted(f)
		if !ok || n > maxValues {
			bad = append(bad, n)
			continue
		}
		rows = append(rows, row)
	}
	return rows, bad
}

// plotted finds the three numbers that close a row: the first run of three,
// after the index's own columns ("#config-set revision key …").
func plotted(f []string) (p Plotted, ok bool) {
	for i := 1; i+2 < len(f); i++ {
		var v [3]float64
		all := true
		for j := range v {
			x, err := strconv.ParseFloat(f[i+j], 64)
			v[j], all = x, all && err == nil && math.Abs(x) <= maxPlotted
		}
		if all && v[1] <= v[0] && v[0] <= v[2] {
			return Plotted{strings.Join(f[:i], " "), v[0], v[1], v[2], f[i+3:]}, true
		}
	}
	return p, false
}

// quotedFields splits at blanks outside double quotes.
func quotedFields(s string) []string {
	var out []string
	var cur strings.Builder
	quoted, any := false, false
	flush := func() {
		if any {
			out = append(out, strings.ReplaceAll(cur.String(), `\n`, " "))
		}
		cur.Reset()
		any = false
	}
	for _, r := range s {
		switch {
		case r == '"':
			quoted, any = !quoted, true
		case (r == ' ' || r == '\t') && !quoted:
			flush()
		default:
			cur.WriteRune(r)
			any = true
		}
	}
	flush()
	return out
}
