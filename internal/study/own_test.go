package study_test

import (
	"encoding/json"
	"strings"
	"testing"

	"linerate/internal/study"
	"linerate/internal/testbed"
)

// turning is a kind that no file of this package knows: what it adds is all here.
type turning struct{ study.Base }

type turningKeys struct {
	Turning *turningPlan `yaml:"turning,omitempty"`
}

type turningPlan struct {
	Windows int `yaml:"windows"`
}

type turningSaw struct {
	Turned []float64 `json:"turned,omitempty"`
}

func (turning) Name() string           { return "turning" }
func (turning) Modes() []testbed.Mode  { return []testbed.Mode{"turning"} }
func (turning) Owns(p study.Part) bool { return p.Mode == "turning" }
func (turning) Keys() study.Keys       { return study.Keys{Part: new(turningKeys)} }
func (turning) Saw() any               { return new(turningSaw) }
func (turning) Metrics() []study.Metric {
	return []study.Metric{{Name: "turns", Label: "turns", Mode: "turning", Verdict: true}}
}

func (turning) FillPart(s *study.Spec, place int, said func(string) bool) {
	p := &s.Parts[place]
	if p.Own == nil {
		p.Own = &turningKeys{Turning: &turningPlan{}}
	}
	study.Unless(said, study.PartPath(place)+".turning.windows", &p.Own.(*turningKeys).Turning.Windows, 12)
}

func (turning) CheckPart(s *study.Spec, place int, path string) *study.Problem {
	return study.Within(path+".turning.windows", s.Parts[place].Own.(*turningKeys).Turning.Windows, 1, 100)
}

func (turning) Gates() []study.Gate {
	return []study.Gate{study.Drift, {Name: "still", AppliesTo: study.Always, Limit: study.Must("it must turn"), Ask: func(a study.Asked) []string {
		saw, _ := a.Observed.Own.(*turningSaw)
		return study.FaultIf(saw == nil || len(saw.Turned) == 0, "nothing turned")
	}}}
}

func (turning) Measure(_ study.Part, o study.Observation, _ []study.Trial) map[string]float64 {
	m := map[string]float64{}
	if saw, ok := o.Own.(*turningSaw); ok {
		m["turns"] = float64(len(saw.Turned))
	}
	return m
}

// TestAKindOfItsOwn: a kind that is registered has its keys read, checked and
// written, its observation kept, its gates asked and its metrics judged.
func TestAKindOfItsOwn(t *testing.T) {
	t.Cleanup(study.KeepKinds())
	study.Register(turning{})
	const text = "name: x\nquestion: q\nvariants: [{name: a}, {name: b}]\nparts: [{mode: turning, turning: {windows: 7}}, {name: plain, mode: turning}, {mode: cost}]\n"
	s, err := study.Parse("x.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if study.KindOf(s.Parts[0]).Name() != "turning" || study.KindOf(s.Parts[2]).Name() != "forward" || s.Primary().Metric != "turns" {
		t.Errorf("%+v, primary %+v", s.Parts, s.Primary())
	}
	for i, want := range []int{7, 12} {
		if got := s.Parts[i].Own.(*turningKeys).Turning.Windows; got != want {
			t.Errorf("part %d has %d windows, want %d", i, got, want)
		}
	}
	written, err := study.Format(s)
	if err != nil || !strings.Contains(string(written), "turning:\n      windows: 7") {
		t.Errorf("%v:\n%s", err, written)
	}
	again, err := study.Parse("y.yaml", written)
	if err != nil {
		t.Fatal(err)
	}
	if twice, _ := study.Format(again); string(twice) != string(written) {
		t.Errorf("read and written again:\n%s", twice)
	}
	for bad, want := range map[string]string{
		"windows: 7": "windows: 700", "turning.windows: 700": "windows: 700", "unknown": "window: 7",
	} {
		if _, err := study.Parse("x.yaml", []byte(strings.Replace(text, "windows: 7", want, 1))); err == nil || !strings.Contains(err.Error(), "x.yaml:4") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	o := study.Observation{Own: &turningSaw{Turned: []float64{1, 2}}}
	data, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	var back study.Observation
	if err := json.Unmarshal(data, &back); err != nil || len(back.Own.(*turningSaw).Turned) != 2 {
		t.Errorf("%s: %v, %+v", data, err, back)
	}
	if m, why := study.Judge(s.Parts[0], s.Gates, back); m["turns"] != 2 || len(why) != 0 {
		t.Errorf("%v, %v", m, why)
	}
	if _, why := study.Judge(s.Parts[0], s.Gates, study.Observation{}); len(why) != 1 || why[0].String() != "still: nothing turned" {
		t.Errorf("%v", why)
	}
}
