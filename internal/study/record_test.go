package study_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"linerate/internal/stats"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

// TestRefusalsAreReadBack: a reason is split into gate and fault, and written back as records
// have it; text that does not begin with a gate's name is kept whole.
func TestRefusalsAreReadBack(t *testing.T) {
	for text, want := range map[string]study.Refusal{
		"drift: CPU 3 changed speed by 20 %": {Gate: "drift", Text: "CPU 3 changed speed by 20 %"},
		"stolen time: much: too much":        {Gate: "stolen time", Text: "much: too much"},
		"dial tcp: connection refused":       {Text: "dial tcp: connection refused"},
		"drift":                              {Text: "drift"},
		"":                                   {},
		"headroom: ":                         {Gate: "headroom"},
	} {
		var got study.Refusal
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want || got.String() != text {
			t.Errorf("%q is %+v, %q, %v", text, got, got.String(), err)
		}
	}
	if got := study.Failed(errors.New("no carrier")); got.Gate != "" || got.String() != "no carrier" {
		t.Errorf("%+v", got)
	}
	tr := study.Trial{Reasons: study.Reasons("drift: x", "y")}
	data, err := json.Marshal(tr.Reasons)
	if err != nil || string(data) != `["drift: x","y"]` || !slices.Equal(tr.Why(), []string{"drift: x", "y"}) {
		t.Errorf("%s, %v, %q", data, err, tr.Why())
	}
	if none := study.Reasons(); none == nil || len(none) != 0 {
		t.Errorf("Reasons() is %#v, want an empty slice", none)
	}
}

// TestGatesAreListedOnce: a study has the gates of its parts' kinds, each once, and no others.
func TestGatesAreListedOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, g := range study.AllGates(study.KindForward, study.KindSearch, study.KindServe, study.KindSwitchback) {
		if seen[g.Name] || g.Ask == nil {
			t.Errorf("gate %q is listed twice, or has no check", g.Name)
		}
		seen[g.Name] = true
		if again, ok := study.GateNamed(g.Name); !ok || again.Name != g.Name {
			t.Errorf("gate %q by its name: %+v", g.Name, again)
		}
	}
	if _, ok := study.GateNamed("nothing such"); ok {
		t.Error("an unknown name has a gate")
	}
	s := twoParts()
	s.Parts = s.Parts[:1] // parts of mode cost only
	if got := study.GatesOf(s); !slices.Contains(got, "drift") || !slices.Contains(got, "cost") || slices.Contains(got, "generator") || slices.Contains(got, "lag") {
		t.Errorf("%v", got)
	}
}

// TestMachineGates: a CPU above its limit refuses a trial, one exactly at the limit does not;
// interleaved arms all drift alike, so their drift does not count.
func TestMachineGates(t *testing.T) {
	limits := study.Gates{DriftPercent: 15, StealPercent: 2}
	ask := func(cpu study.CPUCheck, turns *study.Interleaved) (drift, stolen int) {
		a := study.Asked{Limits: limits, Observed: study.Observation{CPUs: []study.CPUCheck{{CPU: 1, SpinBefore: 1, SpinAfter: 1}, cpu}, Interleaved: turns}}
		return len(study.Drift.Ask(a)), len(study.AskStolen(a))
	}
	for _, c := range []struct {
		cpu           study.CPUCheck
		turns         *study.Interleaved
		drift, stolen int
	}{
		{study.CPUCheck{SpinBefore: 100, SpinAfter: 114}, nil, 0, 0}, {study.CPUCheck{SpinBefore: 100, SpinAfter: 120}, nil, 1, 0}, {study.CPUCheck{SpinBefore: 120, SpinAfter: 100}, nil, 1, 0},
		{study.CPUCheck{SpinBefore: 100, SpinAfter: 120}, &study.Interleaved{Attempt: 1}, 0, 0},
		{study.CPUCheck{SpinBefore: 1, SpinAfter: 1, Steal: 0.02}, nil, 0, 0}, {study.CPUCheck{SpinBefore: 1, SpinAfter: 1, Steal: 0.021}, nil, 0, 1}, {study.CPUCheck{SpinBefore: 1, SpinAfter: 1, Steal: 0.5}, &study.Interleaved{Attempt: 1}, 0, 1},
	} {
		if drift, stolen := ask(c.cpu, c.turns); drift != c.drift || stolen != c.stolen {
			t.Errorf("%+v, taking turns %t: drift %d, stolen %d", c.cpu, c.turns != nil, drift, stolen)
		}
	}
	if text := study.Drift.Ask(study.Asked{Limits: limits, Observed: study.Observation{CPUs: []study.CPUCheck{{CPU: 7, SpinBefore: 100, SpinAfter: 150}}}}); len(text) != 1 || !strings.Contains(text[0], "CPU 7 changed speed by ") || !strings.Contains(text[0], "(limit 15 %)") {
		t.Errorf("%q", text)
	}
}

