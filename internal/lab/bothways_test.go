package lab

import (
	"math"
	"testing"
	"time"

	"linerate/internal/load"
	"linerate/internal/study"
	"linerate/internal/testbed/bedtest"
)

// TestAtOnce: what two sent at the same time is twice the rate, not twice the
// time.
func TestAtOnce(t *testing.T) {
	one := load.Sent{TxPackets: 500, Seconds: 0.5, TargetPPS: 1000}
	if s := atOnce(one, one); s.TxPackets != 1000 || s.Seconds != 0.5 || s.TxPPS != 2000 || s.TargetPPS != 2000 || s.PacingError != 0 {
		t.Errorf("%+v", s)
	}
	lost := uint64(3)
	got := load.Received{RxPackets: 400, Seconds: 0.5, Lost: &lost}
	if r := receivedAtOnce(got, load.Received{RxPackets: 200, Seconds: 0.4, Lost: &lost}); r.RxPackets != 600 || r.Seconds != 0.5 || r.RxPPS != 1200 || *r.Lost != 6 {
		t.Errorf("%+v", r)
	}
	// For a second two threads share a CPU that others have for a tenth of it:
	// each waits for them, and half of what is left for the other.
	each := 100*time.Millisecond + 450*time.Millisecond
	if f := foreign(each, each, time.Second); math.Abs(f.Seconds()-0.1) > 1e-9 {
		t.Errorf("others had the CPU for %v", f)
	}
	if f := foreign(0, 100*time.Millisecond, time.Second); f != 0 {
		t.Errorf("others had the CPU for %v although it had rests", f)
	}
}

// TestOneWayBed: a testbed that sends from one side only passes such parts over,
// says so, and the study is complete.
func TestOneWayBed(t *testing.T) {
	s := parse(t, `name: sim
question: q
variants: [{name: none}, {name: rules, settings: [{nft: {linear: 100}}]}]
parts:
  - {name: one, mode: overload, blocks: 1, seconds: 0.5}
  - {name: both, mode: overload, both_ways: true, blocks: 1, seconds: 0.5}
`)
	trials, out, err := simulate(t, &bedtest.Simulated{}, Task{Spec: s, Seed: 5})
	if err != nil || len(trials) != 3 || out.Unavailable[study.BothWaysMode] == "" {
		t.Errorf("%d trials, unavailable %v, %v", len(trials), out.Unavailable, err)
	}
	if r := study.Analyse(s, 5, study.Environment{Unavailable: out.Unavailable}, trials); !r.Complete || len(r.Warnings) == 0 {
		t.Errorf("complete %v, warnings %q", r.Complete, r.Warnings)
	}
}
