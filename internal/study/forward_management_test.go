package study

import (
	"strings"
	"testing"

	"linerate/internal/load"
)

const managed = "name: x\nquestion: q\nvariants: [{name: a}, {name: b}]\nparts:\n  - {name: over, mode: overload, seconds: 1, management: true}\n"

func TestManagementIsMeasuredWhereAsked(t *testing.T) {
	s, err := Parse("x", []byte(managed))
	if err != nil {
		t.Fatal(err)
	}
	lost := uint64(60)
	o := Observation{Sent: load.Sent{TxPackets: 100, Seconds: 1}, Received: load.Received{RxPackets: 40, Seconds: 1, Lost: &lost},
		Management: &Management{Echo: Answers{Sent: 10, Answered: 5, RTT: &load.Latency{P50: 700}}, Greeting: Answers{Sent: 10, Answered: 2}}}
	m, _ := judge(s.Parts[0], s.Gates, o, 0)
	if m[ManagementLoss] != 0.8 || m[ManagementRTT] != 700 {
		t.Errorf("%v", m)
	}
	if how := s.Interleaving(s.Parts[0]); how != InSequence {
		t.Errorf("a part that asks for management runs %s", how)
	}
	wanted := map[string]bool{}
	for _, g := range s.Metrics {
		wanted[g.Metric] = true
	}
	if !wanted[ManagementLoss] || !wanted[ManagementRTT] {
		t.Errorf("metrics %v", wanted)
	}
	plain, err := Parse("x", []byte(strings.Replace(managed, ", management: true", "", 1)))
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range plain.Metrics {
		if g.Metric == ManagementLoss || g.Metric == ManagementRTT {
			t.Errorf("%s is a metric of a part without management", g.Metric)
		}
	}
}

func TestManagementRefused(t *testing.T) {
	for name, c := range map[string][2]string{
		"cost":  {"mode: overload", "mode: cost"},
		"short": {"seconds: 1", "seconds: 0.1"},
	} {
		if _, err := Parse("x", []byte(strings.Replace(managed, c[0], c[1], 1))); err == nil || !strings.Contains(err.Error(), "management") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
