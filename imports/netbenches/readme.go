package netbenches

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/evidence"
	"linerate/internal/lazy"
	"linerate/internal/stats"
)

// Readme is the parsed README of a study.
type Readme struct {
	Path   string
	Title  string
	Facts  []string // list items: hardware, release, load
	Blocks []Block
}

// Block is a ministat output quoted in a README.
type Block struct {
	Line int // line number of its header, from 1
	Rows []Row
}

// Row is a data set of a block as printed, with its test against the first data set.
type Row struct {
	N                     int
	Min, Max, Avg         float64
	Tested, Differs       bool
	Percent, PercentError float64 // if it differs
}

// maxFacts limits the list items kept of a README.
const maxFacts = 60

func parseReadme(name string, data []byte) *Readme {
	r := &Readme{Path: name}
	lines := strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
	fenced, begun := false, false
	for _, line := range lines {
		s := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(s, "```"):
			fenced, begun = !fenced, true
		case fenced || s == "":
		case !begun:
			r.Title, begun = strings.TrimRight(strings.TrimSpace(strings.TrimLeft(s, "#")), ":"), true
		case (strings.HasPrefix(s, "- ") || strings.HasPrefix(s, "* ")) && len(r.Facts) < maxFacts:
			r.Facts = append(r.Facts, strings.TrimSpace(s[2:]))
		}
	}
	r.Blocks = blocks(lines)
	return r
}

var (
	headLine  = lazy.Regexp(`^\s*N\s+Min\s+Max\s+Median\s+Avg\s+Stddev\s*$`)
	rowLine   = lazy.Regexp(`^\s*[x+*%#@O]\s+(\d{1,9})\s+(\S+)\s+(\S+)\s+\S+\s+(\S+)\s+\S+\s*$`)
	testLine  = lazy.Regexp(`^\s*(Difference at|No difference proven at) [0-9.]+% confidence\s*$`)
	deltaLine = lazy.Regexp(`^\s*(\S+?)(%?) \+/- (\S+?)%?\s*$`)
)

// blocks finds the ministat outputs in a text.
func blocks(lines []string) (out []Block) {
	for i, l := range lines {
		if !headLine().MatchString(l) {
			continue
		}
		b := Block{Line: i + 1}
		for _, line := range lines[i+1:] {
			if !b.line(line) {
				break
			}
		}
		if len(b.Rows) > 0 {
			out = append(out, b)
		}
	}
	return out
}

// line parses a line of a block, and returns false if the block has ended.
func (b *Block) line(line string) bool {
	if m := rowLine().FindStringSubmatch(line); m != nil {
		b.Rows = append(b.Rows, Row{N: int(printed(m[1])), Min: printed(m[2]), Max: printed(m[3]), Avg: printed(m[4])})
		return true
	}
	if len(b.Rows) == 0 {
		return false
	}
	r := &b.Rows[len(b.Rows)-1]
	if m := testLine().FindStringSubmatch(line); m != nil {
		r.Tested, r.Differs = true, m[1] == "Difference at"
		return true
	}
	if m := deltaLine().FindStringSubmatch(line); m != nil && r.Differs {
		if m[2] == "%" {
			r.Percent, r.PercentError = finite(printed(m[1])), finite(printed(m[3]))
		}
		return true
	}
	return r.Differs && strings.Contains(line, "pooled s")
}

