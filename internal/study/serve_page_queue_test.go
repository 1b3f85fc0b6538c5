package study

import (
	"math"
	"strings"
	"testing"

	"linerate/internal/load/request"
	"linerate/internal/testbed"
)

// TestQueuesAreDrawnFromWhereEachLoadBegan: two loads of one trial, the second
// twice as long, are laid over each other.
func TestQueuesAreDrawnFromWhereEachLoadBegan(t *testing.T) {
	q := &request.Queue{Peak: 30, Samples: []request.Depth{
		{Seconds: 0, Incoming: 20}, {Seconds: 0.1}, {Seconds: 0.1, Active: 30, Load: 1}, {Seconds: 0.3, Load: 1}}}
	trial := Trial{Part: "mail", Variant: "a", Valid: true, Metrics: map[string]float64{}, Observed: &Observation{Served: &Served{Queue: q}}}
	invalid := trial
	invalid.Valid = false
	r := Results{Control: "a", Trials: []Trial{trial, invalid, {Part: "mail", Variant: "b"}}}
	d, ok := depthsOf(r, "mail", "a")
	if !ok || !(math.Abs(d.span-0.2) <= 1e-9) || d.peak != 30 || !(math.Abs(d.settled-0.15) <= 1e-9) {
		t.Fatalf("%+v, %v", d, ok)
	}
	if first, last := d.mean[0], d.mean[depthBins-1]; first != 25 || last != 15 || d.most[0] != 30 {
		t.Errorf("mean %v at first, %v at last, most %v", first, last, d.most[0])
	}
	if _, ok := depthsOf(r, "mail", "b"); ok {
		t.Error("an arm without a queue has one")
	}
	if svg := queues(r, "mail", 700); !strings.Contains(svg, "at most 30 on their way; empty after 150 ms") {
		t.Errorf("%.600s", svg)
	}
	if svg := queues(Results{}, "mail", 700); svg != "" {
		t.Error("a queue is drawn of nothing")
	}
	q.Samples = []request.Depth{{Incoming: 1, Load: -1}} // a record may hold anything
	if d, ok := depthsOf(r, "mail", "a"); !ok || d.most[0] != 1 {
		t.Errorf("of an odd load: %+v, %v", d, ok)
	}
}

func TestWhatIsDrawnOfEveryTrial(t *testing.T) {
	for want, p := range map[string]Part{
		RequestMean: {Asks: Asks{SMTP: &SMTP{Rate: 5}}}, RequestRate: {Asks: Asks{HTTP: &HTTP{}}}, SettledRate: {Asks: Asks{SMTP: &SMTP{}}},
	} {
		p.Mode = testbed.Serve
		if m, ok := KindOf(p).Timeline(p); !ok || m.Name != want {
			t.Errorf("%+v: %s, want %s", p, m.Name, want)
		}
	}
}
