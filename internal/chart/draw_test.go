package chart

import (
	"encoding/xml"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"linerate/internal/show"
)

// shape is an element of a drawn chart.
type shape struct {
	name, class, text string
	at                map[string]float64
	points            [][2]float64
}

// drawn reads a chart as a browser does, and refuses one whose shapes leave it or have no
// place.
func drawn(t *testing.T, svg string) (all []shape, width, height float64) {
	t.Helper()
	dec := xml.NewDecoder(strings.NewReader(svg))
	var open []*shape
	for {
		tok, err := dec.Token()
		if tok == nil {
			if err == nil || err.Error() != "EOF" {
				t.Fatalf("%v in %.400s", err, svg)
			}
			break
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			s := shape{name: tok.Name.Local, at: map[string]float64{}}
			for _, a := range tok.Attr {
				switch a.Name.Local {
				case "class":
					s.class = a.Value
				case "viewBox":
					f := strings.Fields(a.Value)
					width, _ = strconv.ParseFloat(f[2], 64)
					height, _ = strconv.ParseFloat(f[3], 64)
				case "points":
					for pair := range strings.FieldsSeq(a.Value) {
						x, y, _ := strings.Cut(pair, ",")
						px, _ := strconv.ParseFloat(x, 64)
						py, _ := strconv.ParseFloat(y, 64)
						s.points = append(s.points, [2]float64{px, py})
					}
				default:
					if v, err := strconv.ParseFloat(a.Value, 64); err == nil {
						s.at[a.Name.Local] = v
					}
				}
			}
			open = append(open, &s)
		case xml.CharData:
			open[len(open)-1].text += string(tok)
		case xml.EndElement:
			s := open[len(open)-1]
			open = open[:len(open)-1]
			if s.name == "title" && len(open) > 0 {
				open[len(open)-1].text = s.text
			} else if s.name != "svg" {
				all = append(all, *s)
			}
			if len(open) == 0 {
				for i := range all {
					all[i].inside(t, width, height)
				}
				return all, width, height
			}
		}
	}
	return all, width, height
}

func (s shape) inside(t *testing.T, width, height float64) {
	t.Helper()
	points := slices.Clone(s.points)
	for _, keys := range [][2]string{{"x", "y"}, {"x1", "y1"}, {"x2", "y2"}, {"cx", "cy"}} {
		x, hasX := s.at[keys[0]]
		y, hasY := s.at[keys[1]]
		if hasX && hasY {
			points = append(points, [2]float64{x, y}, [2]float64{x + s.at["width"], y + s.at["height"]})
		}
	}
	for _, p := range points {
		if math.IsNaN(p[0]) || math.IsNaN(p[1]) || p[0] < -1 || p[0] > width+1 || p[1] < -1 || p[1] > height+1 {
			t.Errorf("%s %q %q is at %v of %g×%g", s.name, s.class, s.text, p, width, height)
		}
	}
}

// of are the shapes of a kind whose class begins so.
func of(all []shape, name, class string) (out []shape) {
	for _, s := range all {
		if s.name == name && strings.HasPrefix(s.class, class) {
			out = append(out, s)
		}
	}
	return out
}

func texts(shapes []shape) (out []string) {
	for _, s := range shapes {
		out = append(out, s.text)
	}
	return out
}

