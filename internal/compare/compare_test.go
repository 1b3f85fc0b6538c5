package compare

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"linerate/internal/hint"
	"linerate/internal/show"
	"linerate/internal/stats"
)

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name, data, column, delimiters string
		want                           []float64
		fails                          string
	}{
		{name: "plain", data: "# pps\n1\n 2 # x\n\n3.5e3\n", want: []float64{1, 2, 3500}},
		{name: "plain", data: "a 1\nb 2\n", column: "2", want: []float64{1, 2}},
		{name: "plain", data: "1\nx\n", fails: "plain: line 2 has no number in column 1"},
		{name: "plain", data: "1\nnan\n", fails: "value 2 is NaN"},
		{name: "plain", data: "1;2\n3;4\n", column: "2", delimiters: ";", want: []float64{2, 4}},
		{name: "empty", data: "", fails: "is empty"},
		{name: "r.csv", data: "variant,pps\na,10\nb,\"20\"\n\nc,\n", column: "pps", want: []float64{10, 20}},
		{name: "r.csv", data: "pps,ns\n10,1\n20,2\n", want: []float64{10, 20}},
		{name: "r.csv", data: "10,1\n20,2\n", column: "2", want: []float64{1, 2}},
		{name: "r.csv", data: "variant,pps\na,10\n", column: "pss", fails: "unknown column"},
		{name: "r.tsv", data: "a\tb\n1\t2\n", column: "b", want: []float64{2}},
		{name: "noext", data: "a;b\n1;2\n3;4\n", column: "b", want: []float64{2, 4}},
		{name: "r.csv", data: "a\nx1\n", fails: "is not a number"},
		{name: "j", data: "[1,2,3]", want: []float64{1, 2, 3}},
		{name: "j", data: `{"a":1}`, fails: "read JSON"},
	} {
		got, err := Read(c.name, []byte(c.data), Input{Column: c.column, Delimiters: c.delimiters})
		switch {
		case c.fails != "":
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s %q: %v, want %q", c.name, c.data, err, c.fails)
			}
		case err != nil || !slices.Equal(got.Values, c.want):
			t.Errorf("%s %q: %v, %v; want %v", c.name, c.data, got.Values, err, c.want)
		}
	}
}

func TestDocumentHasNoNaN(t *testing.T) {
	arms := []stats.Arm{{Name: "a", Values: []float64{1}}, {Name: "b", Values: []float64{-2, 3}}}
	r, err := Run(arms, false, stats.Options{Alpha: 0.05, Better: stats.HigherIsBetter})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(r.Document())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"verdict":"invalid"`, `"ci_low":null`, `"code":"too-few"`, `"version":1`} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	var page bytes.Buffer
	if err := r.Print(&page, show.Style{Width: 80}); err != nil || strings.Contains(page.String(), "NaN") {
		t.Errorf("%v\n%s", err, page.String())
	}
}

func TestPairedNeedsEqualLengths(t *testing.T) {
	arms := []stats.Arm{{Name: "a", Values: []float64{1, 2}}, {Name: "b", Values: []float64{1, 2, 3}}}
	if _, err := Run(arms, true, stats.Options{}); !hint.IsUsage(err) {
		t.Errorf("%v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("a.csv", "x,y\n1,2\n", "y", "")
	f.Add("a", `{"a":[1,{"b":2}]}`, "a.b", "")
	f.Add("a", "1\n2\n", "", " ")
	f.Fuzz(func(t *testing.T, name, data, column, delimiters string) {
		arm, err := Read(name, []byte(data), Input{Column: column, Delimiters: delimiters})
		if err == nil && (len(arm.Values) == 0 || slices.ContainsFunc(arm.Values, math.IsNaN)) {
			t.Errorf("accepted %v", arm.Values)
		}
	})
}
