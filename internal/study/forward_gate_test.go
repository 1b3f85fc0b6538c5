package study

import (
	"math"
	"strings"
	"testing"

	"linerate/internal/load"
	"linerate/internal/testbed"
)

// sound returns an observation that passes every gate.
func sound() Observation {
	lost := uint64(0)
	return Observation{
		Sent:     load.Sent{TxPackets: 1_000_001, Seconds: 1, TxPPS: 1e6},
		Received: load.Received{RxPackets: 1_000_001, Seconds: 1, Lost: &lost, Latency: &load.Latency{P50: 900, P99: 1800}},
		After:    testbed.Counters{Received: 1_000_001, Forwarded: 1_000_001},
		CPUs:     []CPUCheck{{CPU: 0, SpinBefore: 1e6, SpinAfter: 1.01e6}},
	}
}

func TestJudgeCost(t *testing.T) {
	m, reasons := judge(Part{Mode: testbed.Cost, Rate: MaxRate}, DefaultGates(), sound(), 150)
	if len(reasons) > 0 {
		t.Fatalf("a sound trial is invalid: %q", reasons)
	}
	for name, want := range map[string]float64{ChainNS: 1000, BypassNS: 150, CostNS: 850, ForwardingRate: 1e9 / 850} {
		if !(math.Abs(m[name]/want-1) <= 1e-6) {
			t.Errorf("%s = %g, want %g", name, m[name], want)
		}
	}
	o := sound()
	o.Contention = 0.2
	if m, _ := judge(Part{Mode: testbed.Cost, Rate: MaxRate}, DefaultGates(), o, 150); !(math.Abs(m[ChainNS]-800) <= 1e-3) {
		t.Errorf("with a fifth of the CPU time used by others the chain takes %g ns, want 800", m[ChainNS])
	}
}

func TestJudgeOverload(t *testing.T) {
	o := sound()
	lost := uint64(3_000_003)
	o.Sent.TxPackets, o.Received.Lost = 4_000_004, &lost
	m, reasons := judge(Part{Mode: testbed.Overload, Rate: MaxRate}, DefaultGates(), o, 0)
	if len(reasons) > 0 {
		t.Fatalf("a sound trial is invalid: %q", reasons)
	}
	for name, want := range map[string]float64{OverloadRate: 1e6, LossRatio: 0.75, LatencyP50: 900, LatencyP99: 1800, OfferedRate: 4_000_004} {
		if !(math.Abs(m[name]/want-1) <= 1e-6) {
			t.Errorf("%s = %g, want %g", name, m[name], want)
		}
	}
}

func TestGates(t *testing.T) {
	lost := func(n uint64) *uint64 { return &n }
	for _, c := range []struct {
		name   string
		part   Part
		spoil  func(*Observation)
		bypass float64
		want   string // prefix of the only reason
	}{
		{"drift", Part{Mode: testbed.Cost}, func(o *Observation) { o.CPUs[0].SpinAfter = 1.5e6 }, 150, "drift: CPU 0 changed speed by 50.0 %"},
		{"drift downwards", Part{Mode: testbed.Cost}, func(o *Observation) { o.CPUs[0].SpinAfter = 0.5e6 }, 150, "drift: CPU 0 changed speed by 100.0 %"},
		{"steal", Part{Mode: testbed.Cost}, func(o *Observation) { o.CPUs[0].Steal = 0.1 }, 150, "stolen time: the hypervisor took 10.0 %"},
		{"foreign", Part{Mode: testbed.Cost}, func(o *Observation) { o.Contention = 0.6 }, 150, "contention: other programs took 60 %"},
		{"starved", Part{Mode: testbed.Overload}, func(o *Observation) { o.Contention = 0.3 }, 0, "starved: the DUT's thread waited 30 %"},
		{"nothing sent", Part{Mode: testbed.Overload}, func(o *Observation) { o.Sent.TxPackets = 0 }, 0, "no traffic:"},
		{"nothing received", Part{Mode: testbed.Overload}, func(o *Observation) { o.Received = load.Received{} }, 0, "nothing arrived:"},
		{"no end", Part{Mode: testbed.Cost}, func(o *Observation) { o.Received.Lost = nil }, 150, "drain:"},
		{"account", Part{Mode: testbed.Cost}, func(o *Observation) { o.Received.Lost = lost(5) }, 150, "account:"},
		{"unsent", Part{Mode: testbed.Overload}, func(o *Observation) { o.Sent.TargetPPS, o.Sent.Unsent = 1.1e6, 100_000 }, 0, "unsent: 9.09 %"},
		{"pacing", Part{Mode: testbed.Overload}, func(o *Observation) { o.Sent.TargetPPS, o.Sent.PacingError = 1.1e6, -0.09 }, 0, "pacing: the rate was off by 9.00 %"},
		{"counters backwards", Part{Mode: testbed.Cost}, func(o *Observation) { o.Before.Forwarded = 2_000_000 }, 150, "counters: a counter of the DUT went backwards"},
		{"counters short", Part{Mode: testbed.Cost}, func(o *Observation) { o.After.Forwarded = 999 }, 150, "counters: the receiver has"},
		{"loss in cost", Part{Mode: testbed.Cost}, func(o *Observation) { o.Sent.TxPackets = 1_100_001; o.Received.Lost = lost(100_000) }, 150, "loss: 9.09 %"},
		{"no bypass", Part{Mode: testbed.Cost}, func(*Observation) {}, 0, "bypass:"},
		{"bypass slower", Part{Mode: testbed.Cost}, func(*Observation) {}, 2000, "cost: the chain with DUT (1000 ns) was not slower"},
		{"headroom", Part{Mode: testbed.Overload}, func(*Observation) {}, 0, "headroom: 1.00 times"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := sound()
			c.spoil(&o)
			part := c.part
			if part.Rate = MaxRate; o.Sent.TargetPPS > 0 {
				part.Rate = "1.1Mpps"
			}
			if part.Mode == testbed.Overload && c.name != "headroom" && o.Sent.TargetPPS == 0 && o.Received.RxPackets > 0 {
				o.Sent.Seconds = 0.1 // ample headroom
			}
			_, reasons := judge(part, DefaultGates(), o, c.bypass)
			found := false
			for _, r := range reasons {
				found = found || strings.HasPrefix(r, c.want)
			}
			if !found {
				t.Errorf("reasons %q, want one %q…", reasons, c.want)
			}
		})
	}
}