// TestLines: higher values stand higher, later ones further right; what is no number, or has
// no logarithm, is left out; each line is named where it ends.
func TestLines(t *testing.T) {
	nan := math.NaN()
	series := []Series{
		{Name: "grows <fast>", Class: 0, Points: [][2]float64{{1, 10}, {2, 100}, {3, nan}, {4, 1000}}},
		{Name: "falls", Class: 9, Points: [][2]float64{{1, 900}, {2, 0}, {4, 20}}},
	}
	plain := Axes{X: func(v float64) string { return fmt.Sprintf("x%g", v) }, Y: show.Tick, Across: "night", Up: "ns"}
	for _, log := range []bool{false, true} {
		a := plain
		a.LogY = log
		all, w, _ := drawn(t, Lines(series, a, "label"))
		lines, dots := of(all, "polyline", "curve"), of(all, "circle", "trial")
		if w != Width || len(lines) != 2 || lines[0].class != "curve c0" || lines[1].class != "curve c1" {
			t.Fatalf("%g wide: %+v", w, lines)
		}
		wantPoints := map[bool]int{false: 3, true: 2}[log]
		if len(lines[0].points) != 3 || len(lines[1].points) != wantPoints {
			t.Errorf("logarithmic %t: %d and %d points", log, len(lines[0].points), len(lines[1].points))
		}
		for i := 1; i < 3; i++ {
			if a, b := lines[0].points[i-1], lines[0].points[i]; a[0] >= b[0] || a[1] <= b[1] {
				t.Errorf("growth goes from %v to %v", a, b)
			}
		}
		if a, b, c := lines[0].points[0], lines[0].points[1], lines[0].points[2]; log && !(math.Abs((a[1]-b[1])-(b[1]-c[1])) <= 0.2) {
			t.Errorf("tenfold is not as far as tenfold: %v %v %v", a, b, c)
		}
		if !slices.Contains(texts(dots), "grows <fast>: x4, 1k") {
			t.Errorf("dots %q", texts(dots))
		}
		names := of(all, "text", "name")
		if len(names) != 2 || names[0].text != "grows <fast>" || names[0].at["y"] >= names[1].at["y"] {
			t.Errorf("names %+v", names)
		}
		ticks := texts(of(all, "text", "tick"))
		if !slices.Contains(ticks, "night") || !slices.Contains(ticks, "ns") || !slices.Contains(ticks, "x2") {
			t.Errorf("ticks %q", ticks)
		}
	}
	steady := []Series{{Name: "s", Class: 0, Points: [][2]float64{{1, 1000}, {2, 1002}, {3, 1001}}}}
	spread := func(a Axes) float64 {
		all, _, _ := drawn(t, Lines(steady, a, ""))
		p := of(all, "polyline", "curve")[0].points
		return p[0][1] - p[1][1]
	}
	near := plain
	near.Close = true
	if far, close := spread(plain), spread(near); !(far < 2 && close > 100) {
		t.Errorf("two in a thousand are %g pixels from zero on, %g close to", far, close)
	}
	long := Series{Name: "long"}
	for i := range maxDots + 1 {
		long.Points = append(long.Points, [2]float64{float64(i), 1})
	}
	if all, _, _ := drawn(t, Lines([]Series{long}, plain, "")); len(of(all, "circle", "")) != 0 {
		t.Error("a long line has dots")
	}
	for _, none := range [][]Series{nil, {{Name: "s", Class: 0, Points: nil}}, {{Name: "s", Class: 0, Points: [][2]float64{{1, nan}}}}} {
		if Lines(none, plain, "") != "" {
			t.Errorf("%v is drawn", none)
		}
	}
	if a := plain; true {
		a.LogY = true
		if Lines([]Series{{Name: "s", Class: 0, Points: [][2]float64{{1, 0}, {2, -1}}}}, a, "") != "" {
			t.Error("what has no logarithm is drawn")
		}
	}
}

// TestCurves: points at the same place stand aside of each other, evenly, with their intervals; a
// law is dashed in place of a line, a level and a knee are lines; ticks are at what was
// measured, the ends always, none over another.
func TestCurves(t *testing.T) {
	a := Axes{X: show.Tick, Y: show.Tick, LogX: true, LogY: true, Level: new(float64), LevelName: "none", Diagonal: true}
	*a.Level = 40
	a.XTicks = []float64{64, 128, 256, 512, 1024, 1280, 1518}
	for n := 1; n <= 8; n++ {
		var series []Series
		for i := range n {
			s := Series{Name: fmt.Sprint("curve ", i), Class: i}
			for _, x := range a.XTicks {
				s.Points, s.Spans = append(s.Points, [2]float64{x, 100}), append(s.Spans, [2]float64{50, 200})
			}
			series = append(series, s)
		}
		series[0].Law, series[0].Knee = func(float64) float64 { return 90 }, [2]float64{512, 512}
		all, _, _ := drawn(t, Lines(series, a, ""))
		if len(of(all, "line", "law c0")) < 10 || len(of(all, "line", "knee c0")) != 1 || len(of(all, "polyline", "curve")) != n-1 || len(of(all, "line", "interval")) != 7*n {
			t.Fatalf("%d curves: %+v", n, all)
		}
		sum, at := 0.0, make([]float64, n)
		bare, _, _ := drawn(t, Lines([]Series{{Name: "curve 0", Points: series[0].Points}}, a, ""))
		for i := range n {
			at[i] = of(all, "circle", fmt.Sprintf("trial c%d", i))[0].at["cx"]
			sum += at[i] - of(bare, "circle", "trial c0")[0].at["cx"]
			if i > 0 && !(at[i]-at[i-1] >= 1.4 && at[i]-at[i-1] <= 4.1) {
				t.Errorf("%d curves stand %g pixels apart", n, at[i]-at[i-1])
			}
		}
		if math.Abs(sum) > 0.1*float64(n) {
			t.Errorf("%d curves stand %g pixels to the right of their place", n, sum/float64(n))
		}
	}
	f := newPlot(nil, a, [4]float64{51, 1900, 40, 200})
	got := f.fitting(a.XTicks, a.X)
	if got[0] != 64 || got[len(got)-1] != 1518 {
		t.Errorf("%g wide: %v", Width, got)
	}
	for i := 1; i < len(got); i++ {
		if f.x.At(got[i])-f.x.At(got[i-1]) < TextWidth(a.X(got[i]))/2 {
			t.Errorf("%g wide: %g lies over %g", Width, got[i], got[i-1])
		}
	}
}

