package testbed

import (
	"testing"
	"time"
)

func TestLink(t *testing.T) {
	for _, c := range []struct {
		link  Link
		words string
		trip  time.Duration
		queue int
	}{
		{Link{}, "a wire", 0, leastQueue},
		{Link{Delay: 40 * time.Millisecond}, "40ms each way (round trip 80ms)", 80 * time.Millisecond, leastQueue},
		{Link{Delay: 40 * time.Millisecond, Jitter: 2 * time.Millisecond, Loss: 0.005, Rate: 20e6},
			"40ms ± 2ms each way (round trip 80ms), 0.5 % loss each way, 20 Mb/s", 80 * time.Millisecond, 200_000},
		{Link{Rate: 1e9}, "1000 Mb/s", 0, leastQueue},
		{Link{Delay: 5 * time.Second, Rate: 1e11}, "5s each way (round trip 10s), 100000 Mb/s", 10 * time.Second, mostQueue},
	} {
		if got := c.link.String(); got != c.words || c.link.IsWire() != (c.words == "a wire") {
			t.Errorf("%q, want %q", got, c.words)
		}
		if c.link.RoundTrip() != c.trip || c.link.Queue() != c.queue {
			t.Errorf("%s: round trip %v, queue of %d bytes, want %v and %d", c.words, c.link.RoundTrip(), c.link.Queue(), c.trip, c.queue)
		}
	}
}
