package study

import (
	"fmt"
	"strings"
	"testing"

	"linerate/internal/testbed"
)

// TestNeverOverloaded: a variant that was offered too little in all its trials is warned about,
// with the offered load; one valid trial, or another reason, prevents the warning.
func TestNeverOverloaded(t *testing.T) {
	s := Spec{Parts: []Part{{Name: "at-max", Mode: testbed.Overload, Rate: MaxRate}, {Name: "at-50", Mode: testbed.Overload, Rate: "50%"}},
		Variants: []Variant{{Name: "none"}, {Name: "rules"}, {Name: "drained"}, {Name: "absent"}}}
	_, gate := judge(s.Parts[0], limited(Gates{Headroom: 1.2, StarvedPercent: 100}), forwarded(func(o *Observation) {}), 0)
	if len(gate) != 1 || !strings.HasPrefix(gate[0], HeadroomGate+": ") {
		t.Fatalf("the gate says %q", gate)
	}
	trial := func(part, variant string, offered float64, reasons ...string) Trial {
		return Trial{Part: part, Variant: variant, Valid: len(reasons) == 0, Reasons: Reasons(reasons...), Metrics: map[string]float64{OfferedRate: offered}}
	}
	r := Results{Trials: []Trial{
		trial("at-max", "none", 17000, gate[0]), trial("at-max", "none", 19000, gate[0]), trial("at-50", "none", 8000, gate[0]),
		trial("at-max", "rules", 15000, gate[0]), trial("at-max", "rules", 16000),
		trial("at-max", "drained", 15000, "drain: no end"),
	}}
	warnHeadroom(&r, s)
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "part at-max: the generator, which offered no more than 19.0 kpps, could not overload none:") || !strings.Contains(r.Warnings[0], "mode cost") {
		t.Errorf("%q", r.Warnings)
	}
	s.Testbed.Kind, r.Warnings = testbed.KindSSH, nil
	if warnHeadroom(&r, s); len(r.Warnings) != 1 || strings.Contains(r.Warnings[0], "mode cost") || !strings.Contains(r.Warnings[0], "give the part a rate that both manage, and ask for loss_ratio") {
		t.Errorf("on testbeds of machines, which do not have mode cost: %q", r.Warnings)
	}
}

// TestNotTriedInVain: on machines, where a trial may need a reboot, a trial that the generator
// could not overload is not retried; one with any other fault is.
func TestNotTriedInVain(t *testing.T) {
	for _, c := range []struct {
		kind, design string
		reasons      []string
		tries        int
	}{
		{testbed.KindSSH, Blocks, []string{HeadroomGate + ": 1.02 times"}, 1},
		{testbed.KindSSH, Blocks, []string{HeadroomGate + ": 1.02 times", "drain: no end"}, 3},
		{testbed.KindNetns, Blocks, []string{HeadroomGate + ": 1.02 times"}, 3},
	} {
		s := Spec{Testbed: Testbed{Kind: c.kind}, Design: c.design, Variants: []Variant{{Name: "none"}, {Name: "one"}}, Control: "none", Retries: 2,
			Parts: []Part{{Name: "at-max", Mode: testbed.Overload, Rate: MaxRate, Blocks: 1}}}
		var done []Trial
		tries := 0
		for slot, more := Next(s, 1, done, nil); more; slot, more = Next(s, 1, done, nil) {
			tr := Trial{Part: slot.Part, Variant: slot.Variant, Block: slot.Block, Order: slot.Order, Retry: slot.Retry, Mode: testbed.Overload, Valid: true}
			if slot.Variant == "one" {
				tries++
				tr.Valid, tr.Reasons = false, Reasons(c.reasons...)
			}
			done = append(done, tr)
		}
		if tries != c.tries || len(done) != 2+c.tries {
			t.Errorf("%+v: tried %d times, %d trials", c, tries, len(done))
		}
	}
}

// TestUnderOffered: an arm that was never offered a part's load has no verdict there, but a point
// on the curve at its actual load; after another fault, or one trial at full load, the gates alone
// decide.
func TestUnderOffered(t *testing.T) {
	s := Spec{Parts: []Part{{Name: "at-50", Mode: testbed.Overload, Rate: "50%", At: map[string]float64{"load": 50}}, {Name: "at-150", Mode: testbed.Overload, Rate: "150%", At: map[string]float64{"load": 150}}},
		Sweep: []Sweep{{Parameter: "load", Values: []float64{50, 150}}}, Variants: []Variant{{Name: "none"}, {Name: "softirq"}, {Name: "lucky"}, {Name: "starved"}}}
	_, gate := judge(s.Parts[0], limited(Gates{UnsentPercent: 0.5, PacingPercent: 2, StarvedPercent: 100}), forwarded(func(o *Observation) {
		o.Sent.TargetPPS, o.Sent.Unsent, o.Sent.PacingError = 1e6, o.Sent.TxPackets, 0.5
	}), 0)
	if len(gate) != 2 || !strings.HasPrefix(gate[0], unsentGate+": ") || !strings.HasPrefix(gate[1], pacingGate+": ") {
		t.Fatalf("the gates say %q", gate)
	}
	var trials []Trial
	add := func(part, variant string, offered float64, reasons ...string) {
		trials = append(trials, Trial{Part: part, Variant: variant, Block: len(trials), Valid: len(reasons) == 0, Reasons: Reasons(reasons...), Mode: testbed.Overload,
			Metrics: map[string]float64{OfferedRate: offered, OverloadRate: offered / 2, LossRatio: 0.5}})
	}
	for _, arm := range []string{"none", "softirq", "lucky", "starved"} {
		add("at-50", arm, 500e3)
	}
	add("at-150", "none", 1500e3)
	add("at-150", "softirq", 700e3, gate...)
	add("at-150", "softirq", 800e3, gate[0])
	add("at-150", "lucky", 800e3, gate...)
	add("at-150", "lucky", 1500e3)
	add("at-150", "starved", 900e3, append(gate, "starved: the DUT's thread waited")...)
	r := Results{Trials: trials}
	warnUnderOffered(&r, s)
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "part at-150: the generator could not offer 150 % of the control's capacity to softirq (800 kpps): no verdict") {
		t.Errorf("%q", r.Warnings)
	}
	at := map[string][]float64{}
	for _, c := range curves(s, trials) {
		for _, p := range c.Points {
			at[c.Name] = append(at[c.Name], p.X)
		}
	}
	if got := fmt.Sprint(at); got != "map[lucky:[500000 1.5e+06] none:[500000 1.5e+06] softirq:[500000 750000] starved:[500000]]" {
		t.Errorf("the curves' points are at %s", got)
	}
}

// Reasons parses reasons as records have them; the result is never nil.
func Reasons(texts ...string) []Refusal {
	out := make([]Refusal, len(texts))
	for i, text := range texts {
		_ = out[i].UnmarshalText([]byte(text)) // any text is valid
	}
	return out
}
