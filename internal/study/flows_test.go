package study

import (
	"math"
	"math/rand/v2"
	"net/netip"
	"testing"

	"linerate/internal/load"
)

// TestWindowsSpeedsAreNoEffect: windows in which the machine was up to twice as slow, with other
// shares, give ineffective flows no effect, and do not hide a 3 % effect of others.
func TestWindowsSpeedsAreNoEffect(t *testing.T) {
	s, err := Parse("x.yaml", []byte(`{name: x, question: "?", control: left, workload: {flows: 400, order: trains}, parts: [{name: flows, mode: flows, blocks: 16}],
variants: [{name: left}, {name: drawn, settings: [{nft: "$coin notrack"}]}], metrics: [{metric: flow_latency_p50_ns, part: flows, primary: true}]}`))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for seed := range uint64(40) {
		for _, effect := range []float64{0, 0.03} {
			v := Analyse(s, seed, Environment{}, tossedWindows(s, seed, effect)).Verdicts[0]
			low, high := v.CILow.Float()/100, v.CIHigh.Float()/100
			if effect == 0 && (low > 0 || high < 0) {
				found++
			}
			if effect > 0 && !(low > 0 && high < 0.06) {
				t.Errorf("seed %d: an effect of 3 %% is [%+.2f, %+.2f] %%", seed, 100*low, 100*high)
			}
		}
	}
	if found > 6 { // 40 studies at 5 %: more have a probability of 0.3 %
		t.Errorf("%d of 40 studies without an effect found one", found)
	}
}

// tossedWindows returns windows as a lab records them, with flows assigned by coin tosses.
func tossedWindows(s Spec, seed uint64, effect float64) (out []Trial) {
	rng := rand.New(rand.NewPCG(seed, 1))
	space := load.FlowSpace{Count: 400, Src: netip.MustParseAddr("198.18.0.1"), Dst: netip.MustParseAddr("198.19.0.1")}
	for block := 1; block <= s.Parts[0].Blocks; block++ {
		toss := TossOf(&s, s.Parts[0], seed, block, 0)
		slow := math.Exp(0.7 * rng.Float64())
		var got []load.FlowReceived
		for i := range space.Count {
			of := slow * math.Exp(0.05*rng.NormFloat64())
			if toss.arm(space.WithDefaults().Tuple(i)) == "drawn" {
				of *= 1 + effect
			}
			got = append(got, load.FlowReceived{Flow: i, Received: 64, Expected: 64, Delays: []uint32{uint32(1e5 * of)}})
		}
		for i, arm := range s.Arms() {
			o := Observation{Connections: toss.Flows(space, got)[arm]}
			out = append(out, Trial{Part: "flows", Variant: arm, Block: block, Order: i + 1, Valid: true, Metrics: map[string]float64{}, Observed: &o})
		}
	}
	return out
}
