package labbench

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"linerate/internal/hint"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// TestKeptIsReadAsWritten, what is unknown too; what was there stays whole where it cannot be
// replaced.
func TestKeptIsReadAsWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kept")
	k, err := readKept(file, 9)
	if err != nil || k.Seed != 9 || len(k.Planted.Effects) != len(plantedRules) {
		t.Fatalf("%+v, %v", k, err)
	}
	k.Seconds, k.Took["x"] = 12.5, 3
	k.AA.Half[0].add(0.25)
	k.AA.Half[1].add(math.Inf(1))
	k.AA.Half[1].add(math.NaN())
	k.Planted.Effects[2].add(-1.5)
	k.Planted.Found[2] = 1
	k.Alarms = alarmCounts{Studies: 3, Found: 1, SD: numbers{stats.Num(0.1)}}
	if err := k.write(file); err != nil {
		t.Fatal(err)
	}
	again, err := readKept(file, 1)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(k)
	b, _ := json.Marshal(again)
	if string(a) != string(b) || again.Seed != 9 || again.AA.Half[1][0].Known() {
		t.Errorf("written %s\nread    %s", a, b)
	}
	if err := os.Mkdir(file+".new", 0o700); err != nil {
		t.Fatal(err)
	}
	k.Seed = 10
	if err := k.write(file); err == nil {
		t.Error("what could not be kept was")
	}
	if again, err := readKept(file, 1); err != nil || again.Seed != 9 {
		t.Errorf("%+v, %v", again, err)
	}
	if k, err := readKept("", 4); err != nil || k.Seed != 4 || k.write("") != nil {
		t.Errorf("without a file: %+v, %v", k, err)
	}
	if _, err := readKept(filepath.Join(file, "below"), 1); err == nil || hint.IsUsage(err) {
		t.Errorf("below a file: %v", err)
	}
}

// TestWidths: a median of what may be unknown; a method without a study has no number.
func TestWidths(t *testing.T) {
	var w ways
	for _, v := range []float64{0.3, math.NaN(), 0.1} {
		w.Half[0].add(v)
	}
	w.Took[0] = []float64{10, 30, 20}
	got := w.widths()
	if got.Interleaved.Float() != 0.3 || got.Studies != 3 || got.Seconds.Float() != 20 || got.Sequential.Known() || got.SequentialStudies != 0 {
		t.Errorf("%+v", got)
	}
	w.Half[0].add(math.NaN())
	w.Half[0].add(math.NaN())
	if got := w.widths(); got.Interleaved.Known() {
		t.Errorf("mostly unknown, and half a width of %v", got.Interleaved)
	}
}

// TestAgreement: two intervals agree where they touch.
func TestAgreement(t *testing.T) {
	v := func(name string, low, high float64) study.Verdict {
		return study.Verdict{Variant: name, Result: stats.Result{Effect: stats.EffectOf(stats.Interval{Estimate: (low + high) / 2, Low: low, High: high})}}
	}
	var w ways
	if w.agreement() != nil {
		t.Error("nothing agrees")
	}
	w.Large = [2][]study.Verdict{{v("a", -10, -8), v("b", -10, -8), v("c", 1, 2)}, {v("a", -8, -5), v("b", -7, -5)}}
	got := w.agreement()
	if len(got) != 2 || !got[0].Agree || got[1].Agree || got[0].Variant != "a" {
		t.Errorf("%+v", got)
	}
}

// TestPlanted: the smallest effect that is found is one that nine of ten studies found, and there are
// ten at least; effects are known by the many rules' cost.
func TestPlanted(t *testing.T) {
	found := func(of int, times ...int) Result {
		var p plants
		p.Effects, p.Found = make([]numbers, len(plantedRules)), make([]int, len(plantedRules))
		for range of {
			p.Took = append(p.Took, 5)
			p.Base.add(200)
			for i, n := range plantedRules {
				p.Effects[i].add(0.5 * float64(n)) // half a percent a rule
			}
		}
		copy(p.Found, times)
		var out Result
		p.summarise(&out)
		return out
	}
	if out := found(0); out.Smallest.Known() || len(out.Planted) != 0 {
		t.Errorf("no study: %+v", out)
	}
	out := found(10, 3, 9, 8, 10, 10)
	if out.Smallest.Float() != 1 || out.PlantedSeconds != 5 || len(out.Planted) != len(plantedRules) {
		t.Errorf("smallest %v of %+v", out.Smallest, out.Planted)
	}
	if p := out.Planted[1]; p.Rules != 2 || p.NS.Float() != 2 || p.Effect.Float() != 1 || p.Found != 9 || p.Of != 10 {
		t.Errorf("%+v", p)
	}
	if out := found(10, 8, 8, 8, 8, 8); out.Smallest.Known() {
		t.Errorf("eight of ten: %v", out.Smallest)
	}
	if out := found(9, 9, 9, 9, 9, 9); out.Smallest.Known() {
		t.Errorf("nine studies: %v", out.Smallest)
	}
}

// TestFoundIsSlower: a planted rule is found where the study says that its variant costs more; less, or no
// difference, is not it.
func TestFoundIsSlower(t *testing.T) {
	var p plants
	p.Effects, p.Found = make([]numbers, len(plantedRules)), make([]int, len(plantedRules))
	var r study.Results
	for i, v := range []struct {
		verdict stats.Verdict
		effect  float64
	}{{stats.Worse, 1}, {stats.Better, -1}, {stats.Inconclusive, 2}, {stats.Equivalent, 0.1}, {stats.Worse, 50}} {
		one := study.Verdict{Variant: "plus", Result: stats.Result{Verdict: v.verdict, Effect: stats.EffectOf(stats.Interval{Estimate: v.effect, Low: v.effect - 1, High: v.effect + 1})}}
		one.ControlMean = stats.Num(200 + float64(i))
		r.Verdicts = append(r.Verdicts, one)
	}
	for range 2 {
		p.add(r, 5)
	}
	if p.Found[0] != 2 || p.Found[1]+p.Found[2]+p.Found[3] != 0 || p.Found[4] != 2 || len(p.Took) != 2 || p.Base.median(0) != 200 || p.Effects[4].median(0) != 50 {
		t.Errorf("%+v", p)
	}
}

// TestKeptsBounds: what is no time, or of another bench's effects, is no file of ours.
func TestKeptsBounds(t *testing.T) {
	good := `"version":1,"took":{},"planted":{"effect_percent":[[],[],[],[],[]],"found":[0,0,0,0,0]}`
	for text, ok := range map[string]bool{
		"{" + good + `,"seconds":0}`: true, "{" + good + `,"seconds":999999}`: true, "{" + good + `,"seconds":1e6}`: false, "{" + good + `,"seconds":-1}`: false,
		`{"version":1,"took":{},"planted":{"effect_percent":[[]],"found":[0,0,0,0,0]}}`: false, `{"version":1,"took":{},"planted":{"effect_percent":[[],[],[],[],[]],"found":[0]}}`: false,
	} {
		file := filepath.Join(t.TempDir(), "kept")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readKept(file, 1); (err == nil) != ok || err != nil && !hint.IsUsage(err) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
