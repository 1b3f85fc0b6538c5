package ministat

import (
	"fmt"
	"regexp"
	"strings"
)

// Block is one output of ministat found in a text. Numbers are kept as
// printed: what was published is compared with what is computed now, digit
// for digit.
type Block struct {
	Line   int      // of the head line, from 1
	Legend []Legend // in order; empty when it was printed with -q or cut off
	Rows   []Row
}

// Legend is a name line.
type Legend struct {
	Symbol byte
	Name   string
}

// Row is one data set's line, with the comparison printed under it.
type Row struct {
	Line                          int
	Symbol                        byte
	N                             int
	Min, Max, Median, Avg, Stddev string
	Test                          *PrintedTest // nil for the reference, or with -n
}

// PrintedTest is a comparison as printed.
type PrintedTest struct {
	Line       int
	Confidence string // e.g. "95.0"
	Proven     bool
	// The rest is empty when no difference was proven.
	Delta, Error, Percent, PercentError, PooledSD string
}

var (
	headLine   = regexp.MustCompile(`^\s*N\s+Min\s+Max\s+Median\s+Avg\s+Stddev\s*$`)
	legendLine = regexp.MustCompile(`^([x+*%#@O]) (\S.*?)\s*$`)
	frameLine  = regexp.MustCompile(`^(\+-+\+|\|.*\||\[no plot.*)\s*$`)
	rowLine    = regexp.MustCompile(`^\s*([x+*%#@O])\s+(\d{1,9})\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s*$`)
	testLine   = regexp.MustCompile(`^\s*(Difference at|No difference proven at) ([0-9.]+)% confidence\s*$`)
	deltaLine  = regexp.MustCompile(`^\s*(\S+) \+/- (\S+)\s*$`)
	pooledLine = regexp.MustCompile(`^\s*\(Student's t, pooled s = (\S+)\)\s*$`)
)

// FindBlocks returns the outputs of ministat that stand in a text, such as a
// README.
func FindBlocks(text string) []Block {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	var blocks []Block
	for i, l := range lines {
		if !headLine.MatchString(l) {
			continue
		}
		b := Block{Line: i + 1, Legend: legendAbove(lines, i)}
		for at := i + 1; at < len(lines); {
			row, next := readRow(lines, at)
			if next == at {
				break
			}
			b.Rows = append(b.Rows, row)
			at = next
		}
		if len(b.Rows) > 0 {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

// legendAbove walks up from the head line past the plot to the names.
func legendAbove(lines []string, head int) []Legend {
	i := head - 1
	for i >= 0 && frameLine.MatchString(lines[i]) {
		i--
	}
	var l []Legend
	for ; i >= 0 && len(l) < MaxSets; i-- {
		m := legendLine.FindStringSubmatch(lines[i])
		if m == nil {
			break
		}
		l = append([]Legend{{Symbol: m[1][0], Name: m[2]}}, l...)
		if m[1] == "x" {
			break
		}
	}
	return l
}

// readRow reads a set's line and the comparison under it; next equals at when
// there is none.
func readRow(lines []string, at int) (r Row, next int) {
	m := rowLine.FindStringSubmatch(lines[at])
	if m == nil {
		return r, at
	}
	r = Row{Line: at + 1, Symbol: m[1][0], Min: m[3], Max: m[4], Median: m[5], Avg: m[6], Stddev: m[7]}
	if _, err := fmt.Sscan(m[2], &r.N); err != nil {
		return r, at
	}
	r.Test, next = readTest(lines, at+1)
	return r, next
}

// readTest reads a comparison, if one starts at the line.
func readTest(lines []string, at int) (t *PrintedTest, next int) {
	line := func(i int) string {
		if i < len(lines) {
			return lines[i]
		}
		return ""
	}
	m := testLine.FindStringSubmatch(line(at))
	if m == nil {
		return nil, at
	}
	t = &PrintedTest{Line: at + 1, Confidence: m[2], Proven: strings.HasPrefix(m[1], "Diff")}
	if !t.Proven {
		return t, at + 1
	}
	next = at + 1
	if d := deltaLine.FindStringSubmatch(line(next)); d != nil {
		t.Delta, t.Error, next = d[1], d[2], next+1
	}
	if d := deltaLine.FindStringSubmatch(line(next)); d != nil {
		t.Percent, t.PercentError, next = strings.TrimSuffix(d[1], "%"), strings.TrimSuffix(d[2], "%"), next+1
	}
	if d := pooledLine.FindStringSubmatch(line(next)); d != nil {
		t.PooledSD, next = d[1], next+1
	}
	return t, next
}
