package study

import (
	"strings"
	"testing"

	"linerate/internal/load"
	"linerate/internal/testbed"
)

// forwarded returns a sound trial on machines: 1,000,000 frames sent, all forwarded.
func forwarded(change func(*Observation)) Observation {
	lost := uint64(0)
	o := Observation{Machines: true, Sent: load.Sent{TxPackets: 1_000_000, Seconds: 1}, Received: load.Received{RxPackets: 1_000_000, Lost: &lost, Seconds: 1},
		After: testbed.Counters{Received: 1_000_000, Forwarded: 1_000_000}}
	change(&o)
	return o
}

func TestTrialsOnMachines(t *testing.T) {
	lose := func(o *Observation, n uint64) {
		o.Received.RxPackets -= n
		lost := n
		o.Received.Lost = &lost
	}
	for _, c := range []struct {
		name   string
		change func(*Observation)
		want   string // "" is valid
	}{
		{"sound", func(*Observation) {}, ""},
		{"the DUT drops", func(o *Observation) { lose(o, 400_000); o.After.Forwarded -= 400_000 }, ""},
		{"the receiver lost count", func(o *Observation) { lose(o, 5_000) }, "receiver: the DUT forwarded 1000000 frames and the receiver has 995000: it lost count"},
		{"a few frames of other traffic", func(o *Observation) { o.After.Forwarded += 50 }, ""},
		{"a driver that misses some frames", func(o *Observation) { o.After.Forwarded -= 900 }, ""},
		{"too many missed frames", func(o *Observation) { o.After.Forwarded -= 1100 }, "counters: the receiver has 1000000 frames, but the DUT forwarded 998900"},
		{"a boot that did not take", func(o *Observation) { o.Applied.NotTaken = []string{"loader hw.x is \"0\""} }, `not taken: loader hw.x is "0"`},
		{"counters of another path", func(o *Observation) { o.After.Forwarded = 10 }, "counters: the receiver has 1000000 frames, but the DUT forwarded 10"},
		{"a DUT without counters", func(o *Observation) { o.After, o.Uncounted = testbed.Counters{}, true }, ""},
	} {
		_, bad := judge(Part{Mode: testbed.Overload, Rate: "1Mpps"}, limited(Gates{Headroom: 1, UnsentPercent: 1, PacingPercent: 1, StarvedPercent: 1}), forwarded(c.change), 0)
		got := strings.Join(bad, "; ")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