// printed parses a number as ministat prints it, NaN if it is not one.
func printed(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// finite replaces values that JSON cannot represent by 0.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

// sample holds a series reduced in one of the two ways.
type sample struct {
	series *Series
	values []float64
	mean   float64
}

// index finds series by their printed numbers anywhere in the tree, because
// rows are sometimes mislabelled or refer to other folders.
type index map[string][]*sample

// rangeKey is the index key of a row: number, minimum and maximum, to eight digits.
func rangeKey(n int, lo, hi float64) string {
	return fmt.Sprintf("%d/%.8g/%.8g", n, lo, hi)
}

func newIndex(series []*Series) index {
	x := index{}
	for _, s := range series {
		for _, of := range []func(*Iteration) (float64, bool){
			func(it *Iteration) (float64, bool) { return middle(it.Receivers, (*Reading).script) },
			func(it *Iteration) (float64, bool) { return middle(it.Receivers, (*Reading).upper) },
			(*Iteration).equilibrium, (*Iteration).maximum,
			func(it *Iteration) (float64, bool) { return middle(it.Senders, (*Reading).script) },
		} {
			if v := s.values(of); len(v) > 0 {
				k := rangeKey(len(v), slices.Min(v), slices.Max(v))
				x[k] = append(x[k], &sample{s, v, stats.Mean(v)})
			}
		}
	}
	return x
}

// find returns the series with a row's numbers in the nearest folder, nil if there is none.
func (x index) find(r *Row, dir string) *Series {
	var best *sample
	for _, c := range x[rangeKey(r.N, r.Min, r.Max)] {
		if same8(c.mean, r.Avg) && (best == nil || cmp.Compare(distance(dir, c.series.Study), distance(dir, best.series.Study)) < 0) {
			best = c
		}
	}
	if best == nil {
		return nil
	}
	return best.series
}

// same8 compares to eight significant digits, tolerating one unit of the
// last: sums depend on the order of their terms.
func same8(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1.01e-7*math.Pow(10, math.Floor(math.Log10(max(math.Abs(a), math.Abs(b), 1e-300))))+1e-12
}

// distance counts the steps between two folders of the tree.
func distance(a, b string) int {
	x, y := strings.Split(a, "/"), strings.Split(b, "/")
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	return len(x) + len(y) - 2*n
}

// pair is a control and a variant.
type pair [2]*Series

// conclusions are the results about series that the READMEs of a tree state.
type conclusions struct {
	of     map[pair]*evidence.Published
	first  map[*Series]int   // number of blocks that compare others with it
	across map[string][]pair // README's folder → pairs of different studies
}

func conclude(t *Tree) conclusions {
	c := conclusions{of: map[pair]*evidence.Published{}, first: map[*Series]int{}, across: map[string][]pair{}}
	x := newIndex(t.Series)
	for _, r := range t.Reductions { // files were renamed after the run if the configuration was wrong
		for _, c := range x[rangeKey(len(r.Values), slices.Min(r.Values), slices.Max(r.Values))] {
			if c.series.Study == r.Dir && slices.EqualFunc(c.values, r.Values, same8) {
				c.series.Published, _ = cutSuffixPart(r.Name, c.series.Workload)
			}
		}
	}
	for _, r := range t.Readmes {
		for i := range r.Blocks {
			c.block(x, r, &r.Blocks[i])
		}
	}
	return c
}

func (c *conclusions) block(x index, r *Readme, b *Block) {
	dir := path.Dir(r.Path)
	control := x.find(&b.Rows[0], dir)
	if control == nil {
		return
	}
	c.first[control]++
	for i := 1; i < len(b.Rows); i++ {
		row := &b.Rows[i]
		s := x.find(row, dir)
		if s == nil || !row.Tested {
			continue
		}
		p := &evidence.Published{Source: fmt.Sprintf("%s:%d", r.Path, b.Line), Verdict: "no difference"}
		if row.Differs {
			p.Verdict, p.Percent, p.PercentError = "difference", row.Percent, row.PercentError
		}
		c.of[pair{control, s}] = p
		if control.Study != s.Study {
			c.across[dir] = append(c.across[dir], pair{control, s})
		}
	}
}

// published returns what a README says of a pair, inverted if it compares
// them in the other direction.
func (c *conclusions) published(control, variant *Series) *evidence.Published {
	p, turned := c.of[pair{control, variant}], false
	if p == nil {
		p, turned = c.of[pair{variant, control}], true
	}
	if p == nil {
		return nil
	}
	out := *p
	if turned {
		out.Percent = 100 * (1/(1+out.Percent/100) - 1)
		out.PercentError = math.Abs(out.PercentError)
	}
	return &out
}
