package record

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"linerate/internal/hint"
	"linerate/internal/stats"
	"linerate/internal/study"
)

const specText = "name: x\nquestion: q\nseed: 42\nblocks: 3\nvariants: [{name: a}, {name: b}]\n"

func line(block int, variant string, cost float64) string {
	t := study.Trial{Part: "cost", Variant: variant, Block: block, Order: 1, Start: time.Unix(int64(block), 0).UTC(), Valid: true,
		Reasons: []study.Refusal{}, Metrics: map[string]float64{study.CostNS: cost}, Mode: "cost"}
	data, err := json.Marshal(t)
	if err != nil {
		panic(err)
	}
	return string(data) + "\n"
}

func allLines() string {
	var b strings.Builder
	for block := 1; block <= 3; block++ {
		for i, v := range []string{"a", "b", "aa"} {
			b.WriteString(line(block, v, 700+float64(100*(i%2)+block)))
		}
	}
	return b.String()
}

// files returns a complete record with the given changes.
func files(change map[string]string) fstest.MapFS {
	text := map[string]string{SpecFile: specText, TrialsFile: allLines(), ResultsFile: `{"version":1,"environment":{"kernel":"6.18"}}`}
	maps.Copy(text, change)
	fsys := fstest.MapFS{}
	for name, s := range text {
		if s != "-" {
			fsys[name] = &fstest.MapFile{Data: []byte(s)}
		}
	}
	return fsys
}

func TestRead(t *testing.T) {
	r, err := Read(files(nil), "dir")
	if err != nil {
		t.Fatal(err)
	}
	if r.Seed != 42 || len(r.Trials) != 9 || r.Torn != "" || !r.Finished || r.Environment.Kernel != "6.18" || len(r.Files) != 3 {
		t.Errorf("%+v", r)
	}
	res := r.Results()
	if res.Environment.Kernel != "6.18" || len(res.Verdicts) == 0 || res.Verdicts[0].N != 3 {
		t.Errorf("%+v", res)
	}
	if w := r.Warnings(res); len(w) != 0 {
		t.Errorf("warnings of a whole record: %q", w)
	}
}

