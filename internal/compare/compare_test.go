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
	"linerate/internal/study"
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
		{name: "r.csv", data: "a\nx1\n", fails: "is no number"},
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

const studySpec = `name: s
question: q
seed: 7
blocks: 3
parts: [{mode: cost}, {mode: overload, blocks: 1}]
variants: [{name: none}, {name: rules}]
metrics: [{metric: cost_ns_per_packet, part: cost, primary: true, margin_percent: 2}]
`

// studyTrials: an invalid trial was repeated, and one of another part has the
// metric by mistake.
const studyTrials = `[
 {"part":"cost","variant":"none","block":1,"valid":true,"metrics":{"cost_ns_per_packet":100,"chain_ns_per_packet":1}},
 {"part":"cost","variant":"rules","block":1,"valid":true,"metrics":{"cost_ns_per_packet":150,"chain_ns_per_packet":2}},
 {"part":"cost","variant":"aa","block":1,"valid":true,"metrics":{"cost_ns_per_packet":101}},
 {"part":"cost","variant":"rules","block":2,"valid":false,"metrics":{"cost_ns_per_packet":999}},
 {"part":"cost","variant":"rules","block":2,"valid":true,"metrics":{"cost_ns_per_packet":166}},
 {"part":"cost","variant":"none","block":2,"valid":true,"metrics":{"cost_ns_per_packet":110}},
 {"part":"cost","variant":"aa","block":2,"valid":true,"metrics":{"cost_ns_per_packet":109}},
 {"part":"cost","variant":"none","block":3,"valid":true,"metrics":{"cost_ns_per_packet":90}},
 {"part":"cost","variant":"rules","block":3,"valid":true,"metrics":{"cost_ns_per_packet":136}},
 {"part":"cost","variant":"aa","block":3,"valid":true,"metrics":{"cost_ns_per_packet":90.5}},
 {"part":"overload","variant":"none","block":4,"valid":true,"metrics":{"cost_ns_per_packet":1}}
]`

func theStudy(t testing.TB, spec, trials string) (study.Spec, study.Results) {
	t.Helper()
	s, err := study.Parse("s.yaml", []byte(spec))
	if err != nil {
		t.Fatal(err)
	}
	var list []study.Trial
	if err := json.Unmarshal([]byte(trials), &list); err != nil {
		t.Fatal(err)
	}
	return s, study.Analyse(s, *s.Seed, study.Environment{}, list)
}

func TestStudy(t *testing.T) {
	spec, results := theStudy(t, studySpec, studyTrials)
	s, err := OfStudy(spec, results, "", "")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Control.Values, []float64{100, 110, 90}) || s.Better != stats.LowerIsBetter || s.Margin != 2 || len(s.Checks) != 1 {
		t.Fatalf("%+v", s)
	}
	r := s.Compare(stats.Options{Alpha: 0.05, Better: s.Better, MarginPercent: s.Margin})
	if c := r.Comparisons[0]; c.Variant != "rules" || c.Verdict != stats.Worse || !(math.Abs(c.EffectPercent.Estimate-50.7) <= 0.5) || c.N != 3 {
		t.Errorf("%+v", c)
	}
	if c := r.Comparisons[1]; c.Variant != "aa" || c.PHolm != c.P {
		t.Errorf("the A/A arm is corrected with the variants: %+v", c)
	}
	if _, err := OfStudy(spec, results, "nosuch", ""); err == nil || !strings.Contains(hint.Of(err), "cost_ns_per_packet") {
		t.Errorf("%v, hint %q", err, hint.Of(err))
	}
	if _, err := OfStudy(spec, results, "", "rulez"); err == nil || !strings.Contains(hint.Of(err), "rules") {
		t.Errorf("%v, hint %q", err, hint.Of(err))
	}
	if a, err := s.Arm("aa"); err != nil || a.Values[0] != 101 {
		t.Errorf("%v %v", a, err)
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

// TestStudiesApart: what was measured in two studies took no turns, and what changed meanwhile is named.
func TestStudiesApart(t *testing.T) {
	a := &Study{Environment: study.Environment{Kernel: "6.12.1", CPU: "EPYC"}}
	b := &Study{Environment: study.Environment{Kernel: "6.18.44", CPU: "EPYC"}}
	r := Result{Comparisons: make([]stats.Comparison, 3)}
	r.WarnApart([]*Study{a, b, a, nil})
	says := func(i int) (text string) {
		for _, w := range r.Comparisons[i].Warnings {
			text += string(w.Code) + ": " + w.Message
		}
		return text
	}
	if got := says(0); !strings.HasPrefix(got, "apart: ") || !strings.HasSuffix(got, "(kernel was 6.12.1, is 6.18.44)") {
		t.Errorf("two kernels: %q", got)
	}
	if got := says(1); !strings.HasPrefix(got, "apart: ") || strings.Contains(got, "kernel") {
		t.Errorf("the same kernel: %q", got)
	}
	if got := says(2); got != "" {
		t.Errorf("a file: %q", got)
	}
}

// TestStudyAgreesWithItself: what compare decides of a study is what the study
// decided, for every metric it has a verdict on.
func TestStudyAgreesWithItself(t *testing.T) {
	spec, results := theStudy(t, studySpec, studyTrials)
	for _, v := range results.Verdicts {
		s, err := OfStudy(spec, results, v.Metric, "")
		if err != nil {
			t.Fatal(err)
		}
		r := s.Compare(stats.Options{Alpha: 0.05, Better: s.Better, MarginPercent: s.Margin})
		if c := r.Comparisons[0]; c.Verdict != v.Verdict || c.Result().Effect != v.Effect || stats.Num(c.PHolm) != v.PHolm || c.N != v.N {
			t.Errorf("the study says %+v, compare %+v", v, c)
		}
	}
}

// TestStudysOtherMetrics have their own direction and one part.
func TestStudysOtherMetrics(t *testing.T) {
	spec, results := theStudy(t, studySpec, studyTrials)
	s, err := OfStudy(spec, results, study.ChainNS, "rules")
	if err != nil || s.Better != stats.LowerIsBetter || s.Margin != 0 || s.Control.Name != "rules" || len(s.Variants) != 1 || s.Variants[0].Name != "none" {
		t.Errorf("%+v, %v", s, err)
	}
}
