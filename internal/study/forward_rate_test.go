package study

import (
	"strings"
	"testing"

	"linerate/internal/testbed"
)

const loadsYAML = `name: x
question: q
sweep: [{parameter: load, values: [50, 100, 400]}]
variants: [{name: none}, {name: rules, settings: [{firewall: {linear: 9}}]}]
parts:
  - {name: at-max, mode: overload, blocks: 2}
  - {name: at-$load, mode: overload, rate: $load%, blocks: 2}
metrics:
  - {metric: overload_forwarding_rate_pps, part: at-max, primary: true}
  - {metric: loss_ratio, part: at-$load}
`

// loaded runs a study's schedule with a router that forwards a million frames per second and a
// generator that sends two million.
func loaded(t *testing.T, s Spec) (trials []Trial) {
	t.Helper()
	for {
		slot, ok := Next(s, 1, trials, func(p Part) bool { return s.OutOfReach(p, trials) != "" })
		if !ok {
			return trials
		}
		p, _ := s.Part(slot.Part)
		p, ok = s.Resolve(p, trials)
		rate, err := p.Rate.Parse()
		if !ok || err != nil {
			t.Fatalf("part %s offers %s: %v", p.Name, p.Rate, err)
		}
		load := float64(rate.PPS)
		if p.Rate.IsMax() {
			load = 2e6
		}
		out := min(load, 1e6)
		trials = append(trials, Trial{Part: slot.Part, Variant: slot.Variant, Block: slot.Block, Order: slot.Order, Mode: testbed.Overload, Valid: true,
			Reasons: []Refusal{}, Metrics: map[string]float64{OverloadRate: out, OfferedRate: load, LossRatio: 1 - out/load}})
	}
}

// TestSharesOfCapacity: loads are shares of what the control forwarded; a load that the generator
// cannot send is not run, has no verdict, and is reported.
func TestSharesOfCapacity(t *testing.T) {
	s := sweptStudy(t, loadsYAML)
	if f, o := Capacity(&s, nil); f != 0 || o != 0 {
		t.Errorf("capacity %v of %v before any trial", f, o)
	}
	trials := loaded(t, s)
	offered := map[string]float64{}
	for _, tr := range trials {
		offered[tr.Part] = tr.Metrics[OfferedRate]
	}
	if len(offered) != 3 || offered["at-50"] != 5e5 || offered["at-100"] != 1e6 {
		t.Errorf("offered %v", offered)
	}
	both, _ := s.Part("at-50")
	both.Directions = BothWays
	if p, ok := s.Resolve(both, trials); !ok || p.Rate != "250000pps" {
		t.Errorf("half of a million in both directions together gives %s in each", p.Rate)
	}
	r := Analyse(s, 1, Environment{}, trials)
	if !r.Complete || len(r.Verdicts) != 3 {
		t.Errorf("complete %v, %d verdicts, want 3", r.Complete, len(r.Verdicts))
	}
	if all := strings.Join(r.Warnings, "\n"); !strings.Contains(all, "400 % of the capacity was not offered: the generator can send 200 % of it") {
		t.Errorf("warnings %q", all)
	}
	if len(r.Curves) != 2 || len(r.Curves[0].Points) != 3 || r.Curves[0].Knee == nil || r.Curves[0].Knee.Most != 2 {
		t.Errorf("curves %+v", r.Curves)
	}
}

// TestCapacityOfInvalidTrials: invalid trials determine the loads only if no trial is valid.
func TestCapacityOfInvalidTrials(t *testing.T) {
	s := sweptStudy(t, loadsYAML)
	trial := func(rate float64, valid bool) Trial {
		return Trial{Part: "at-max", Variant: "none", Valid: valid, Metrics: map[string]float64{OverloadRate: rate, OfferedRate: 2 * rate}}
	}
	if f, _ := Capacity(&s, []Trial{trial(1e5, false), trial(1e6, true)}); f != 1e6 {
		t.Errorf("capacity %v, but the valid trial forwarded 1e6", f)
	}
	if f, o := Capacity(&s, []Trial{trial(1e5, false)}); f != 1e5 || o != 2e5 {
		t.Errorf("capacity %v of %v", f, o)
	}
}

// TestFloodRefused: a flood needs management probes and a rate in segments.
func TestFloodRefused(t *testing.T) {
	const text = "name: x\nquestion: q\nvariants: [{name: a}, {name: b}]\nparts: [{name: at-max, mode: overload}, {mode: overload, name: f, flood: syn, rate: 100kpps, management: true}]\n"
	s := sweptStudy(t, text)
	if p, _ := s.Part("f"); p.yields(Metric{Name: OverloadRate, Mode: testbed.Overload}) || s.Interleaving(p) != InSequence {
		t.Error("a flood yields a forwarding rate, or its arms are interleaved")
	}
	s.Profile, s.Metrics = true, []Goal{{Part: "f", Primary: true}}
	if in, ok := InsideNext(s, nil, nil, func(Part) bool { return false }); !ok || in.Part.Name != "at-max" {
		t.Error("the flood's part was profiled, not the part next to it")
	}
	for _, c := range []struct{ old, new, want string }{
		{", management: true", "", "whether the DUT still answers"},
		{"100kpps", "80%", "a flood's rate is"},
		{"100kpps", "1Gbps", "a flood's rate is"},
		{"flood: syn", "flood: sin", `unknown "sin"`},
	} {
		if _, err := Parse("s.yaml", []byte(strings.Replace(text, c.old, c.new, 1))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.new, err, c.want)
		}
	}
}

func TestSharesRefused(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"  - {name: at-max, mode: overload, blocks: 2}\n", "  - {name: at-max, mode: overload, rate: 1Mpps, blocks: 2}\n", "no part measures before"},
		{"mode: overload, rate: $load%", "mode: cost, rate: $load%", "mode cost has no offered load"},
		{"rate: $load%", "rate: 2000%", `"2000%" is not a rate`},
	} {
		if _, err := Parse("s.yaml", []byte(strings.Replace(loadsYAML, c.old, c.new, 1))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.new, err, c.want)
		}
	}
}
