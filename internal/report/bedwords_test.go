package report

import (
	"strings"
	"testing"

	"linerate/internal/study"
	"linerate/internal/testbed"
)

// TestWordsOfTheBed: a report of jails and of an emulated CPU makes no claims that are true only
// for namespaces and for real CPUs.
func TestWordsOfTheBed(t *testing.T) {
	s, r := results(t)
	const namespaces, nanos = "the router&#39;s namespace is rebuilt", "do not include the cost of a network card"
	if page := pageOf(t, s, r); !strings.Contains(page, namespaces) || !strings.Contains(page, nanos) ||
		!strings.Contains(page, "run to completion on one CPU") {
		t.Error("a report of namespaces does not say how they measure")
	}
	r.Environment.CPU = "QEMU TCG CPU version 2.5+"
	r.Environment.Testbeds = map[string]study.BedNotes{"cost": {Kind: testbed.KindJails}, "overload": {Kind: testbed.KindJails}}
	page := pageOf(t, s, r)
	for _, want := range []string{"the router&#39;s jail is rebuilt", "epair_task", "The CPU is emulated"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, not := range []string{namespaces, nanos, "run to completion on one CPU", "others were not tested"} {
		if strings.Contains(page, not) {
			t.Errorf("the page says %q", not)
		}
	}
}

func pageOf(t *testing.T, s study.Spec, r study.Results) string {
	t.Helper()
	page, err := plainHTML(s, r)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}
