package accesslog

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// TestDetectedFormatsReadTheirLog: whatever follows the fields of combined and common, the detected
// format reads every line, and the same time in each.
func TestDetectedFormatsReadTheirLog(t *testing.T) {
	bases := map[string]string{
		"common":   `198.51.100.7 - - [01/Mar/2026:12:00:00 +0000] "GET /x HTTP/1.1" 200 17`,
		"combined": `198.51.100.7 - - [01/Mar/2026:12:00:00 +0000] "GET /x HTTP/1.1" 200 17 "-" "agent 1.0 (a; b)"`,
	}
	for base, front := range bases {
		for _, tail := range []string{
			"0.250", "250000", `"-" 0.250`, "rt=0.250", `rt="0.250"`, "0.249 request_time=0.250", "uct=0.001 uht=0.002 urt=0.250",
			`host="a b" duration=0.250 x=1`, "upstream_response_time=0.250", "0.111 0.250",
		} {
			log := strings.Repeat(front+" "+tail+"\n", 20)
			tally, _, err := Read(context.Background(), []string{"-"}, strings.NewReader(log), &Options{})
			if err != nil {
				t.Errorf("%s and %s: %v", base, tail, err)
				continue
			}
			if tally.Selected != 20 || tally.Min != 250_000 || tally.Max != 250_000 {
				t.Errorf("%s and %s: %d lines, %d to %d µs, bad %v", base, tail, tally.Selected, tally.Min, tally.Max, tally.Bad)
			}
		}
		for _, tail := range []string{"", " -", " words only", " rt=soon", " 12:30"} {
			if f, _, err := Detect([]byte(strings.Repeat(front+tail+"\n", 20))); err == nil {
				t.Errorf("%s and %q is taken for %s", base, tail, f.Name)
			}
		}
	}
}

// TestClocksOfEveryZone: a second is the same in every time zone, and caching the last second does
// not change a result.
func TestClocksOfEveryZone(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	var c clock
	for _, form := range []string{time.RFC3339, "02/Jan/2006:15:04:05 -0700"} {
		unix := int64(1_772_366_400)
		for range 5000 {
			unix += int64(r.IntN(3)) - 1 // many alike, some backward
			zone := time.FixedZone("", 900*(r.IntN(100)-48))
			text := time.Unix(unix, 0).In(zone).Format(form)
			if got, ok := c.parse([]byte(text)); !ok || got != unix {
				t.Fatalf("%s: %d, %v, want %d", text, got, ok, unix)
			}
			if bad := text[:len(text)-1]; r.IntN(10) == 0 {
				if _, ok := c.parse([]byte(bad)); ok {
					t.Fatalf("%s is a time", bad)
				}
			}
		}
	}
	for text, want := range map[string]int64{"1772366400": 1772366400, "1772366400.999": 1772366400, "0": 0, "0.5": 0} {
		if got, ok := c.parse([]byte(text)); !ok || got != want {
			t.Errorf("%s: %d, %v", text, got, ok)
		}
	}
	for _, bad := range []string{"", ".5", "-1", "1e9", "1772366400000000", "now"} {
		if got, ok := c.parse([]byte(bad)); ok {
			t.Errorf("%q is second %d", bad, got)
		}
	}
}

// TestJSONMembers: the first of a field's names that an object has counts, names with dots lead
// into objects, and lines that are not objects are bad.
func TestJSONMembers(t *testing.T) {
	for line, want := range map[string]string{
		`{"duration_ms":12.5}`: "12500", " " + `{ "x" : "a\"}" , "request_time" : "0.5" }` + " ": "500000", `{"Duration":1500}`: "1",
		`{"request_time":{"a":1},"latency":2}`: "2000000", `{"latency":[1],"elapsed":3}`: "3000000", `{"backend":{"took":7}}`: "none",
		`{"request_time":null}`: "none", `{"request_time":"-"}`: "none", `[1]`: "bad", `{"request_time":1`: "bad", `text`: "bad", `{}`: "none",
	} {
		f, err := ParseFormat("json")
		if err != nil {
			t.Fatal(err)
		}
		tally := NewTally(&Options{Format: f})
		tally.line([]byte(line))
		got := fmt.Sprint(tally.Max)
		switch {
		case tally.Bad[Shape] == 1:
			got = "bad"
		case tally.Selected == 0:
			got = "none"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
	f, err := ParseFormat("json:backend.took")
	if err != nil {
		t.Fatal(err)
	}
	tally := NewTally(&Options{Format: f})
	tally.line([]byte(`{"request_time":9,"backend":{"took":7}}`))
	if tally.Max != 7_000_000 {
		t.Errorf("a named latency: %d µs", tally.Max)
	}
}
