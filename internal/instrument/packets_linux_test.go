package instrument

import (
	"strings"
	"testing"

	"linerate/internal/profile"
)

// TestOfPackets: of a profile the time of packets is kept, with a word on what was left out; one in
// which there is none stays as it is.
func TestOfPackets(t *testing.T) {
	build := func(stacks map[string]int64) *profile.Profile {
		b := profile.NewBuilder("cpu-clock", "samples")
		for frames, n := range stacks {
			var all []profile.Frame
			for _, f := range strings.Fields(frames) {
				all = append(all, profile.Frame{Name: f})
			}
			b.Add(all, n)
		}
		return b.Profile()
	}
	mixed := build(map[string]int64{"start net_rx_action ip_forward": 60, "start do_idle": 30, "main compile": 10})
	got := ofPackets(mixed)
	if profile.Total(got) != 60 || len(got.Sample) != 1 || !strings.Contains(strings.Join(got.Comments, "\n"), "40.0 % of the time was idle, or other programs'") {
		t.Errorf("%d of %d samples, notes %q", profile.Total(got), profile.Total(mixed), got.Comments)
	}
	for _, f := range packets {
		if got := ofPackets(build(map[string]int64{"a " + f + " b": 3, "c": 1})); profile.Total(got) != 3 {
			t.Errorf("below %s %d of 3 samples are packets'", f, profile.Total(got))
		}
	}
	idle := build(map[string]int64{"start do_idle": 30})
	if got := ofPackets(idle); got != idle || len(got.Comments) != 0 {
		t.Errorf("a profile without packets: %+v", got)
	}
}
