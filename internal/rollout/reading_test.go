package rollout

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"linerate/internal/apply"
)

const exporter = `# HELP node_network_receive_bytes_total x
# TYPE node_network_receive_bytes_total counter
node_network_receive_bytes_total{device="eth0"} 1e+06
node_network_receive_bytes_total{device="eth1"} 5 1700000000
# TYPE node_load1 gauge
node_load1 0.25
node_load15 9
`

// TestSumOf reads what an exporter prints: one series, all of a name, and nothing that only begins alike.
func TestSumOf(t *testing.T) {
	for series, want := range map[string]Reading{
		`node_network_receive_bytes_total{device="eth0"}`: {1e6, true}, "node_network_receive_bytes_total": {1000005, true}, "node_load1": {0.25, false},
	} {
		if got, ok := sumOf(exporter, series); !ok || got != want {
			t.Errorf("%s: %+v %v, want %+v", series, got, ok, want)
		}
	}
	for _, series := range []string{"node_load", "node", `node_load1{cpu="0"}`} {
		if got, ok := sumOf(exporter, series); ok {
			t.Errorf("%s: %+v", series, got)
		}
	}
}

// TestSummed: gauges are averaged, counters are what they counted a second, also when one was set back.
func TestSummed(t *testing.T) {
	at := time.Unix(0, 0)
	sum := func(counter bool, values ...float64) float64 {
		var s summed
		for i, v := range values {
			s.add(Reading{v, counter}, at.Add(time.Duration(i)*time.Second), nil)
		}
		return s.value()
	}
	if got := sum(false, 1, 2, 6); got != 3 {
		t.Errorf("a gauge: %v", got)
	}
	if got := sum(true, 10, 20, 30); got != 10 {
		t.Errorf("a counter: %v", got)
	}
	if got := sum(true, 1000, 10, 40); got != 30 {
		t.Errorf("a counter that was set back: %v", got)
	}
	if got := sum(true, 10); !math.IsNaN(got) {
		t.Errorf("one reading of a counter: %v", got)
	}
}

func TestParseMeasure(t *testing.T) {
	h := apply.CheckedHost{Name: "ops@h1:22", Source: "ssh://ops@192.0.2.1:22"}
	read, err := ParseMeasure("node:http://localhost:9100/{host}#node_load1", h, func(_ context.Context, text string, args []string, _ []byte) ([]byte, error) {
		if args[0] != "http://localhost:9100/h1" || !strings.Contains(text, "curl") {
			t.Errorf("%q of %q", args, text)
		}
		return []byte(exporter), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := read(t.Context()); err != nil || r.Value != 0.25 {
		t.Errorf("%+v, %v", r, err)
	}
	for _, bad := range []string{"weather", "node:9100#x", "node:/etc/passwd", "command:/nowhere/at/all", "prometheus:mon1#up", "prometheus:http://mon1"} {
		if _, err := ParseMeasure(bad, h, nil); err == nil {
			t.Errorf("%s is a metric", bad)
		}
	}
}
