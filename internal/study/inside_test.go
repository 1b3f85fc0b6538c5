package study_test

import (
	"strings"
	"testing"

	"linerate/internal/study"
	"linerate/internal/testbed"
)

// TestInstrumentsLookInto: the primary's part is profiled first, then one of each other mode, with
// every available variant once.
func TestInstrumentsLookInto(t *testing.T) {
	s := study.Spec{Profile: true, Variants: []study.Variant{{Name: "a"}, {Name: "b"}}, Metrics: []study.Goal{{Part: "second", Primary: true}},
		Parts: []study.Part{{Name: "first", Mode: testbed.Cost}, {Name: "second", Mode: testbed.Cost, Seconds: 0.3, Warmup: 0.25}, {Name: "over", Mode: testbed.Overload, Rate: "50%", Seconds: 9}}}
	none := func(study.Part) bool { return false }
	var had []study.Telemetry
	var order []string
	for {
		in, ok := study.InsideNext(s, had, nil, none)
		if !ok {
			break
		}
		order = append(order, in.Part.Name+"/"+in.Variant)
		had = append(had, study.Telemetry{Part: in.Part.Name, Variant: in.Variant})
		if len(order) > 9 {
			t.Fatal("InsideNext never ends")
		}
	}
	if got := strings.Join(order, " "); got != "second/a second/b over/a over/b" {
		t.Errorf("profiled %s", got)
	}
	// Two variants in each part: 1.2 s and 2 s of profile, the warm-up, and half a second of overhead.
	if got, want := s.InsideSeconds(nil, nil, none), 2*(1.2+0.25+0.5)+2*(2+0.5); got < want-1e-9 || got > want+1e-9 {
		t.Errorf("%g s, want %g", got, want)
	}
	if got, want := s.InsideSeconds(had[:3], nil, none), 2+0.5; got != want {
		t.Errorf("%g s are left, want %g", got, want)
	}
	gone := []study.Trial{{Variant: "a", Unavailable: "no such thing"}, {Variant: "b"}}
	if in, ok := study.InsideNext(s, nil, gone, func(p study.Part) bool { return p.Mode == testbed.Cost }); !ok || in.Variant != "b" || in.Part.Name != "over" || !in.Part.Rate.IsMax() {
		t.Errorf("next is %+v, %t", in, ok)
	}
	s.Profile = false
	if _, ok := study.InsideNext(s, nil, nil, none); ok {
		t.Error("variants are profiled without profile: yes")
	}
}

// TestInstrumentsLookBriefly: the profile is short if the trials are short, except for a search, whose
// trials vary in length.
func TestInstrumentsLookBriefly(t *testing.T) {
	for _, c := range []struct {
		search *study.Search
		want   float64
	}{{nil, 0.2}, {&study.Search{}, 1}} {
		s := study.Spec{Profile: true, Variants: []study.Variant{{Name: "a"}}, Metrics: []study.Goal{{Part: "p", Primary: true}},
			Parts: []study.Part{{Name: "p", Mode: testbed.Overload, Seconds: 0.05, Search: c.search}}}
		in, _ := study.InsideNext(s, nil, nil, func(study.Part) bool { return false })
		if in.Seconds != c.want {
			t.Errorf("a profile of %g s, want %g", in.Seconds, c.want)
		}
	}
}

// TestSweepOfNoList: if a value stands in the place of a list, the sweep leaves the error to the
// parser of the file.
func TestSweepOfNoList(t *testing.T) {
	const head = "name: x\nquestion: q\nsweep: [{parameter: n, values: [1, 2]}]\n"
	for _, body := range []string{"variants: 5\n", "variants: {name: a-$n}\n", "variants: [{name: a}, {name: b}]\nparts: $n\n", "variants: [{name: a}, {name: b}]\nmetrics: \n  metric: $n\n"} {
		if _, err := study.Parse("s.yaml", []byte(head+body)); err == nil || !strings.Contains(err.Error(), "s.yaml") {
			t.Errorf("%q: %v", body, err)
		}
	}
}
