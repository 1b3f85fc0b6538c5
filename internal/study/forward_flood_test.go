package study

import (
	"strings"
	"testing"

	"linerate/internal/drop"
	"linerate/internal/load"
	"linerate/internal/testbed"
)

// TestFloodJudged: a flood need not be forwarded, but frames must be sent and management probes
// answered; a flood's frames are in no drop account and on no curve.
func TestFloodJudged(t *testing.T) {
	p := Part{Name: "f", Mode: testbed.Overload, Flood: FloodSYN, Usable: true, Rate: MaxRate}
	asked := &Management{Echo: Answers{Sent: 9}, Connect: Answers{Sent: 9}, Greeting: Answers{Sent: 9}}
	for _, c := range []struct {
		sent       uint64
		management *Management
		want       string // "": valid
	}{
		{1e6, asked, ""}, {0, asked, "no traffic"}, {1e6, nil, "nothing asked"}, {1e6, &Management{}, "nothing asked"},
	} {
		o := Observation{Flooded: true, Management: c.management, Sent: load.Sent{TxPackets: c.sent, Seconds: 1}, Drops: drop.Counters{}}
		_, why := judge(p, DefaultGates(), o, 0)
		if text := strings.Join(why, "; "); (text == "") != (c.want == "") || !strings.HasPrefix(text, c.want) {
			t.Errorf("%d sent, asked %+v: %q, want %q", c.sent, c.management, text, c.want)
		}
		if a, ok := DropAccount(&o); ok {
			t.Errorf("a flood has a drop account: %+v", a)
		}
	}
	if m, ok := curveMetric(p); ok {
		t.Errorf("a flood is on the curve of %s", m.Name)
	}
}
