package netbenches

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/list"
)

// Summary is what ministat prints of a data set.
type Summary struct {
	N                              int
	Min, Max, Median, Mean, Stddev float64
	Upper                          float64 // the median of ministat's first generation
}

// Summarise computes the summary of a data set.
func Summarise(values []float64) Summary {
	s := Summary{N: len(values)}
	if s.N == 0 {
		return s
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	s.Min, s.Max = sorted[0], sorted[s.N-1]
	s.Median, _ = median(sorted, MeanOfMiddle)
	s.Upper, _ = median(sorted, UpperMiddle)
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	s.Mean = sum / float64(s.N)
	for _, v := range values {
		s.Stddev += (v - s.Mean) * (v - s.Mean)
	}
	if s.N > 1 {
		s.Stddev = math.Sqrt(s.Stddev / float64(s.N-1))
	}
	return s
}

// Agrees says whether a printed row is this summary, to the digits that
// ministat prints, by either generation's median. The standard deviation is
// allowed what the first generation loses by subtracting squares.
func (s Summary) Agrees(r *Row) bool {
	return s.N == r.N && same8(s.Min, r.Min) && same8(s.Max, r.Max) && same8(s.Mean, r.Mean) &&
		(same8(s.Median, r.Median) || same8(s.Upper, r.Median)) && s.sameStddev(r.Stddev)
}

// same8 compares at eight significant digits, one unit of the last allowed:
// sums depend on the order of their terms.
func same8(a, b float64) bool {
	if a == b {
		return true
	}
	return math.Abs(a-b) <= 1.01e-7*math.Pow(10, math.Floor(math.Log10(max(math.Abs(a), math.Abs(b), 1e-300))))+1e-12
}

func (s Summary) sameStddev(printed float64) bool {
	if same8(s.Stddev, printed) {
		return true
	}
	if s.N < 2 {
		return printed == 0 || math.IsNaN(printed)
	}
	// Σx² and (Σx)²/n each carry a rounding error of about their last bit.
	lost := 4 * float64(s.N) * s.Mean * s.Mean * 0x1p-52 / float64(s.N-1)
	return math.Abs(s.Stddev*s.Stddev-printed*printed) <= lost
}

// candidate is a data set a README's row may have been made from.
type candidate struct {
	vector  *Vector // from logs; nil for a stored file without them
	stored  *Stored
	summary Summary
	dir     string
}

func (c *candidate) raw() bool { return c.vector != nil }

// name is how a reader finds the candidate.
func (c *candidate) name() string {
	if c.vector != nil {
		s := c.vector.Series
		return path.Join(s.Dir, strings.TrimSuffix("bench."+s.Key, ".")+".*") + " (" + string(c.vector.Kind) + ")"
	}
	return c.stored.File.Path
}

// Index finds data sets by their printed numbers, anywhere in the tree: rows
// are mislabelled at times, and refer to other folders.
type Index struct {
	byRange map[string][]*candidate
	Vectors []*Vector
}

// rangeKey is what every candidate of a row has in common; eight digits, as
// printed.
func rangeKey(n int, lo, hi float64) string {
	return strconv.Itoa(n) + "/" + strconv.FormatFloat(lo, 'g', 8, 64) + "/" + strconv.FormatFloat(hi, 'g', 8, 64)
}

// NewIndex indexes every series, reduced every way, and every stored file.
func NewIndex(t *Tree) *Index {
	x := &Index{byRange: map[string][]*candidate{}}
	for _, s := range t.Series {
		for _, k := range s.kinds() {
			v := s.Vector(k)
			if len(v.Values) == 0 || k == KindUpper && slices.Equal(v.Values, s.Vector(KindReceiver).Values) {
				continue
			}
			x.Vectors = append(x.Vectors, &v)
			x.add(&candidate{vector: &v, summary: Summarise(v.Values), dir: s.Study})
		}
	}
	for _, st := range t.Stored {
		x.add(&candidate{stored: st, summary: Summarise(st.Values), dir: st.Dir})
	}
	return x
}

func (x *Index) add(c *candidate) {
	k := rangeKey(c.summary.N, c.summary.Min, c.summary.Max)
	x.byRange[k] = append(x.byRange[k], c)
}

// find returns the candidates that agree with a row: those with logs before
// stored files, nearest folder first, a name like the row's label first.
func (x *Index) find(r *Row, dir string) []*candidate {
	out := list.Filter(x.byRange[rangeKey(r.N, r.Min, r.Max)], func(c *candidate) bool { return c.summary.Agrees(r) })
	slices.SortStableFunc(out, func(a, b *candidate) int {
		return cmp.Or(
			boolOrder(a.raw(), b.raw()),
			boolOrder(a.vector != nil && a.vector.Kind != KindSender, b.vector != nil && b.vector.Kind != KindSender),
			cmp.Compare(distance(dir, a.dir), distance(dir, b.dir)),
			boolOrder(labelled(r.Label, a), labelled(r.Label, b)),
			cmp.Compare(a.name(), b.name()))
	})
	return out
}

func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// distance counts the folders between two places of the tree.
func distance(a, b string) int {
	x, y := strings.Split(a, "/"), strings.Split(b, "/")
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	return len(x) + len(y) - 2*n
}

// labelled says whether a row's label names the candidate.
func labelled(label string, c *candidate) bool {
	key := ""
	if c.vector != nil {
		key = c.vector.Series.Key
	} else {
		key = strings.TrimSuffix(c.stored.Name, path.Ext(c.stored.Name))
	}
	return key != "" && strings.Contains(label, key)
}

// unlike says why the logs do not give a row: how a stored file that holds it differs
// from them.
func unlike(t *Tree, r *Row) string {
	for _, st := range t.Stored {
		if !Summarise(st.Values).Agrees(r) {
			continue
		}
		if s := named(t, st); s != nil {
			return storedDiffers(st, s)
		}
		return st.File.Path + " holds it, but no logs of it are here"
	}
	return "no logs here give these numbers"
}

// storedDiffers says how a stored reduction and its logs part.
func storedDiffers(st *Stored, s *Series) string {
	v := s.Vector(s.kinds()[0])
	if len(v.Values) != len(st.Values) {
		return st.File.Path + " holds it, but " + strconv.Itoa(len(st.Values)) + " values stand against " +
			strconv.Itoa(len(v.Values)) + " usable logs of " + s.Dir + "/bench." + s.Key
	}
	n := 0
	for i, x := range st.Values {
		if !same8(x, v.Values[i]) {
			n++
		}
	}
	return st.File.Path + " holds it, but " + strconv.Itoa(n) + " of its " + strconv.Itoa(len(st.Values)) +
		" values differ from the logs next to it (edited, or the logs were overwritten by a later run)"
}

// named finds the series that a stored file is named after.
func named(t *Tree, st *Stored) *Series {
	key := storedKey(st.Name)
	for _, s := range t.Series {
		if (s.Study == st.Dir || s.Dir == st.Dir) && (s.Key == key || s.Config == key) {
			return s
		}
	}
	return nil
}

// storedKey is the series that a stored file's name means: KEY.pps in
// generation 2, REV.CFG, pps.CFG and none.CFG in generation 1.
func storedKey(name string) string {
	for _, suffix := range []string{".equilibrium.max", ".equilibrium", ".pps", ".data"} {
		if k, ok := strings.CutSuffix(name, suffix); ok {
			return k
		}
	}
	for _, prefix := range []string{"pps.", "none."} {
		if k, ok := strings.CutPrefix(name, prefix); ok {
			return k
		}
	}
	return name
}
