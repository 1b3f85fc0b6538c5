package accesslog

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/hint"
	"linerate/internal/show"
)

// TestParseStatuses: spans, classes and lists, and what is none of them.
func TestParseStatuses(t *testing.T) {
	for text, want := range map[string]string{
		"": "[]", "all": "[]", "200": "[{200 200}]", "2xx": "[{200 299}]", "5XX": "[{500 599}]", "200-299": "[{200 299}]", "200, 3xx,404-404": "[{200 200} {300 399} {404 404}]", "100-999": "[{100 999}]",
	} {
		if got, err := ParseStatuses(text); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%q: %v, %v; want %s", text, got, err, want)
		}
	}
	for _, bad := range []string{"6xx", "0xx", "99", "1000", "299-200", "2x", "200-", "-200", "200,,300", "ok", "200-1000", "xxx"} {
		if got, err := ParseStatuses(bad); err == nil || hint.Of(err) == "" {
			t.Errorf("%q is read as %v, %v", bad, got, err)
		}
	}
}

// TestMatchPath: without a * a prefix, with one a pattern of the whole path.
func TestMatchPath(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"/a", "/a/b", true}, {"/a", "/b/a", false}, {"/a*", "/a", true}, {"*", "", true}, {"*.css", "/x/y.css", true}, {"*.css", "/x.css?v=1", false},
		{"/a/*/c", "/a/b/c", true}, {"/a/*/c", "/a/c", false}, {"/a*b*c", "/aXbYc", true}, {"/a*b*c", "/aXcYb", false}, {"/*/x/*", "/1/x/2", true}, {"/*/x/*", "/x/2", false}, {"/a*a", "/a", false}, {"**", "/a", true},
	} {
		if got := matchPath(c.pattern, []byte(c.path)); got != c.want {
			t.Errorf("%s of %s: %v", c.pattern, c.path, got)
		}
	}
}

func TestSplitRequest(t *testing.T) {
	for line, want := range map[string][2]string{
		"GET /a HTTP/1.1": {"GET", "/a"}, "GET /a": {"GET", "/a"}, "GET /a b HTTP/1.1": {"GET", "/a b"}, "GET  HTTP/1.1": {"GET", ""}, "": {}, " GET": {}, "\\x16\\x03": {},
	} {
		var at spans
		at[Request] = span{0, len(line)}
		ok := splitRequest([]byte(line), &at)
		got := [2]string{line[at[Method].from:at[Method].to], line[at[Path].from:at[Path].to]}
		if ok != (want[0] != "") || got != want {
			t.Errorf("%q: %q, %v; want %q", line, got, ok, want)
		}
	}
}

