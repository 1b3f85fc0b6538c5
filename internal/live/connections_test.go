package live

import (
	"math"
	"testing"
)

// TestOnlyNewConnectionsCount: a setting that affects only new connections is judged by those that were
// opened in the window.
func TestOnlyNewConnectionsCount(t *testing.T) {
	o := &Options{NewConnections: true}
	at := func(conns ...connection) Sample { return Sample{Connections: conns} }
	old := func(sent, again float64) connection {
		return connection{ID: "old", RoundTrip: 1, Segments: sent, Again: again, Rate: math.NaN()}
	}
	fresh := func(sent, again float64) connection {
		return connection{ID: "new", RoundTrip: 0.01, Segments: sent, Again: again, Rate: 8e6}
	}
	for source, want := range map[string]float64{"rtt": 1e7, "delivery-rate": 8e6, "retransmits": 0.25} {
		m, err := o.ParseMetric(source)
		if err != nil || !o.connections {
			t.Fatal(source, err)
		}
		if _, err := m.from.Tick(t.Context(), at(old(1000, 900))); err != nil {
			t.Fatal(err)
		}
		m.from.(interface{ turned() }).turned()
		for i := range 3 {
			n := float64(i + 1)
			if _, err := m.from.Tick(t.Context(), at(old(1000+n, 900+n), fresh(40*n, 10*n))); err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				m.from.Begin()
			}
		}
		if v := m.from.Value(); math.Abs(v-want) > 1e-9*want {
			t.Errorf("%s is %g, want %g", source, v, want)
		}
	}
}

func TestBits(t *testing.T) {
	for text, want := range map[string]float64{"94184bps": 94184, "1.5Mbps": 1.5e6, "2Kbps": 2000, "3Gbps": 3e9} {
		if got := bits(text); got != want {
			t.Errorf("%s is %g", text, got)
		}
	}
	for _, text := range []string{"-", "", "bps", "Mbps"} {
		if got := bits(text); !math.IsNaN(got) {
			t.Errorf("%q is %g", text, got)
		}
	}
}
