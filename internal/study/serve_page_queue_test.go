package study

import (
	"testing"

	"linerate/internal/testbed"
)

func TestWhatIsDrawnOfEveryTrial(t *testing.T) {
	for want, p := range map[string]Part{
		RequestMean: {Asks: Asks{SMTP: &SMTP{Rate: 5}}}, RequestRate: {Asks: Asks{HTTP: &HTTP{}}}, SettledRate: {Asks: Asks{SMTP: &SMTP{}}},
	} {
		p.Mode = testbed.Serve
		if m, ok := Timeline(p); !ok || m.Name != want {
			t.Errorf("%+v: the timeline shows %s, want %s", p, m.Name, want)
		}
	}
}