// TestFilterNeedsAField: a filter on what the lines do not hold is refused, not ignored.
func TestFilterNeedsAField(t *testing.T) {
	f, err := ParseFormat("$request_time")
	if err != nil {
		t.Fatal(err)
	}
	for what, filter := range map[string]Filter{
		"status": {Statuses: []StatusRange{{200, 200}}}, "method": {Methods: []string{"GET"}}, "path": {Path: "/"}, "host": {Host: "a"}, "time": {Since: time.Unix(1, 0)},
	} {
		if err := filter.check(f); err == nil || !strings.Contains(err.Error(), "no "+what+" to filter by") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := (&Filter{}).check(f); err != nil {
		t.Errorf("no filter: %v", err)
	}
	for name, o := range map[string]*Options{"group by path": {Format: f, By: Path}, "too many last lines": {Format: f, Last: maxLast + 1}} {
		if err := o.check(); err == nil {
			t.Errorf("%s: not refused", name)
		}
	}
}

// TestSinceAndUntil: the first second counts, the last does not.
func TestSinceAndUntil(t *testing.T) {
	at := func(s int) time.Time { return time.Date(2025, 10, 10, 12, 0, s, 0, time.UTC) }
	log := requests(200, 1, 2, 3, 4, 5)
	for _, c := range []struct {
		f    Filter
		want int64
	}{{Filter{Since: at(1)}, 4}, {Filter{Until: at(1)}, 1}, {Filter{Since: at(1), Until: at(3)}, 2}, {Filter{Since: at(9)}, 0}} {
		if got := tallied(t, &Options{Filter: c.f}, log); got.Selected != c.want || got.Lines != 5 || got.BadLines() != 0 {
			t.Errorf("%+v: %d of %d lines", c.f, got.Selected, got.Lines)
		}
	}
}

// TestPlans: a field reads the same whichever others are asked for, so from the front and
// from the end.
func TestPlans(t *testing.T) {
	f := timed(t)
	line := []byte(`h - - [10/Oct/2025:12:00:00 +0000] "GET /a\"b HTTP/1.1" 204 77 "r" "u \" 9.999" 1.234`)
	want := map[Field]string{Time: "10/Oct/2025:12:00:00 +0000", Status: "204", Bytes: "77", Latency: "1.234", Request: `GET /a\"b HTTP/1.1`}
	all := []Field{Time, Status, Bytes, Latency, Request}
	for mask := 1; mask < 1<<len(all); mask++ {
		var need fields
		for i, field := range all {
			if mask&(1<<i) != 0 {
				need = need.with(field)
			}
		}
		p := f.compile(need)
		var at spans
		if !p.run(line, &at) {
			t.Fatalf("fields %b: the line does not have the format", mask)
		}
		for _, field := range all {
			if got := string(line[at[field].from:at[field].to]); need.has(field) && got != want[field] {
				t.Errorf("fields %b: %s is %q, want %q", mask, field, got, want[field])
			}
		}
	}
	for _, broken := range []string{"", "h", `h - - [10/Oct/2025:12:00:00 +0000] "GET / 204`} {
		p := f.compile(fields(0).with(Status).with(Latency))
		if p.run([]byte(broken), new(spans)) {
			t.Errorf("%q has the format", broken)
		}
	}
}

func TestEscaped(t *testing.T) {
	for text, want := range map[string]bool{`"`: false, `\"`: true, `\\"`: false, `\\\"`: true, `a\"`: true} {
		if got := escaped([]byte(text), len(text)-1); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// TestAxisNumbers: at most four columns, in one unit an axis.
func TestAxisNumbers(t *testing.T) {
	for _, c := range []struct {
		us, end float64
		log     bool
		want    string
	}{{500, 900, false, "500 µs"}, {1500, 5000, false, "1.5 ms"}, {1.5e6, 5e6, false, "1.5 s"}, {0, 5e6, false, "0 s"}} {
		if got := timeTick(c.us, c.end, c.log); got != c.want {
			t.Errorf("%g of %g: %q, want %q", c.us, c.end, got, c.want)
		}
	}
	for _, v := range []float64{0, 0.001, 1, 12.34, 999, 1000, 123456, 9.99e8} {
		if got := axisNumber(v); len(got) > 4 || got == "" {
			t.Errorf("%g is %q", v, got)
		}
	}
}

// TestPictureRows: the fullest column reaches the top, and one request still shows.
func TestPictureRows(t *testing.T) {
	cols := []column{{count: 1000}, {count: 1}, {count: 0}, {count: 500}}
	for row, want := range map[int]string{20: "|...", 11: "|...", 10: "|__|", 1: "||_|"} {
		got := strings.TrimSpace(pictureRow(cols, 1000, row, 5))
		if _, bars, _ := strings.Cut(got, "|"); bars != want {
			t.Errorf("row %d: %q, want %q", row, bars, want)
		}
	}
	if got := pictureRow(cols, 1000, 20, 5); !strings.HasPrefix(got, " 1000 |") {
		t.Errorf("the top row is labelled %q", got)
	}
}

// TestSharesAreNotRoundedUp: what is not all is not 100 %.
func TestSharesAreNotRoundedUp(t *testing.T) {
	for _, c := range []struct {
		n, of int64
		want  float64
	}{{99_999, 100_000, 99.9}, {100, 100, 100}, {1, 2, 50}, {0, 5, 0}} {
		if got := floorPercent(c.n, c.of); !(math.Abs(got-c.want) <= 1e-9) {
			t.Errorf("%d of %d: %g, want %g", c.n, c.of, got, c.want)
		}
	}
}

// TestCharts: every chart of a log is well-formed, and of no request there is none.
func TestCharts(t *testing.T) {
	o := func() *Options { return &Options{Timeline: true} }
	some, none := tallied(t, o(), requests(200, 1, 5, 5, 700, 90_000)), NewTally(o())
	for name, text := range map[string]string{
		"linear": some.histogramChart("a <b> & c", false, 600), "logarithmic": some.histogramChart("", true, 300), "heat": some.heatChart(600),
		"cumulative": cumulativeChart([]string{"a", "b&"}, []*Tally{some, some}, 600), "alone": some.SVG("t", false),
	} {
		d := xml.NewDecoder(strings.NewReader(text))
		d.Strict = true
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if !strings.Contains(text, "<svg") || strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
			t.Errorf("%s: %.200s", name, text)
		}
	}
	if none.histogramChart("", false, 600) != "" || none.heatChart(600) != "" || cumulativeChart([]string{"a"}, []*Tally{none}, 600) != "" {
		t.Error("no requests are drawn")
	}
}

// TestHeatCells: every request of a slot is in a cell, the ends collect what lies beyond.
func TestHeatCells(t *testing.T) {
	h := newSmallHist()
	for _, us := range []int64{1, 1000, 1000, 50_000, 10_000_000} {
		if err := h.RecordValue(us); err != nil {
			t.Fatal(err)
		}
	}
	cells, total := heatCells(Slot{Hist: h}, 1000, 1_000_000)
	var sum int64
	for _, c := range cells {
		sum += c
	}
	if total != 5 || sum != 5 || cells[0] < 1 || cells[heatRows-1] != 1 {
		t.Errorf("%d in cells of %d: %v", sum, total, cells)
	}
}

// TestPage: a page escapes what a log holds, says what could not be read, and loads nothing.
func TestPage(t *testing.T) {
	tally := tallied(t, &Options{Format: timed(t), By: Path, Slow: 2, Timeline: true, Under: []time.Duration{100 * time.Millisecond}},
		strings.ReplaceAll(requests(200, 5, 250, 7), "/p1", "/<script>")+"broken\n")
	var b bytes.Buffer
	p := Page{Names: []string{"a&b.log", "c.log"}, Tallies: []*Tally{tally, tally}, Compared: []*Comparison{Compare("a&b.log", tally, "c.log", tally, 1)}, Command: "linerate logs 'a&b.log'", Made: time.Unix(0, 0), Version: "9.9"}
	if err := p.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	html := b.String()
	for _, want := range []string{"a&amp;b.log", "/&lt;script&gt;", "Made 1970-01-01 00:00 UTC by linerate 9.9.", "1 not of the format"} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, never := range []string{"/<script>", " src=\"http", " href=\"http", "NaN"} {
		if strings.Contains(html, never) {
			t.Errorf("the page has %q", never)
		}
	}
}

// TestTables: groups and slowest requests as a terminal shows them, without what a path
// could do to it.
func TestTables(t *testing.T) {
	tally := tallied(t, &Options{By: Path, Slow: 2}, strings.ReplaceAll(requests(200, 5, 250, 7, 9), "/p1", "/\x1b[31mred"))
	var groups, slow bytes.Buffer
	if err := tally.WriteGroups(&groups, show.Style{Width: 80}, 2); err != nil {
		t.Fatal(err)
	}
	if err := tally.WriteSlowest(&slow, show.Style{Width: 80}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(groups.String(), "… and 1 more") || strings.Contains(groups.String()+slow.String(), "\x1b") {
		t.Errorf("%s\n%s", &groups, &slow)
	}
	if lines := strings.Split(slow.String(), "\n"); !slices.ContainsFunc(lines, func(l string) bool {
		return strings.Contains(l, "250") && strings.Contains(l, "2025-10-10T12:00:01Z") && strings.Contains(l, "GET")
	}) {
		t.Errorf("the slowest request is not listed:\n%s", &slow)
	}
}

// TestCompareNothing: a log without requests, and logs too short for an interval.
func TestCompareNothing(t *testing.T) {
	o := func() *Options { return &Options{Timeline: true, Under: []time.Duration{100 * time.Millisecond}} }
	some := tallied(t, o(), requests(200, 5, 250))
	if c := Compare("a", NewTally(o()), "b", some, 1); !strings.Contains(c.Sentence, "nothing to compare") || len(c.Differences) != 0 {
		t.Errorf("%+v", c)
	}
	c := Compare("a", some, "b", some, 1)
	if len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "only 2 blocks") || c.Differences[0].Different || c.Differences[0].Baseline != 50 {
		t.Errorf("%+v", c)
	}
	var b bytes.Buffer
	if err := c.WriteText(&b, show.Style{Width: 100}); err != nil || !strings.Contains(b.String(), "2 and 2 blocks of time") || len(c.Rows()) != len(quantiles)+1 {
		t.Errorf("%v\n%s", err, &b)
	}
	for v, want := range map[float64]string{0.005: "+" + seconds(5000), -0.005: "−" + seconds(5000), 0: "±" + seconds(0)} {
		if got := (Difference{What: "p50"}).signed(v); got != want {
			t.Errorf("%g: %q, want %q", v, got, want)
		}
	}
}
