package study

import (
	"strings"
	"testing"

	"linerate/internal/drop"
	"linerate/internal/load"
)

func TestDropsOfTrials(t *testing.T) {
	s, err := Parse("x", []byte("name: x\nquestion: q\nvariants: [{name: a}, {name: b}]\nparts: [{name: over, mode: overload}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	trial := func(variant string, block int, sent, got uint64, counted drop.Counters) Trial {
		lost := sent - got
		return Trial{Part: "over", Mode: "overload", Variant: variant, Block: block, Reasons: []Refusal{},
			Observed: &Observation{Sent: load.Sent{TxPackets: sent}, Received: load.Received{RxPackets: got, Lost: &lost}, Drops: counted}}
	}
	r := Analyse(s, 1, Environment{}, []Trial{
		trial("a", 1, 1000, 600, drop.Counters{"generator.output_drops": 400}),
		trial("a", 2, 1000, 500, drop.Counters{"generator.output_drops": 500}),
		trial("b", 1, 1000, 600, drop.Counters{"generator.output_drops": 300}),
		trial("b", 2, 1000, 1000, nil), // without drop counters
	})
	if len(r.Drops) != 2 {
		t.Fatalf("%+v", r.Drops)
	}
	a, b := r.Drops[0], r.Drops[1]
	if a.Variant != "a" || a.Trials != 2 || a.Offered != 2000 || a.At(drop.IngressQueue) != 900 || a.At(drop.Delivered) != 1100 || a.Unknown != 0 {
		t.Errorf("a: %+v", a)
	}
	if b.Variant != "b" || b.Trials != 1 || b.Unknown != 100 {
		t.Errorf("b: %+v", b)
	}
	warned := strings.Join(r.Warnings, "\n")
	if !strings.Contains(warned, "10.0 % of the frames offered to b in part over died") || strings.Contains(warned, "offered to a") {
		t.Errorf("warnings: %s", warned)
	}
}
