package testbed_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"linerate/internal/drop"
	"linerate/internal/port"
	"linerate/internal/testbed"
)

// TestTelemetrySince: counters by their growth, gauges by their value; a new counter counts from zero, one
// that decreased or disappeared is left out.
func TestTelemetrySince(t *testing.T) {
	before := testbed.Telemetry{Counters: map[string]float64{"rx": 100, "same": 5, "reset": 50, "gone": 1}, Gauges: map[string]float64{"celsius": 40, "off": 1}}
	after := testbed.Telemetry{Counters: map[string]float64{"rx": 108, "same": 5, "reset": 3, "new": 7}, Gauges: map[string]float64{"celsius": 41.5}}
	if got := after.Since(before); !maps.Equal(got, map[string]float64{"rx": 8, "new": 7, "celsius": 41.5}) {
		t.Errorf("%v", got)
	}
	if got := (testbed.Telemetry{}).Since(before); len(got) != 0 {
		t.Errorf("empty telemetry gives %v", got)
	}
}

func TestWays(t *testing.T) {
	one := testbed.Arm{Way: testbed.Way{Generator: port.Port{Device: "gen0"}, Receiver: port.Port{Device: "sink0"}}}
	if w := one.Ways(); len(w) != 1 || w[0].Generator.Device != "gen0" || w[0].Receiver.Device != "sink0" {
		t.Errorf("%+v", w)
	}
	one.More = make([]testbed.Way, 1)
	if w := one.Ways(); len(w) != 2 || w[0].Generator.Device != "gen0" {
		t.Errorf("%+v", w)
	}
}

// TestAllDrops: an arm's counters and its machine's, nil if neither is read.
func TestAllDrops(t *testing.T) {
	var a testbed.Arm
	if got, err := a.AllDrops(); got != nil || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	a.Drops = func() (drop.Counters, error) { return drop.Counters{"a": 1}, nil }
	a.Machine = func() (drop.Counters, error) { return drop.Counters{"a": 1, "b": 2}, nil }
	if got, err := a.AllDrops(); !maps.Equal(got, drop.Counters{"a": 2, "b": 2}) || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}

// TestUnavailable: the error says what, why, and what would help, and is found when wrapped.
func TestUnavailable(t *testing.T) {
	err := fmt.Errorf("arm b: %w", &testbed.ErrUnavailable{Setting: "nft", Reason: "no flow tables", Help: testbed.Needs("nft_flow_offload", "CONFIG_NFT_FLOW_OFFLOAD")})
	var un *testbed.ErrUnavailable
	if !errors.As(err, &un) || err.Error() != "arm b: nft: no flow tables; load the module nft_flow_offload (modprobe nft_flow_offload), or boot a kernel built with CONFIG_NFT_FLOW_OFFLOAD" {
		t.Errorf("%v", err)
	}
	if un = (&testbed.ErrUnavailable{Setting: "a", Reason: "b"}); un.Error() != "a: b" {
		t.Errorf("%v", un)
	}
	if testbed.SystemOf(testbed.KindNetns) != "linux" || testbed.SystemOf(testbed.KindJails) != "freebsd" || testbed.SystemOf("ssh") != "" {
		t.Error("a kind of testbed has the wrong system")
	}
}

// TestQueues: a queue grows with rate and round trip, between a hundred packets and 64 MiB.
func TestQueues(t *testing.T) {
	last := 0
	for _, rate := range []float64{0, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e12} {
		q := testbed.Link{Rate: rate, Delay: 20 * time.Millisecond}.Queue()
		if q < last || q < 150_000 || q > 64<<20 {
			t.Errorf("%g bit/s queue %d bytes, slower ones %d", rate, q, last)
		}
		last = q
	}
	if q := (testbed.Link{Rate: 1e9, Delay: 20 * time.Millisecond}).Queue(); q != 5_000_000 {
		t.Errorf("a round trip of 40 ms at 1 Gbit/s is %d bytes", q)
	}
	for text, l := range map[string]testbed.Link{"0.1 % loss each way": {Loss: 0.001}, "2.5 Mb/s": {Rate: 2.5e6}, "± 1ms": {Delay: 5 * time.Millisecond, Jitter: time.Millisecond}} {
		if !strings.Contains(l.String(), text) || l.IsWire() {
			t.Errorf("%q lacks %q", l, text)
		}
	}
}
