package audit_test

import (
	"fmt"
	"strings"
	"testing"

	"linerate/internal/audit"
)

// TestAlikeIsSaidOnce: the reason and advice that findings share are printed once, below the last of
// them; counters of many CPUs are abbreviated, lines of files are not.
func TestAlikeIsSaidOnce(t *testing.T) {
	finding := func(rule, name, file string) audit.Finding {
		return audit.Finding{ID: rule + ":" + name, Name: name, Severity: audit.Info, Kind: audit.Counter, File: file, Line: len(file),
			Text: name + "=1", Message: "about " + name, Why: "why of " + rule, Fix: "fix of " + rule}
	}
	var r audit.Report
	for i := range 64 {
		r.Findings = append(r.Findings, finding("LR-CPU", fmt.Sprintf("cpu%d", i), ""))
	}
	for i := range 12 {
		r.Findings = append(r.Findings, finding("LR-LINE", fmt.Sprintf("name%d", i), "/etc/sysctl.conf"))
	}
	r.Findings = append(r.Findings, finding("LR-OTHER", "one", ""))
	var b strings.Builder
	if err := r.Write(&b, audit.Style{}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for what, times := range map[string]int{"why of LR-CPU": 1, "fix of LR-CPU": 1, "about cpu": 8, "… and 56 more, all in the JSON": 1,
		"why of LR-LINE": 1, "about name": 12, "why of LR-OTHER": 1} {
		if n := strings.Count(text, what); n != times {
			t.Errorf("%q %d times, want %d", what, n, times)
		}
	}
	if strings.Index(text, "about name11") > strings.Index(text, "why of LR-LINE") {
		t.Error("the reason is not below the last finding that it belongs to")
	}
}