// TestArmsOfResults: the control comes first, then its A/A repetition, then the variants in the
// order of the verdicts, then arms that have only trials; unavailable ones are left out.
func TestArmsOfResults(t *testing.T) {
	tr := func(part, variant string, valid bool, value float64) study.Trial {
		return study.Trial{Part: part, Block: 1, Variant: variant, Valid: valid, Metrics: map[string]float64{study.CostNS: value}}
	}
	gone := tr("cost", "gone", false, 0)
	gone.Unavailable = "no module"
	r := study.Results{Control: "a", Verdicts: []study.Verdict{{Part: "cost", Variant: "c"}, {Part: "over", Variant: "x"}, {Part: "cost", Variant: "b"}},
		Trials: []study.Trial{tr("cost", "b", true, 1), gone, tr("cost", "late", false, 2), tr("over", study.AA, true, 3), tr("cost", study.AA, true, 4), tr("cost", "b", false, 5), tr("cost", "b", true, 6), tr("cost", "a", true, 7)}}
	if got := r.Arms("cost"); !slices.Equal(got, []string{"a", study.AA, "c", "b", "late"}) {
		t.Errorf("%q", got)
	}
	if got := r.Arms("over"); !slices.Equal(got, []string{"a", study.AA, "x"}) {
		t.Errorf("%q", got)
	}
	if got := r.Values("cost", "b", study.CostNS); !slices.Equal(got, []float64{1, 6}) {
		t.Errorf("valid values %v", got)
	}
	if got := r.Values("cost", "b", study.ForwardingRate); got != nil {
		t.Errorf("of another metric %v", got)
	}
	if got := r.Measured(); !slices.Equal(got, []string{"cost", "over"}) {
		t.Errorf("parts %q", got)
	}
	if r.ArmName(study.AA) != "a again (A/A)" || r.ArmName("b") != "b" {
		t.Errorf("%q, %q", r.ArmName(study.AA), r.ArmName("b"))
	}
	if valid, all := study.Valid(r.Trials); valid != 5 || all != 7 {
		t.Errorf("%d of %d valid", valid, all)
	}
}

// TestEnvironmentsFollowEachOther: testbeds and unavailable modes remain known after a resume,
// differences are noted once, and the earlier environment is not modified.
func TestEnvironmentsFollowEachOther(t *testing.T) {
	first := study.Environment{Hostname: "box", Kernel: "6.12", Testbeds: map[string]study.BedNotes{"cost": {Kind: "netns"}}, Unavailable: map[string]string{"overload": "one CPU"}}
	later := study.Environment{Hostname: "box", Kernel: "6.13", Testbeds: map[string]study.BedNotes{"overload": {Kind: "ssh"}}, Unavailable: map[string]string{"serve": "no nginx"}}
	both := first.Then(later).Then(later)
	want := study.Environment{Hostname: "box", Kernel: "6.12", Testbeds: map[string]study.BedNotes{"cost": {Kind: "netns"}, "overload": {Kind: "ssh"}},
		Unavailable: map[string]string{"overload": "one CPU", "serve": "no nginx"}, Resumed: []string{"kernel was 6.12, is 6.13"}}
	if diff := cmp.Diff(want, both); diff != "" {
		t.Error(diff)
	}
	if len(first.Testbeds) != 1 || len(first.Unavailable) != 1 || first.Resumed != nil || len(later.Testbeds) != 1 {
		t.Errorf("the earlier environment was modified: %+v, %+v", first, later)
	}
	if !both.On("ssh") || !both.On("jail", "netns") || both.On("jail") || (study.Environment{}).On("netns") {
		t.Error("On reports the wrong kinds of testbeds")
	}
}

