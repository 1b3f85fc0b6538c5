package study

import (
	"slices"
	"testing"

	"linerate/internal/load/request"
	"linerate/internal/testbed"
)

// TestQueuesLastFromWhereEachLoadBegan: of two loads of one trial the second lasts twice as
// long.
func TestQueuesLastFromWhereEachLoadBegan(t *testing.T) {
	q := &request.Queue{Peak: 30, Samples: []request.Depth{
		{Seconds: 0, Incoming: 20}, {Seconds: 0.1}, {Seconds: 0.1, Active: 30, Load: 1}, {Seconds: 0.3, Load: 1}}}
	trial := Trial{Part: "mail", Variant: "a", Valid: true, Metrics: map[string]float64{}, Observed: &Observation{Served: &Served{Queue: q}}}
	invalid := trial
	invalid.Valid = false
	r := Results{Control: "a", Trials: []Trial{trial, invalid, {Part: "mail", Variant: "b"}}}
	if rows := queueTable(r, "mail").Rows; len(rows) != 1 || !slices.Equal(rows[0], []string{"a", "30", "150 ms"}) {
		t.Errorf("%q", rows)
	}
	if rows := queueTable(Results{}, "mail").Rows; len(rows) != 0 {
		t.Errorf("of nothing: %q", rows)
	}
	q.Samples = []request.Depth{{Incoming: 1, Load: -1}} // a record may hold anything
	if _, lasts, ok := queueOf(r, "mail", "a"); !ok || lasts != 0 {
		t.Errorf("an odd load lasts %g, %v", lasts, ok)
	}
}

func TestWhatIsDrawnOfEveryTrial(t *testing.T) {
	for want, p := range map[string]Part{
		RequestMean: {Asks: Asks{SMTP: &SMTP{Rate: 5}}}, RequestRate: {Asks: Asks{HTTP: &HTTP{}}}, SettledRate: {Asks: Asks{SMTP: &SMTP{}}},
	} {
		p.Mode = testbed.Serve
		if m, ok := Timeline(p); !ok || m.Name != want {
			t.Errorf("%+v: %s, want %s", p, m.Name, want)
		}
	}
}