func TestUnfinished(t *testing.T) {
	r, err := Read(files(map[string]string{ResultsFile: "-", TrialsFile: "-"}), "dir")
	if err != nil || r.Finished || len(r.Trials) != 0 || len(r.Files) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestRefused: files that are not a record of this version are refused, whatever is read first.
func TestRefused(t *testing.T) {
	lines := strings.SplitAfter(allLines(), "\n")
	middle := strings.Join(lines[:4], "") + lines[4][:20] + "\n" + strings.Join(lines[5:], "")
	for name, c := range map[string]struct {
		change     map[string]string
		says, hint string
	}{
		"no study":              {map[string]string{SpecFile: "-"}, "dir holds no study (no study.yaml)", "directory"},
		"no seed":               {map[string]string{SpecFile: strings.Replace(specText, "seed: 42\n", "", 1)}, "dir/study.yaml has no seed", ""},
		"a newer study":         {map[string]string{SpecFile: "version: 2\nnewer: yes\n" + specText}, "dir/study.yaml: the study is of version 2; this linerate reads up to version 1", "newer linerate"},
		"a study of no version": {map[string]string{SpecFile: "version: 0\n" + specText}, "version 0 of a study does not exist", ""},
		"newer results":         {map[string]string{ResultsFile: `{"version":2,"environment":[]}`}, "dir/results.json is of version 2; this linerate reads up to version 1", "newer linerate"},
		"results of no version": {map[string]string{ResultsFile: `{"version":0}`}, "does not exist", "move it away"},
		"unversioned results":   {map[string]string{ResultsFile: `{"study":"x"}`}, "has no version", "move it away"},
		"other results":         {map[string]string{ResultsFile: `[1]`}, "dir/results.json: ", ""},
		"a version in words":    {map[string]string{ResultsFile: `{"version":"1"}`}, "dir/results.json: ", ""},
		"a damaged line":        {map[string]string{TrialsFile: middle}, "dir/trials.jsonl:5: ", ""},
		"an empty line":         {map[string]string{TrialsFile: lines[0] + "\n" + lines[1]}, "dir/trials.jsonl:2: ", ""},
		"a line of nothing":     {map[string]string{TrialsFile: "{}\n" + lines[1]}, "dir/trials.jsonl:1: a trial names its part", ""},
		"a null":                {map[string]string{TrialsFile: "null\n" + lines[1]}, "dir/trials.jsonl:1: ", ""},
		"a huge line":           {map[string]string{TrialsFile: lines[0] + strings.Repeat("x", MaxLine+1)}, "dir/trials.jsonl:2: a line of", ""},
	} {
		r, err := Read(files(c.change), "dir")
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(hint.Of(err), c.hint) {
			t.Errorf("%s: %+v, %v, hint %q", name, r, err, hint.Of(err))
		}
	}
}

// TestTornLastLine: a torn last line, the only damage that a crash causes, is left out with a warning.
func TestTornLastLine(t *testing.T) {
	whole := allLines()
	for _, torn := range []string{`{"part":"co`, `{"part":"co` + "\n", "\x00\x00\x00", "{}", "null\n"} {
		r, err := Read(files(map[string]string{TrialsFile: whole + torn}), "dir")
		if err != nil || len(r.Trials) != 9 || r.Torn != torn {
			t.Errorf("%q: %+v, %v", torn, r, err)
			continue
		}
		if w := r.Warnings(r.Results()); len(w) != 1 || !strings.Contains(w[0], "cut off") {
			t.Errorf("%q: warnings %q", torn, w)
		}
	}
	if r, err := Read(files(map[string]string{TrialsFile: strings.TrimSuffix(whole, "\n")}), "dir"); err != nil || len(r.Trials) != 9 || r.Torn != "" {
		t.Errorf("a last line that only lacks its newline: %+v, %v", r, err)
	}
}

// TestResultsAreDerived: the trials decide, whatever results.json says.
func TestResultsAreDerived(t *testing.T) {
	doc := `{"version":1,"environment":{},"verdicts":[{"metric":"cost_ns_per_packet","part":"cost","control":"a","variant":"b","verdict":"better"}]}`
	r, err := Read(files(map[string]string{ResultsFile: doc}), "dir")
	if err != nil {
		t.Fatal(err)
	}
	res := r.Results()
	for _, v := range res.Verdicts {
		if v.Metric == study.CostNS && v.Verdict != stats.Worse {
			t.Errorf("a tenth more cost has the verdict %s", v.Verdict)
		}
	}
	if w := fmt.Sprint(r.Warnings(res)); !strings.Contains(w, "1 verdict that cannot be derived from its trials") {
		t.Errorf("warnings %s", w)
	}
}

// TestFacts: the record contains the facts from which its environment was derived.
func TestFacts(t *testing.T) {
	facts := `{"version":1,"os":"linux","cpu":{"model":"EPYC"}}`
	results := func(file, sum string) string {
		return fmt.Sprintf(`{"version":1,"environment":{"facts":[{"file":%q,"sha256":%q}]}}`, file, sum)
	}
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(facts)))
	r, err := Read(files(map[string]string{"facts.json": facts, ResultsFile: results("facts.json", sum)}), "dir")
	if err != nil || len(r.Facts) != 1 || r.Facts[0].CPU.Model != "EPYC" || len(r.Files) != 4 || len(r.Warnings(r.Results())) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	newer := strings.Replace(facts, `"version":1`, `"version":2`, 1)
	for name, c := range map[string]struct{ text, sum, warns string }{
		"missing": {"-", sum, "facts.json: "},
		"edited":  {facts + " ", sum, "edited since"},
		"newer":   {newer, fmt.Sprintf("%x", sha256.Sum256([]byte(newer))), "of version 2"},
	} {
		r, err := Read(files(map[string]string{"facts.json": c.text, ResultsFile: results("facts.json", c.sum)}), "dir")
		if err != nil || len(r.Facts) != 0 || !strings.Contains(fmt.Sprint(r.Warnings(r.Results())), c.warns) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	for _, name := range []string{"../secret", "trials.jsonl", "facts-x.json", "/etc/passwd", ""} {
		if _, err := Read(files(map[string]string{ResultsFile: results(name, sum)}), "dir"); err == nil {
			t.Errorf("%q was accepted as a facts file", name)
		}
	}
}

func FuzzParseTrials(f *testing.F) {
	f.Add([]byte(`{"part":"p","variant":"a","block":1}` + "\n" + `{"var`))
	f.Add([]byte("\n\n"))
	f.Add([]byte(`{"part":"p","variant":"a","block":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, whole, err := ParseTrials("t", data)
		if err != nil {
			return
		}
		again, same, err := ParseTrials("t", data[:whole])
		if err != nil || len(again) != len(all) || same != whole {
			t.Errorf("parsing the undamaged part again differs: %+v, then %+v, %v", all, again, err)
		}
	})
}

func FuzzRead(f *testing.F) {
	f.Add(specText, allLines(), `{"version":1}`)
	f.Fuzz(func(_ *testing.T, spec, trials, results string) {
		r, err := Read(files(map[string]string{SpecFile: spec, TrialsFile: trials, ResultsFile: results}), "dir")
		if err == nil {
			r.Warnings(r.Results())
		}
	})
}
