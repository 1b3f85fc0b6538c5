package study

import (
	"math"
	"testing"

	"linerate/internal/stats"
)

// TestWireRates: 14.88 million minimum-size frames per second fill a 10 Gb/s link, and are
// 7.62 Gb/s without preamble and gap.
func TestWireRates(t *testing.T) {
	s := sweptStudy(t, `name: x
question: q
workload: {link: 10Gbps}
variants: [{name: a}, {name: b}]
parts: [{name: small, sizes: [64]}, {name: both, sizes: [64], directions: both}]
`)
	w := wireRates(s, trialsOf(s, ForwardingRate, func(Part, Variant, int) map[string]float64 {
		return map[string]float64{ForwardingRate: 1e10 / (84 * 8)}
	}))
	if len(w) != 4 || w[0].Directions != OneWay || w[2].Directions != BothWays || !(math.Abs(w[2].LinkShare.Float()-0.5) <= 1e-9) || !(math.Abs(w[0].LinkShare.Float()-1) <= 1e-9) || !(math.Abs(w[0].EthernetBPS-7.619e9) <= 1e6) || !(math.Abs(w[0].IPBPS-5.476e9) <= 1e6) {
		t.Errorf("%+v", w)
	}
}

// TestMoreThanALink: a link share above 100 % gets an explanatory note.
func TestMoreThanALink(t *testing.T) {
	r := Results{Wire: []WireRate{{LinkShare: stats.Num(0.9)}}}
	if wireNote(r) != "" {
		t.Error("a note although the link is used to 90 % only")
	}
	r.Wire = append(r.Wire, WireRate{LinkShare: stats.Num(1.5)})
	if wireNote(r) == "" {
		t.Error("no note on a link share of 150 %")
	}
}
