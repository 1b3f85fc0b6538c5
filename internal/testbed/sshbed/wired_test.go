package sshbed

import (
	"strings"
	"testing"

	"linerate/internal/hint"
	"linerate/internal/load"
	"linerate/internal/testbed"
)

// TestWired: a link is identified by where broadcast frames arrived.
func TestWired(t *testing.T) {
	const g, d, other = "generator/ix0", "dut/ix0", "dut/ix1"
	from, to := testbed.End{Host: "generator", Interface: "ix0"}, testbed.End{Host: "dut", Interface: "ix0"}
	for _, c := range []struct {
		got  map[string]uint64
		want string
	}{
		{map[string]uint64{d: 400, other: 3}, "400 of 400 frames"},
		{map[string]uint64{d: 409, g: 409}, "400 of 400 frames"}, // machines send other frames, and may receive their own
		{map[string]uint64{d: 396}, "396 of 400 frames"},
		{map[string]uint64{d: 395}, "the wire loses frames: of 400 sent at generator/ix0, at 2 kpps, 395 arrived at dut/ix0"},
		{map[string]uint64{d: 150}, "the wire loses frames: of 400 sent at generator/ix0, at 2 kpps, 150 arrived"},
		{map[string]uint64{d: 12, other: 30}, "arrived nowhere (dut/ix0 got 12 of 400)"},
		{nil, "arrived nowhere (dut/ix0 got 0 of 400)"},
		{map[string]uint64{other: 400}, "wrong cabling: frames sent at generator/ix0 arrived at dut/ix1, not at dut/ix0"},
		{map[string]uint64{d: 150, other: 400}, "wrong cabling"},
		{map[string]uint64{d: 400, other: 400}, "arrived at dut/ix0 and dut/ix1: they must not leave the wire"},
	} {
		found, err := wired(from, to, 400, c.got)
		if err != nil {
			found = err.Error()
			if hint.Of(err) == "" {
				t.Errorf("%v: %v has no hint", c.got, err)
			}
		}
		if !strings.Contains(found, c.want) || (err == nil) != strings.HasSuffix(c.want, "of 400 frames") {
			t.Errorf("%v: %q (%v), want %q", c.got, found, err, c.want)
		}
	}
}

// TestKept: a path that bypasses the DUT is detected even if a switch drops most broadcast frames.
func TestKept(t *testing.T) {
	from := testbed.End{Host: "generator", Interface: "ix0"}
	f := testbed.File{Wires: []testbed.Wire{{From: "generator/ix0", To: "dut/ix0"}, {From: "dut/ix1", To: "receiver/ix1"}}}
	paths := f.Paths()
	for arrived, beside := range map[uint64]bool{0: false, 20: false, 120: true, 400: true} {
		found, err := kept(from, paths, 400, map[string]uint64{"generator/ix0": 400, "receiver/ix1": arrived})
		if (err != nil) != beside || err == nil && found != "none of 400 frames got past the DUT" || err != nil && hint.Of(err) == "" {
			t.Errorf("%d of 400: %q, %v", arrived, found, err)
		}
	}
}

// TestNothingOffered: a generator that sent nothing says nothing of the DUT's maximum.
func TestNothingOffered(t *testing.T) {
	var told Step
	c := checker{t: Traffic{Seconds: 0.2, Headroom: 1.2}, tell: func(s Step) { told = s }}
	if c.overload(load.Sent{}, load.Received{}) || told.OK || !strings.Contains(told.Hint, "--time") {
		t.Errorf("nothing sent: %+v", told)
	}
	if !c.overload(load.Sent{TxPackets: 100, TxPPS: 500}, load.Received{RxPackets: 50}) || !strings.Contains(told.Found, "50 % came") {
		t.Errorf("half came through: %+v", told)
	}
}
