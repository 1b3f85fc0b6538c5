package lab

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"linerate/internal/drop"
	"linerate/internal/study"
	"linerate/internal/study/forward"
	"linerate/internal/testbed/bedtest"
)

const slicedSpec = `name: sim
question: What do rules cost?
variants:
  - name: none
  - name: rules-100
    settings:
      - nft: {linear: 100}
parts:
  - {name: max, mode: overload, blocks: 3, seconds: 0.2}
  - {name: given, mode: overload, rate: 500kpps, blocks: 3, seconds: 0.2, warmup: 0}
metrics:
  - {metric: overload_forwarding_rate_pps, part: max, primary: true}
`

// TestSlicesThatFellShortAreDoneAgain: what kept the generator for two slices
// on end costs no trial, and no frame is forgotten.
func TestSlicesThatFellShortAreDoneAgain(t *testing.T) {
	sim := &bedtest.Simulated{Seed: 1, Late: func(_ string, n int) float64 {
		if n%4 == 1 || n%4 == 2 {
			return 0.3
		}
		return 0
	}}
	trials, _, err := simulate(t, sim, Task{Spec: parse(t, slicedSpec), Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	again := 0
	for _, tr := range trials {
		if !tr.Valid {
			t.Errorf("%s, block %d, %s: %q", tr.Part, tr.Block, tr.Variant, tr.Reasons)
		}
		if tr.Part == "max" {
			if forward.In(tr.Observed).Redone != nil {
				t.Error("a slice at maximum load has no rate to fall short of")
			}
			continue
		}
		again += forward.In(tr.Observed).Redone.Number()
		if o := tr.Observed; o.Sent.Unsent != 0 || o.Sent.TxPackets != 100_000 {
			t.Errorf("the trial's account has a slice that was done again: %+v", o.Sent)
		}
		a, ok := forward.Account(tr.Observed)
		if want := uint64(100_000 + 17_500*forward.In(tr.Observed).Redone.Number()); !ok || a.Offered != want || a.Excess != 0 || a.Unknown != 0 {
			t.Errorf("%d of %d frames accounted for, %d unknown, %d too many", a.Offered, want, a.Unknown, a.Excess)
		}
	}
	if want := 3 * 3; again < want {
		t.Errorf("%d slices were done again, want %d at least", again, want)
	}
}

// TestSlicesOfAStarvedDUTAreDoneAgain: what takes the DUT's CPU for two slices on
// end costs no trial either, at any load.
func TestSlicesOfAStarvedDUTAreDoneAgain(t *testing.T) {
	sim := &bedtest.Simulated{Seed: 1, Waits: func(n int) float64 {
		if n%8 < 2 {
			return 0.6
		}
		return 0
	}}
	trials, _, err := simulate(t, sim, Task{Spec: parse(t, slicedSpec), Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	again := map[string]int{}
	for _, tr := range trials {
		if r := forward.In(tr.Observed).Redone; r != nil {
			again[tr.Part] += r.Starved
			if r.Starved != r.Slices {
				t.Errorf("%s, block %d, %s: %+v", tr.Part, tr.Block, tr.Variant, r)
			}
		}
		if !tr.Valid || tr.Observed.Contention != 0 {
			t.Errorf("%s, block %d, %s: waited %g s, %q", tr.Part, tr.Block, tr.Variant, tr.Observed.Contention, tr.Reasons)
		}
	}
	if again["max"] == 0 || again["given"] == 0 {
		t.Errorf("slices were done again: %v", again)
	}
}

// TestAnArmThatIsNeverOfferedItsLoad: its trials are invalid, after its first
// slice was tried thrice; the others' are not.
func TestAnArmThatIsNeverOfferedItsLoad(t *testing.T) {
	s := parse(t, strings.Replace(slicedSpec, "rate: 500kpps", "rate: 50%", 1))
	sim := &bedtest.Simulated{Seed: 1, Late: func(device string, _ int) float64 {
		if device == "gen0-2" {
			return 0.4
		}
		return 0
	}}
	trials, _, err := simulate(t, sim, Task{Spec: s, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	short := 0
	for _, tr := range trials {
		if tr.Part != "given" {
			continue
		}
		late := tr.Observed.Interleaved.Lane == 1
		if tr.Valid == late {
			t.Errorf("block %d, %s, late %t: %q", tr.Block, tr.Variant, late, tr.Reasons)
		}
		if !late {
			continue
		}
		short++
		if n := forward.In(tr.Observed).Redone.Number(); n != sliceTries {
			t.Errorf("%d slices were done again, want %d", n, sliceTries)
		}
	}
	if short == 0 || slices.ContainsFunc(trials, func(tr study.Trial) bool { return tr.Part == "max" && !tr.Valid }) {
		t.Errorf("%d trials fell short: the test shows nothing", short)
	}
}

// TestEachArmsDropsAreItsOwn: what the machine counts once for all DUTs is told of
// the arm whose slice it was.
func TestEachArmsDropsAreItsOwn(t *testing.T) {
	trials, _, err := simulate(t, &bedtest.Simulated{Seed: 1, Backlogged: true}, Task{Spec: parse(t, slicedSpec), Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	lost := map[string]uint64{}
	for _, tr := range trials {
		a, ok := forward.Account(tr.Observed)
		if !ok || a.Unknown != 0 || a.Excess != 0 || a.At(drop.Backlog) != *tr.Observed.Received.Lost ||
			tr.Observed.Drops["softnet.dropped"] != *tr.Observed.Received.Lost {
			t.Errorf("%s, block %d, %s: lost %d, told %+v of %v", tr.Part, tr.Block, tr.Variant, *tr.Observed.Received.Lost, a, tr.Observed.Drops)
		}
		if tr.Part == "max" {
			lost[tr.Variant] += a.At(drop.Backlog)
		}
	}
	if lost["rules-100"] == lost["none"] || lost["none"] == 0 {
		t.Errorf("both arms lost the same, %d and %d: the test shows nothing", lost["rules-100"], lost["none"])
	}
}

// TestAllArmsAreToldWhatTheMachineDropped: where arms take turns too short to read
// its counters around each, in searches and in slices of a cost.
func TestAllArmsAreToldWhatTheMachineDropped(t *testing.T) {
	searched, _, err := simulate(t, &bedtest.Simulated{Seed: 3, Backlogged: true}, Task{Spec: parse(t, searchSpec), Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	lossy := &bedtest.Simulated{Backlogged: true, Faults: func(int) bedtest.Fault { return bedtest.Fault{NothingRx: true} }}
	sliced, _, err := takeTurns(t, &bedtest.Turns{Simulated: lossy}, Task{Spec: parse(t, turnsSpec), Seed: 5})
	if err == nil || !strings.Contains(err.Error(), "nothing arrived") || len(sliced) < 2 {
		t.Fatalf("%d trials in which nothing arrived, %v", len(sliced), err)
	}
	told := map[string]uint64{} // by instance
	for _, tr := range append(searched, sliced...) {
		of := fmt.Sprintf("%s, block %d, attempt %d", tr.Part, tr.Block, tr.Observed.Interleaved.Attempt)
		n := tr.Observed.Drops["softnet.dropped"]
		if told[of] == 0 {
			told[of] = n
		}
		if n == 0 || n != told[of] {
			t.Errorf("%s, %s: told %d of %d", of, tr.Variant, n, told[of])
		}
	}
}
