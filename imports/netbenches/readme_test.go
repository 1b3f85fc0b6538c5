package netbenches

import (
	"math"
	"slices"
	"strings"
	"testing"

	"linerate/internal/compare"
	"linerate/internal/sharedtest"
)

// TestPublishedConclusions: the conclusions in the sample's READMEs are those of today's ministat on the logs
// that their rows were matched with.
func TestPublishedConclusions(t *testing.T) {
	tree, err := List(t.Context(), sharedtest.Dir(t, "data/netbenches"))
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.Load(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	values := func(s *Series) []float64 {
		if v := s.values((*Iteration).equilibrium); len(v) > 0 {
			return v
		}
		return s.values(func(it *Iteration) (float64, bool) { return middle(it.Receivers, (*Reading).script) })
	}
	same, all := 0, 0
	for p, published := range conclude(tree).of {
		d, err := compare.Ministat(values(p[0]), values(p[1]), 95)
		if err != nil {
			continue
		}
		all++
		if d.Proven != (published.Verdict == "difference") {
			t.Errorf("%s: %s, ministat of the logs %+v", published.Source, published.Verdict, d)
		}
		if !d.Proven || math.Abs(d.Percent-published.Percent) < 0.01 {
			same++
		}
	}
	if all < 65 || same < all-3 { // two of 2015 are of upper medians
		t.Errorf("%d conclusions, %d with the difference that is printed", all, same)
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

// TestReadmes: title and facts come from the prose, not from quotations; a block's rows come with the text
// below each.
func TestReadmes(t *testing.T) {
	r := parseReadme("a/README.md", []byte("\n## Impact of it:\n\n- FreeBSD 14\n* 2 ports\n -nothing\n  - nested\n```\n- quoted\n# no\n```\n- last\n"))
	if r.Title != "Impact of it" || !slices.Equal(r.Facts, []string{"FreeBSD 14", "2 ports", "nested", "last"}) || len(r.Blocks) != 0 {
		t.Errorf("%+v", r)
	}
	if r := parseReadme("", []byte("```\nx\n```\nafter it\n")); r.Title != "" {
		t.Errorf("text after a quotation is taken as the title: %q", r.Title)
	}
	if r := parseReadme("", []byte("T\n"+strings.Repeat("- f\n", 500))); len(r.Facts) != maxFacts {
		t.Errorf("%d facts are kept", len(r.Facts))
	}
	r = parseReadme("", []byte("x before\n+ after\n    N           Min           Max        Median           Avg        Stddev\r\n"+
		"x   3             1             3             2             2             1\n"+
		"+   4             5             8             7           6.5     1.2909944\n"+
		"Difference at 95.0% confidence\n        4.5 +/- 2.3234\n        225% +/- 116.17%\n        (Student's t, pooled s = 1.18322)\n"+
		"*   3             1             3             2             2             1\nNo difference proven at 99.5% confidence\n\nend\n"))
	want := []Row{
		{N: 3, Min: 1, Max: 3, Avg: 2},
		{N: 4, Min: 5, Max: 8, Avg: 6.5, Tested: true, Differs: true, Percent: 225, PercentError: 116.17},
		{N: 3, Min: 1, Max: 3, Avg: 2, Tested: true},
	}
	if len(r.Blocks) != 1 || r.Blocks[0].Line != 3 || !slices.Equal(r.Blocks[0].Rows, want) {
		t.Errorf("%+v", r.Blocks)
	}
}
