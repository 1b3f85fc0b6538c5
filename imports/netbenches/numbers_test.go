package netbenches

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestSummarise(t *testing.T) {
	s := Summarise([]float64{4, 1, 3, 2})
	if s.N != 4 || s.Min != 1 || s.Max != 4 || s.Median != 2.5 || s.Upper != 3 || s.Mean != 2.5 || !(math.Abs(s.Stddev-1.2909944487) <= 1e-9) {
		t.Errorf("%+v", s)
	}
	if s := Summarise([]float64{7}); s.Stddev != 0 || s.Median != 7 || s.Upper != 7 {
		t.Errorf("%+v", s)
	}
	if s := Summarise(nil); s != (Summary{}) {
		t.Errorf("of nothing: %+v", s)
	}
}

// TestAgrees: a row is a data set's when every number it prints is, by either median.
func TestAgrees(t *testing.T) {
	s := Summarise([]float64{100, 200, 300, 400})
	row := Row{N: 4, Min: 100, Max: 400, Median: 250, Mean: 250, Stddev: 129.09944}
	for name, c := range map[string]struct {
		change func(*Row)
		want   bool
	}{
		"as it is":         {func(*Row) {}, true},
		"upper median":     {func(r *Row) { r.Median = 300 }, true},
		"lower median":     {func(r *Row) { r.Median = 200 }, false},
		"count":            {func(r *Row) { r.N = 5 }, false},
		"minimum":          {func(r *Row) { r.Min = 100.0001 }, false},
		"maximum":          {func(r *Row) { r.Max = 399 }, false},
		"mean":             {func(r *Row) { r.Mean = 251 }, false},
		"last digit":       {func(r *Row) { r.Mean = 250.00001 }, true},
		"beyond it":        {func(r *Row) { r.Mean = 250.00003 }, false},
		"deviation":        {func(r *Row) { r.Stddev = 129.2 }, false},
		"no deviation":     {func(r *Row) { r.Stddev = math.NaN() }, false},
		"nothing is there": {func(r *Row) { r.Mean = math.NaN() }, false},
	} {
		r := row
		c.change(&r)
		if got := s.Agrees(&r); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	one := Summarise([]float64{100})
	for stddev, want := range map[float64]bool{0: true, math.NaN(): true, 1: false} {
		if got := one.sameStddev(stddev); got != want {
			t.Errorf("one value deviates by %g: %v", stddev, got)
		}
	}
	// The first ministat subtracts squares, which loses about this much of large values.
	large := Summarise([]float64{14_000_000, 14_000_000, 14_000_000})
	if !large.sameStddev(0.4) || large.sameStddev(4) {
		t.Error("what the subtraction of squares loses is not what is allowed")
	}
}

func TestSame8(t *testing.T) {
	for _, c := range []struct {
		a, b float64
		want bool
	}{
		{12345678, 12345679, true}, {12345678, 12345680, false}, {1.2345678e-5, 1.2345679e-5, true}, {0, 0, true}, {0, 1e-13, true},
		{0, 1, false}, {math.Inf(1), math.Inf(1), true}, {math.NaN(), math.NaN(), false}, {-5, 5, false},
	} {
		if got := same8(c.a, c.b); got != c.want {
			t.Errorf("%g and %g: %v", c.a, c.b, got)
		}
	}
	for _, c := range []struct {
		a, b []float64
		want bool
	}{{[]float64{1, 2}, []float64{1, 2}, true}, {[]float64{1, 2}, []float64{2, 1}, false}, {[]float64{1}, []float64{1, 2}, false}, {nil, nil, true}, {[]float64{1e8}, []float64{1e8 + 5}, true}, {[]float64{1e8}, []float64{1e8 + 50}, false}} {
		if got := sameValues(c.a, c.b); got != c.want {
			t.Errorf("%v and %v: %v", c.a, c.b, got)
		}
	}
}

// indexed is a tree with these series and stored files, and its index.
func indexed(series []*Series, stored ...*Stored) (*Tree, *Index) {
	t := &Tree{Series: series, Stored: stored}
	return t, NewIndex(t)
}

func seriesAt(dir, key string, pps ...float64) *Series {
	s := &Series{Dir: dir, Key: key}
	s.Study, s.Qualifier = rawQualifier(dir)
	for _, v := range pps {
		s.Iterations = append(s.Iterations, &Iteration{Receivers: []*Reading{{File: &File{}, Script: [2]float64{v, v}, Usable: v > 0}}})
	}
	return s
}

func storedAt(dir, name string, values ...float64) *Stored {
	return &Stored{File: &File{Path: dir + "/" + name}, Dir: dir, Name: name, Values: values}
}

func rowOf(label string, values ...float64) *Row {
	s := Summarise(values)
	return &Row{Label: label, N: s.N, Min: s.Min, Max: s.Max, Median: s.Median, Mean: s.Mean, Stddev: s.Stddev}
}

// TestFindPrefers: logs before stored files, receivers before senders, the nearest folder,
// then the name on the label.
func TestFindPrefers(t *testing.T) {
	v := []float64{10, 20, 40}
	sender := &Series{Dir: "a/results/l", Study: "a/results/l", Key: "sent"}
	for _, x := range v {
		sender.Iterations = append(sender.Iterations, &Iteration{Senders: []*Reading{{File: &File{}, Script: [2]float64{x, x}, Usable: true}}})
	}
	far, near, other := seriesAt("b/results/m", "far", v...), seriesAt("a/results/l/RAW", "near", v...), seriesAt("a/results/l", "other", v...)
	_, x := indexed([]*Series{sender, far, other, near}, storedAt("a/results/l", "near.pps", v...))
	names := func(label, dir string) string {
		var out []string
		for _, c := range x.find(rowOf(label, v...), dir) {
			if c.vector != nil {
				out = append(out, c.vector.Series.Key)
			} else {
				out = append(out, c.stored.Name)
			}
		}
		return strings.Join(out, " ")
	}
	for _, c := range [][3]string{
		{"near.pps", "a/results/l", "near other far sent near.pps"},
		{"other.pps", "a/results/l", "other near far sent near.pps"},
		{"near.pps", "b/results/m", "far near other sent near.pps"},
	} {
		if got := names(c[0], c[1]); got != c[2] {
			t.Errorf("%s in %s: %s, want %s", c[0], c[1], got, c[2])
		}
	}
	if got := x.find(rowOf("near", 10, 21, 40), "a/results/l"); len(got) != 0 {
		t.Errorf("a row of other numbers is found at %s", got[0].name())
	}
	for want, c := range map[string]*candidate{"a/results/l/RAW/bench.near.* (receiver pps)": x.find(rowOf("near", v...), "a/results/l")[0], "a/results/l/near.pps": x.find(rowOf("near", v...), "a/results/l")[4]} {
		if got := c.name(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"a/b", "a/b", 0}, {"a/b", "a/c", 2}, {"a/b/c", "a/b", 1}, {"a", "b/c", 3}} {
		if got := distance(c.a, c.b); got != c.want || distance(c.b, c.a) != c.want {
			t.Errorf("%s to %s: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// TestNear: what a reader hears of a row that no logs give.
func TestNear(t *testing.T) {
	tree, _ := indexed([]*Series{seriesAt("d/results/l", "a", 100, 101, 103), seriesAt("d/results/l", "b", 200, 201, 203), seriesAt("e/results/l", "c", 300, 301, 303)},
		storedAt("d/results/l", "a.pps", 100, 101, 105), storedAt("d/results/l", "b.pps", 200, 203), storedAt("d/results/l", "gone.pps", 7, 8, 9))
	for name, c := range map[string]struct {
		row  *Row
		want string
	}{
		"edited":     {rowOf("a", 100, 101, 105), "d/results/l/a.pps holds it, but 1 of its 3 values differ from the logs next to it (edited, or the logs were overwritten by a later run)"},
		"deleted":    {rowOf("b", 200, 203), "d/results/l/b.pps holds it, but 2 values stand against 3 usable logs of d/results/l/bench.b"},
		"no logs":    {rowOf("gone", 7, 8, 9), "d/results/l/gone.pps holds it, but no logs of it are here"},
		"near one":   {rowOf("a", 103, 104, 105), "no logs here give these numbers"},
		"far off":    {rowOf("a", 150, 151, 152), "no logs here give these numbers"},
		"elsewhere":  {rowOf("c", 300, 301, 305), "no logs here give these numbers"},
		"not a mean": {&Row{N: 3, Mean: math.NaN()}, "no logs here give these numbers"},
	} {
		if got := unlike(tree, c.row); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestStoredReductions: each .pps against the logs it is named after, or was renamed from.
func TestStoredReductions(t *testing.T) {
	skipping := seriesAt("d/results/l", "skips", 5, 0, 6)
	tree, x := indexed([]*Series{seriesAt("d/results/l/RAW", "a", 1, 2, 3), seriesAt("d/results/l", "renamed", 7, 8, 9), skipping, seriesAt("d/results/l", "d", 1, 1, 2)},
		storedAt("d/results/l", "a.pps", 1, 2, 3), storedAt("d/results/l", "new.pps", 7, 8, 9), storedAt("d/results/l", "skips.pps", 5, 6),
		storedAt("d/results/l", "d.pps", 1, 1, 3), storedAt("e/results/l", "none.pps", 1, 2, 3), storedAt("d/results/l", "a.data", 0))
	got := CheckStored(tree, x)
	want := PpsTotals{Files: 5, WithRaw: 4, Exact: 2, Skipped: 1, Differ: 1, NoRaw: 1, Which: []string{"d/results/l/d.pps"}}
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestPlotsAgainstLogs(t *testing.T) {
	tree, _ := indexed([]*Series{seriesAt("d/results/l", "a", 1, 2, 3, 5)})
	tree.Plots = []*Plot{{Dir: "d/results/l", Rows: []Plotted{{Median: 2.5, Minimum: 1, Max: 5}, {Median: 3, Minimum: 1, Max: 5}, {Median: 2, Minimum: 1, Max: 5}, {Median: 2.5, Minimum: 1, Max: 6}}},
		{Dir: "e/results/l", Rows: []Plotted{{Median: 2.5, Minimum: 1, Max: 5}}}}
	if got, want := checkPlots(tree, NewIndex(tree)), (PlotTotals{Files: 2, Rows: 5, Reproduced: 2}); got != want {
		t.Errorf("%+v, want %+v: either median, in the plot's own folder", got, want)
	}
}

// TestGnuplot: a header in any wording or none, quoted labels, columns before and after.
func TestGnuplot(t *testing.T) {
	for line, want := range map[string]*Plotted{
		`1 20 10 30`:                         {Index: "1", Median: 20, Minimum: 10, Max: 30},
		"\t\"4 flows\\nof UDP\"   20\t10 30": {Index: "4 flows of UDP", Median: 20, Minimum: 10, Max: 30},
		`on r300000 20 10 30 extra 7`:        {Index: "on r300000", Median: 20, Minimum: 10, Max: 30, Extra: []string{"extra", "7"}},
		`4096 20 10 30`:                      {Index: "4096", Median: 20, Minimum: 10, Max: 30},
		`a 2e1 -1e1 30`:                      {Index: "a", Median: 20, Minimum: -10, Max: 30},
		`"" 20 10 30`:                        {Median: 20, Minimum: 10, Max: 30},
		`a 20 10`:                            nil,
		`a 10 20 30`:                         nil,
		`a 20 10 15`:                         nil,
		`a NaN NaN NaN`:                      nil,
		`a 20 10 Inf`:                        nil,
		`a 20 10 1e16`:                       nil,
		`20 10 30`:                           nil,
	} {
		rows, bad := ParseGnuplot([]byte("#index median minimum maximum\n\n" + line + "\n"))
		if want == nil {
			if len(rows) != 0 || !slices.Equal(bad, []int{3}) {
				t.Errorf("%q: %+v, bad %v", line, rows, bad)
			}
			continue
		}
		if len(rows) != 1 || len(bad) != 0 || fmt.Sprintf("%+v", rows[0]) != fmt.Sprintf("%+v", *want) {
			t.Errorf("%q: %+v, bad %v; want %+v", line, rows, bad, *want)
		}
	}
	rows, bad := ParseGnuplot([]byte(strings.Repeat("a 2 1 3\n", maxValues+5)))
	if len(rows) != maxValues || len(bad) != 5 {
		t.Errorf("%d rows, %d beyond the bound", len(rows), len(bad))
	}
}

func TestValuesBounds(t *testing.T) {
	for text, want := range map[string]int{
		strings.Repeat("1\n", maxValues): maxValues, strings.Repeat("1\n", maxValues+1): 0, "1e15": 1, "1.1e15": 0, "0": 1, "0x10\r\n": 0, "\n\n": 0, "\x205 \r\n6": 2,
	} {
		if v, ok := ParseValues([]byte(text)); ok != (want > 0) || len(v) != want {
			t.Errorf("%.20q: %d values, %v; want %d", text, len(v), ok, want)
		}
	}
}

// TestReadmes: title, facts and links of the prose, none of what is quoted.
func TestReadmes(t *testing.T) {
	r := parseReadme(&File{Path: "c/n/t/results/l/README.md"}, []byte("\n## Impact of it:\n\n- FreeBSD 14\n* 2 ports\n -nothing\n  - nested\n```\n- quoted\n# no\n```\nsee ../../other/results/x.png and ../y\n- last\n"))
	if r.Dir != "c/n/t/results/l" || r.Title != "Impact of it" || !slices.Equal(r.Facts, []string{"FreeBSD 14", "2 ports", "nested", "last"}) || !slices.Equal(r.Mention, []string{"../../other/results/x.png", "../y"}) || len(r.Blocks) != 0 {
		t.Errorf("%+v", r)
	}
	if r := parseReadme(&File{}, []byte("```\nx\n```\nafter it\n")); r.Title != "" {
		t.Errorf("what follows a quotation is a title: %q", r.Title)
	}
	if r := parseReadme(&File{}, []byte("T\n"+strings.Repeat("- f\n", 500)+strings.Repeat("../a ", 500))); len(r.Facts) != maxFacts || len(r.Mention) != 50 {
		t.Errorf("%d facts and %d links are kept", len(r.Facts), len(r.Mention))
	}
}
