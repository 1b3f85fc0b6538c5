package accesslog

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"linerate/internal/hint"
	"linerate/internal/show"
)

// TestParseStatuses: ranges, classes and lists, and invalid ones.
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

func TestPathOf(t *testing.T) {
	for line, want := range map[string]string{
		"GET /a HTTP/1.1": "/a", "GET /a": "/a", "GET /a b HTTP/1.1": "/a b", "GET  HTTP/1.1": "", "": "", " GET": "", "\\x16\\x03": "",
	} {
		if got := string(pathOf([]byte(line))); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// TestFilterNeedsAField: a filter on a field that the lines lack is rejected, not ignored.
func TestFilterNeedsAField(t *testing.T) {
	f, err := ParseFormat("$request_time")
	if err != nil {
		t.Fatal(err)
	}
	for what, filter := range map[string]Filter{
		"status": {Statuses: []StatusRange{{200, 200}}}, "path": {Path: "/"},
	} {
		if err := filter.check(f); err == nil || !strings.Contains(err.Error(), "no "+what+" to filter by") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := (&Filter{}).check(f); err != nil {
		t.Errorf("no filter: %v", err)
	}
	if _, err := (&Options{Format: f, Failed: true}).prepare(nil); err == nil {
		t.Error("failures of a log without statuses are counted")
	}
}

// TestFind: a quote after an odd number of backslashes does not end a quoted text.
func TestFind(t *testing.T) {
	for text, want := range map[string]int{`"`: 0, `\"`: -1, `\\"`: 2, `\\\"`: -1, `a\" b"`: 5} {
		if got := find([]byte(text), `"`, true); got != want {
			t.Errorf("%s: %d", text, got)
		}
	}
	if got := find([]byte(`a\"`), `"`, false); got != 2 {
		t.Errorf("without quotes: %d", got)
	}
}

// TestKeyed: a key begins a word, and its value may be in quotes.
func TestKeyed(t *testing.T) {
	for pairs, want := range map[string]string{"rt=1": "1", "urt=2 rt=1 x": "1", `a="b c" rt="3"`: "3", "urt=2": "", "rt=": "", "rt": ""} {
		if got := string(keyed([]byte(pairs), "rt")); got != want {
			t.Errorf("%s: %q", pairs, got)
		}
	}
}

// TestSharesAreNotRoundedUp: less than all is never 100 %.
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

// TestCompareNothing: a log without requests, and logs too short for an interval.
func TestCompareNothing(t *testing.T) {
	o := func() *Options { return &Options{Timeline: true, Under: []time.Duration{100 * time.Millisecond}} }
	some := tallied(t, o(), requests(200, 5, 250))
	if c := Compare("a", NewTally(o()), "b", some); !strings.Contains(c.Sentence, "nothing to compare") || len(c.Differences) != 0 {
		t.Errorf("%+v", c)
	}
	c := Compare("a", some, "b", some)
	if len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "only 2 blocks") || c.Differences[0].Different || c.Differences[0].Baseline != 50 {
		t.Errorf("%+v", c)
	}
	var b bytes.Buffer
	if err := c.Document().Terminal(&b, show.Style{Width: 100}); err != nil || !strings.Contains(b.String(), "2 and 2 blocks of time") || strings.Count(b.String(), "−50.0 points … +50.0 points ~") != 1 || strings.Count(b.String(), "not known") != len(quantiles) {
		t.Errorf("%v\n%s", err, &b)
	}
	for v, want := range map[float64]string{0.005: "+" + seconds(5000), -0.005: "−" + seconds(5000), 0: "±" + seconds(0)} {
		if got := (Difference{What: "p50"}).signed(v); got != want {
			t.Errorf("%g: %q, want %q", v, got, want)
		}
	}
}
