package study

import (
	"math"
	"strings"
	"testing"

	"linerate/internal/drop"
	"linerate/internal/load"
)

// TestStates: counters give the states created, the memory of each, and the causes of drops.
func TestStates(t *testing.T) {
	s := sweptStudy(t, `name: x
question: q
variants: [{name: none}, {name: full, settings: [{firewall: {stateful: true}}]}, {name: roomy, settings: [{firewall: {stateful: true}}]}]
parts: [{name: new, mode: overload}]
`)
	trial := func(variant string, valid bool, c drop.Counters) Trial {
		return Trial{Part: "new", Variant: variant, Valid: valid, Observed: &Observation{Sent: load.Sent{TxPackets: 1e6, Seconds: 0.5}, Drops: c}}
	}
	got := statesOf(s, []Trial{
		trial("none", true, drop.Counters{drop.SlabBytes: 4096}),
		trial("roomy", true, drop.Counters{drop.States: 200_000, drop.StateObjectBytes: 256 * 200_000, drop.SlabBytes: 320 * 200_000}),
		trial("roomy", true, drop.Counters{drop.States: 100_000, drop.StateObjectBytes: 256 * 100_000, drop.SlabBytes: 320 * 100_000}),
		trial("full", true, drop.Counters{drop.States: 1000, "conntrack.early_drop": 400_000, "conntrack.drop": 10}),
		trial("full", false, drop.Counters{drop.States: 500_000}),
	})
	if len(got) != 2 || got[0].Variant != "full" || got[1].Variant != "roomy" {
		t.Fatalf("%+v", got)
	}
	full, roomy := got[0], got[1]
	if roomy.Made != 150_000 || roomy.PerSecond != 300_000 || roomy.ObjectBytes.Float() != 256 || !(math.Abs(roomy.SlabBytes.Float()-320) <= 1e-9) || len(StatesWhy(roomy)) != 0 {
		t.Errorf("roomy %+v, %q", roomy, StatesWhy(roomy))
	}
	if why := StatesWhy(full); full.Trials != 1 || full.SlabBytes.Known() || len(why) != 1 || !strings.Contains(why[0], "the table was full: states were evicted for new ones (conntrack.early_drop 40.0 %") {
		t.Errorf("full %+v, %q", full, why)
	}
}

// TestStatesOfSeveralArmsAtOnce: if several arms create states at once, the kernel's memory is that
// of all, and the size of one state is unknown.
func TestStatesOfSeveralArmsAtOnce(t *testing.T) {
	s := sweptStudy(t, `name: x
question: q
variants: [{name: none}, {name: tracked, settings: [{firewall: {stateful: true}}]}, {name: also, settings: [{firewall: {stateful: true}}]}]
parts: [{name: new}]
`)
	trial := func(variant string, states uint64) Trial {
		return Trial{Part: "new", Variant: variant, Block: 1, Valid: true, Observed: &Observation{Sent: load.Sent{TxPackets: 1e6, Seconds: 0.5},
			Interleaved: &Interleaved{Attempt: 1}, Drops: drop.Counters{drop.States: states, drop.StateObjectBytes: 256 * 200_000, drop.SlabBytes: 320 * 200_000}}}
	}
	for others, known := range map[uint64]bool{0: true, 100_000: false} {
		got := statesOf(s, []Trial{trial("none", 0), trial("tracked", 200_000-others), trial("also", others)})
		if st := got[0]; st.Variant != "tracked" || st.Made != float64(200_000-others) || st.ObjectBytes.Known() != known || st.SlabBytes.Known() != known {
			t.Errorf("with %d states of other arms: %+v", others, st)
		}
	}
}
