package accesslog

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// object is a JSON object of random members, some of them the names that lines are read
// by, nested up to a depth.
func object(r *rand.Rand, depth int) map[string]any {
	names := []string{"status", "uri", "request", "x", "host", "duration_ms", "a b", "é", "response", "size"}
	o := map[string]any{}
	for range r.IntN(6) {
		name := names[r.IntN(len(names))]
		switch kind := r.IntN(7); {
		case kind == 0 && depth > 0:
			o[name] = object(r, depth-1)
		case kind == 1:
			o[name] = []any{r.IntN(9), "]}", map[string]any{"status": 1}, []any{}}
		case kind == 2:
			o[name] = []any{nil, true, false}[r.IntN(3)]
		case kind == 3:
			o[name] = strings.Repeat(`a"\{}[],: `, r.IntN(3))
		default:
			o[name] = r.IntN(1000)
		}
	}
	return o
}

// at is the value that a path of names leads to.
func at(o map[string]any, path ...string) (any, bool) {
	v, ok := o[path[0]]
	if len(path) == 1 || !ok {
		return v, ok
	}
	inner, ok := v.(map[string]any)
	if !ok {
		return nil, false
	}
	return at(inner, path[1:]...)
}

// TestJSONAgainstTheStandardLibrary: the scanner that builds nothing finds what
// encoding/json finds, and refuses what that refuses for its brackets and strings.
func TestJSONAgainstTheStandardLibrary(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	format := jsonFormat()
	found := 0
	for range 20_000 {
		o := object(r, 3)
		line, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		if r.IntN(2) == 0 { // white space between anything
			var b bytes.Buffer
			if err := json.Indent(&b, line, " ", "\t"); err != nil {
				t.Fatal(err)
			}
			line = bytes.ReplaceAll(b.Bytes(), []byte("\n"), []byte(" "))
		}
		s := jsonScanner{fields: format.json, need: fields(0).with(Status).with(Latency)}
		var spans spans
		if !s.run(line, &spans) {
			t.Fatalf("%s was refused", line)
		}
		for field, path := range map[Field][]string{Status: {"status"}, Latency: {"duration_ms"}} {
			want, ok := at(o, path...)
			if _, nested := want.(map[string]any); nested {
				continue // it has no value of its own
			}
			if also, there := at(o, "response", "status"); field == Status && there {
				if ok {
					continue // either is the status: the first in the line counts
				}
				if _, nested := also.(map[string]any); nested {
					continue
				}
				want, ok = also, true
			}
			if s.got.has(field) != ok {
				t.Fatalf("%s: found %v, want %v", line, s.got.has(field), ok)
			}
			if !ok {
				continue
			}
			found++
			var got any
			raw := line[spans[field].from:spans[field].to]
			if text, isText := want.(string); isText {
				if json.Unmarshal([]byte(`"`+string(raw)+`"`), &got) != nil || got != text {
					t.Fatalf("%s: %q, want %q", line, raw, text)
				}
				continue
			}
			if wanted, _ := json.Marshal(want); json.Unmarshal(raw, &got) != nil || !writtenSo(got, wanted) {
				t.Fatalf("%s: %q, want %s", line, raw, wanted)
			}
		}
		if cut := line[:r.IntN(len(line))]; len(bytes.TrimSpace(cut)) > 0 && s.run(cut, &spans) {
			t.Fatalf("%q, cut from %q, was read", cut, line)
		}
	}
	if found < 5000 {
		t.Errorf("only %d values were compared", found)
	}
}

// writtenSo reports a value that is written like another.
func writtenSo(got any, written []byte) bool {
	b, err := json.Marshal(got)
	return err == nil && bytes.Equal(b, written)
}

// TestDetectedFormatsReadTheirLog: whatever stands behind the fields of combined and
// common, what is detected reads every line, and the same time in each.
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

// TestClocksOfEveryZone: a second is the same whatever zone it was written in, and the
// memory of the last second changes no answer.
func TestClocksOfEveryZone(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for layout, form := range map[timeLayout]string{layoutISO: time.RFC3339, layoutCLF: "02/Jan/2006:15:04:05 -0700"} {
		c := clock{layout: layout}
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
	epoch := clock{layout: layoutEpoch}
	for text, want := range map[string]int64{"1772366400": 1772366400, "1772366400.999": 1772366400, "0": 0, "0.5": 0} {
		if got, ok := epoch.parse([]byte(text)); !ok || got != want {
			t.Errorf("%s: %d, %v", text, got, ok)
		}
	}
	for _, bad := range []string{"", ".5", "-1", "1e9", "1772366400000000", "now"} {
		if got, ok := epoch.parse([]byte(bad)); ok {
			t.Errorf("%q is second %d", bad, got)
		}
	}
}
