package ministat

import (
	"strings"
	"testing"
)

// A README in the style of the archive, with numbers of our own.
const readme = "# Results\n\n" +
	"* a bullet that is no legend\n\n```\n" +
	"x before.pps\n+ after some prose\n" +
	"+--------------------+\n" +
	"|x  x x     +  + +  +|\n" +
	"||__A_|     |___AM_| |\n" +
	"+--------------------+\n" +
	"    N           Min           Max        Median           Avg        Stddev\n" +
	"x   3             1             3             2             2             1\n" +
	"+   4             5             8             7           6.5     1.2909944\n" +
	"Difference at 95.0% confidence\n" +
	"        4.5 +/- 2.3234\n        225% +/- 116.17%\n        (Student's t, pooled s = 1.18322)\n```\n\n" +
	"```\n" +
	"    N           Min           Max        Median           Avg        Stddev\r\n" +
	"x   3             1             3             2             2             1\n" +
	"+   3             1             3             2             2             1\n" +
	"No difference proven at 99.5% confidence\n```\n"

func TestFindBlocks(t *testing.T) {
	blocks := FindBlocks(readme)
	if len(blocks) != 2 {
		t.Fatalf("%d blocks", len(blocks))
	}
	b := blocks[0]
	if b.Line != 12 || len(b.Legend) != 2 || b.Legend[1] != (Legend{'+', "after some prose"}) || len(b.Rows) != 2 {
		t.Fatalf("%+v", b)
	}
	test := b.Rows[1].Test
	if test == nil || !test.Proven || test.Percent != "225" || test.PercentError != "116.17" || test.PooledSD != "1.18322" {
		t.Fatalf("%+v", test)
	}
	a, c := []float64{1, 2, 3}, []float64{5, 6, 7, 8}
	for _, g := range Generations() {
		if miss := b.Check([][]float64{a, c}, g); (len(miss) > 0) != (g != Debian) {
			t.Errorf("%v: %v; the median of four values tells them apart", g, miss)
		}
	}
	if second := blocks[1]; len(second.Legend) != 0 || second.Rows[1].Test.Confidence != "99.5" || second.Rows[1].Test.Proven {
		t.Errorf("%+v", second)
	}
}

func TestCheckFinds(t *testing.T) {
	b := FindBlocks(readme)[0]
	miss := b.Check([][]float64{{1, 2, 3}, {5, 6, 7, 8.5}}, Debian)
	fields := ""
	for _, m := range miss {
		fields += m.Field + " "
	}
	if !strings.Contains(fields, "Max") || !strings.Contains(fields, "pooled s") {
		t.Errorf("an altered value went unnoticed: %v", miss)
	}
	miss = b.Check([][]float64{{1, 2, 30}, {5, 6, 7, 8}}, Debian)
	if !strings.Contains(miss[len(miss)-1].String(), "verdict: printed difference, computed no difference proven") {
		t.Errorf("%v", miss)
	}
	if miss := b.Rows[0].Check([]float64{1}, New); len(miss) != 1 || miss[0].Field != "N" {
		t.Errorf("%v", miss)
	}
}

func FuzzFindBlocks(f *testing.F) {
	f.Add(readme)
	f.Add("N Min Max Median Avg Stddev\nx 1 2 3 4 5 6\nDifference at 95% confidence\n")
	f.Fuzz(func(_ *testing.T, text string) {
		for _, b := range FindBlocks(text) {
			for range b.Rows {
				b.Check([][]float64{{1, 2, 3}, {1, 2, 4}}, New)
			}
		}
	})
}