func TestBypassTime(t *testing.T) {
	b := BypassRun{Received: load.Received{RxPackets: 1_000_001, Seconds: 0.15}}
	if ns := BypassTime(DefaultGates(), b); !(math.Abs(ns-150) <= 1e-6) {
		t.Errorf("%g ns, want 150", ns)
	}
	b.Contention = 0.1
	if ns := BypassTime(DefaultGates(), b); ns != 0 {
		t.Errorf("a bypass measured under contention is used: %g ns", ns)
	}
	block := []Trial{{Observed: &Observation{Bypass: &BypassRun{}}}, {Observed: &Observation{Bypass: &BypassRun{NS: 150}}}}
	if ns := bypassOf(Observation{}, block); ns != 150 || !HasBypass(block) {
		t.Errorf("the block's bypass is %g", ns)
	}
	if HasBypass(block[:1]) {
		t.Error("a bypass that could not be measured counts as measured")
	}
}

// TestFloods: a trial of a flood is invalid for faults of the flood or the management probes, not
// for what happens to the workload.
func TestFloods(t *testing.T) {
	part := Part{Mode: testbed.Overload, Rate: "100kpps", Flood: FloodSYN}
	for name, c := range map[string]struct {
		change func(*Observation)
		want   string
	}{
		"sound":          {func(*Observation) {}, ""},
		"nothing came":   {func(o *Observation) { o.Received = load.Received{} }, ""},
		"nothing sent":   {func(o *Observation) { o.Sent.TxPackets = 0 }, "the generator sent nothing"},
		"nobody asked":   {func(o *Observation) { o.Management = nil }, "the DUT was not asked"},
		"hardly a flood": {func(o *Observation) { o.Sent.TxPackets, o.Sent.Unsent = 50_000, 50_000 }, "50.00 % of the frames due were not sent"},
	} {
		o := Observation{Flooded: true, Management: &Management{Greeting: Answers{Sent: 100, Answered: 20}},
			Sent: load.Sent{TxPackets: 100_000, Seconds: 1, TxPPS: 1e5, TargetPPS: 1e5}}
		c.change(&o)
		_, bad := judge(part, DefaultGates(), o, 0)
		if got := strings.Join(bad, "; "); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// limited returns the gates unchanged.
func limited(g Gates) Gates { return g }

// judge is Judge with the bypass measured in the trial's block, and with the reasons as text.
func judge(p Part, g Gates, o Observation, bypass float64) (map[string]float64, []string) {
	if bypass > 0 {
		o.Bypass = &BypassRun{NS: bypass}
	}
	m, why := Judge(p, g, o)
	return m, Trial{Reasons: why}.Why()
}
