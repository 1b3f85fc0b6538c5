package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"linerate/internal/drop"
	"linerate/internal/show"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

func TestWhereFramesEnded(t *testing.T) {
	s, r := results(t)
	part := ""
	for _, p := range s.Parts {
		if p.Mode == testbed.Overload && p.Search == nil {
			part = p.Name
		}
	}
	if part == "" {
		t.Fatal("no part in mode overload")
	}
	r.Drops = []study.Drops{
		{Part: part, Variant: r.Control, Account: drop.Attribute(1000, 300, 0, drop.Counters{"generator.output_drops": 700})},
		{Part: part, Variant: study.AA, Account: drop.Attribute(1000, 300, 0, drop.Counters{"generator.output_drops": 100, "conntrack.drop": 590})},
	}
	var text bytes.Buffer
	if err := Terminal(&text, s, r, show.Style{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Where the frames ended", "queue into the router full", "70.0 %", "conntrack.drop 590", "59.0 %", "unknown", "1.0"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the terminal's report lacks %q", want)
		}
	}
	more := r
	for _, other := range s.Parts {
		if other.Name != part {
			more.Drops = append(slices.Clone(r.Drops), study.Drops{Part: other.Name, Variant: r.Control,
				Account: drop.Attribute(1000, 900, 0, drop.Counters{"softnet.dropped": 100})})
		}
	}
	text.Reset()
	if err := Terminal(&text, s, more, show.Style{}); err != nil || strings.Count(text.String(), "Where the frames ended") != 1 {
		t.Errorf("two parts are not in one table: %v\n%s", err, text.String())
	}
	page, err := plainHTML(s, r)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Where the frames ended", "queue into the router full", "connection tracking full or failed", "conntrack.drop 590"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for i := range r.Drops {
		r.Drops[i].Account = drop.Attribute(1000, 1000, 0, nil)
	}
	if page, err = plainHTML(s, r); err != nil || strings.Contains(string(page), "Where the frames ended") {
		t.Errorf("nothing was lost, and the page says where: %v", err)
	}
}
