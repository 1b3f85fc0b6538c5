package report

import (
	"strings"
	"testing"

	"linerate/internal/show"
	"linerate/internal/study"
)

// TestStatesAreTold: states are shown on a terminal and on the page.
func TestStatesAreTold(t *testing.T) {
	s, r := results(t)
	r.States = []study.States{{Part: "new", Variant: "rules", Made: 123_456, PerSecond: 234_567, Counted: map[string]float64{"conntrack.early_drop": 0.4}}}
	var text strings.Builder
	if err := Terminal(&text, s, r, show.Style{Width: 100}); err != nil {
		t.Fatal(err)
	}
	page, err := plainHTML(s, r)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"123,456", "234,567", "conntrack.early_drop"} {
		if !strings.Contains(text.String(), want) || !strings.Contains(string(page), want) {
			t.Errorf("a report lacks %q", want)
		}
	}
	if !strings.Contains(string(page), "why no more") {
		t.Error("the page lacks the reasons")
	}
	r.States = []study.States{{Part: "new", Variant: "rules", Made: 1000, PerSecond: 409}}
	if page, err := plainHTML(s, r); err != nil || strings.Contains(string(page), "states made") {
		t.Errorf("%v, or a table of next to nothing", err)
	}
}