// TestEffectsInTime: per-packet times are shown in whole nanoseconds, requests in a suitable unit.
func TestEffectsInTime(t *testing.T) {
	packets, requests := study.Metric{NS: study.IsNS}, study.Metric{NS: study.IsTime}
	for _, c := range []struct {
		m    study.Metric
		ns   float64
		want string
	}{{packets, 304.4, "+304 ns"}, {packets, -12, "−12 ns"}, {packets, 0.2, "±0 ns"}, {requests, 1.5e6, "+1.50 ms"}, {requests, -2.5e3, "−2.50 µs"}, {requests, 0, "+0 ns"}} {
		if got := study.ByTime(c.m, c.ns); got != c.want {
			t.Errorf("%g: %q, want %q", c.ns, got, c.want)
		}
	}
	line := study.PerOne{Base: 100, Each: 2}
	step := study.PerOne{Base: 100, Each: 2, Any: stats.Num(30)}
	if line.At(0) != 100 || line.At(10) != 120 || step.At(0) != 100 || step.At(10) != 150 {
		t.Errorf("a line at 10 is %g, with a step %g", line.At(10), step.At(10))
	}
	for d, want := range map[study.Disturbed]string{
		{}: "none was disturbed", {Switched: 2}: "2 shared their CPU with other work", {Underway: 1, Leftover: 3, Stalled: 4}: "1 lost or delayed frames, 3 began with frames of the arm before and 4 stalled",
	} {
		if got := d.String(); got != want {
			t.Errorf("%+v: %q", d, got)
		}
	}
}

// TestRetriesOfBlocks: an invalid trial is repeated after all others of its block, as often as the
// study allows; an unavailable one never.
func TestRetriesOfBlocks(t *testing.T) {
	s := fullGoals(twoParts())
	s.Retries = 2
	var done []study.Trial
	tries := map[string]int{}
	for range 200 {
		slot, ok := study.Next(s, 4, done, func(p study.Part) bool { return p.Mode != testbed.Cost })
		if !ok {
			break
		}
		tr := study.Trial{Part: slot.Part, Variant: slot.Variant, Block: slot.Block, Order: slot.Order, Retry: slot.Retry, Valid: slot.Variant != "b", Start: time.Unix(int64(len(done)), 0)}
		if slot.Variant == "c" {
			tr.Valid, tr.Unavailable = false, "no module"
		}
		if slot.Retry && slot.Variant != "b" || slot.Retry && slot.Order <= 3 {
			t.Errorf("%s is repeated, as number %d of its block", slot.Variant, slot.Order)
		}
		tries[slot.Variant]++
		done = append(done, tr)
	}
	blocks := s.Parts[0].Blocks
	if tries["a"] != blocks || tries[study.AA] != blocks || tries["b"] != 3*blocks || tries["c"] != 1 {
		t.Errorf("in %d blocks: %v", blocks, tries)
	}
}

// TestInterim: both widths are known after enough blocks, and shrink with more of them.
func TestInterim(t *testing.T) {
	s := fullGoals(twoParts())
	s.Parts[0].Blocks = 12
	upTo := func(block int) []study.Trial {
		return slices.DeleteFunc(made(s, 9, nil), func(tr study.Trial) bool { return tr.Part != "cost" || tr.Block > block })
	}
	early, widest := s.Interim(9, upTo(3))
	late, _ := s.Interim(9, upTo(11))
	if !(early.Float() > 0 && widest.Float() > 0 && late.Float() < 0.4*early.Float()) {
		t.Errorf("after 3 blocks %v and %v, after 11 %v", early, widest, late)
	}
}
