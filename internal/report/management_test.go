package report

import (
	"bytes"
	"strings"
	"testing"

	"linerate/internal/load"
	"linerate/internal/show"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

func TestManagement(t *testing.T) {
	s, r := results(t)
	echoes := uint64(24)
	for i := range r.Trials {
		if tr := &r.Trials[i]; tr.Mode == testbed.Overload {
			if tr.Variant == "none" {
				echoes++ // 25, 26, 27 of a hundred
			}
			tr.Observed = &study.Observation{Management: &study.Management{
				Echo:     study.Answers{Sent: 100, Answered: echoes, RTT: &load.Latency{P50: 800_000, P99: 2_000_000}},
				Connect:  study.Answers{Sent: 100, Answered: 20, RTT: &load.Latency{P50: 900_000, P99: 2_000_000}},
				Greeting: study.Answers{Sent: 100}}}
		}
	}
	var text bytes.Buffer
	if err := Terminal(&text, s, r, show.Style{}); err != nil {
		t.Fatal(err)
	}
	page, err := plainHTML(s, r)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"26.0 % [23.5, 28.5]", "800 µs, 2.00 ms", "20.0 %", "900 µs, 2.00 ms", "0.00 %", "–"} {
		if !strings.Contains(text.String(), want) || !strings.Contains(string(page), want) {
			t.Errorf("a report lacks %q", want)
		}
	}
	if !strings.Contains(text.String(), "Does the router stay usable") || !strings.Contains(string(page), "Does the router stay usable?") {
		t.Error("nobody says what was asked")
	}
}