// TestForest: effects stand right of nothing where they are more and left where they are less,
// their intervals around them, the margin as a band around nothing.
func TestForest(t *testing.T) {
	rows := []Effect{
		{Name: "more", Class: "better", Value: 5, Low: 3, High: 8, Main: "+5.0 %", Aside: "[+3, +8]", Known: true},
		{Name: "less", Class: "worse", Value: -40, Low: -60, High: -20, Main: "−40 %", Known: true},
		{Name: "unknown", Class: "invalid", Main: "–"},
	}
	percent := func(v float64) string { return fmt.Sprintf("%g %%", v) }
	all, _, _ := drawn(t, Forest(rows, 2, percent, "label"))
	zero := of(all, "line", "zero")[0].at["x1"]
	dots := of(all, "circle", "point")
	if len(dots) < 2 || dots[0].at["cx"] <= zero || dots[1].at["cx"] >= zero {
		t.Fatalf("nothing is at %g, effects at %+v", zero, dots)
	}
	band := of(all, "rect", "band")[0]
	if left, right := zero-band.at["x"], band.at["x"]+band.at["width"]-zero; !(math.Abs(left-right) <= 0.3) || left <= 0 {
		t.Errorf("the band reaches %g to the left and %g to the right", left, right)
	}
	for i, of := range []struct{ low, high bool }{{true, true}, {false, false}} {
		_ = of
		var reach []float64
		for _, s := range all {
			if s.name == "line" && strings.Contains(s.class, "v-"+rows[i].Class) && s.at["y1"] == s.at["y2"] {
				reach = append(reach, s.at["x1"], s.at["x2"])
			}
		}
		if len(reach) == 0 || slices.Min(reach) >= dots[i].at["cx"] || slices.Max(reach) <= dots[i].at["cx"] {
			t.Errorf("%s is at %g, its interval from %v", rows[i].Name, dots[i].at["cx"], reach)
		}
	}
	all0, _, _ := drawn(t, Forest(rows, 0, percent, "label"))
	if len(of(all0, "rect", "band")) != 0 {
		t.Error("a band without a margin")
	}
}

// TestShapes: what has no size is drawn with none, and ticks stay within the chart.
func TestShapes(t *testing.T) {
	c := New(40)
	c.Rect("a", 10, 10, -5, -5)
	c.Cell("c", 10, 10, 5, 5, 0.5)
	c.Tick(-50, 20, "1,000,000")
	c.Tick(5000, 20, "1,000,000")
	all, _, _ := drawn(t, c.SVG(`a "label" <of> it`))
	for _, s := range of(all, "rect", "") {
		if s.at["width"] < 0 || s.at["height"] < 0 {
			t.Errorf("%+v", s)
		}
	}
	ticks := of(all, "text", "tick")
	if ticks[0].at["x"] < TextWidth("1,000,000")/2 || ticks[1].at["x"] > Width-TextWidth("1,000,000")/2 {
		t.Errorf("%+v", ticks)
	}
	if TextWidth("µs") != 14 || TextWidth("") != 0 {
		t.Error("widths of texts")
	}
}

// TestForestRange: a very wide interval does not squeeze the rest.
func TestForestRange(t *testing.T) {
	known := func(v, low, high float64) Effect { return Effect{Value: v, Low: low, High: high, Known: true} }
	if from, to := forestRange([]Effect{known(1, -1e6, 1e6), known(2, 1, 3)}, 0); from < -5 || to > 8 {
		t.Errorf("from %g to %g", from, to)
	}
}

// TestIntervalsBeyondTheAxis end in arrows, others in caps.
func TestIntervalsBeyondTheAxis(t *testing.T) {
	draw := func(low, high float64) int {
		rows := []Effect{{Name: "a", Class: "worse", Value: 1, Low: low, High: high, Known: true}}
		return strings.Count(Forest(rows, 0, func(float64) string { return "" }, ""), `class="interval`)
	}
	if inside, left, both := draw(0.5, 1.5), draw(-100, 1.5), draw(-100, 100); inside != 3 || left != 4 || both != 5 {
		t.Errorf("%d, %d and %d lines, want 3, 4 and 5: an arrow has two", inside, left, both)
	}
}
