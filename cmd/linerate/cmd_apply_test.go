package main

import (
	"strings"
	"testing"

	"linerate/internal/apply"
	"linerate/internal/plan"
	"linerate/internal/show"
)

// TestWhatIsAskedFitsAPage: the confirmation prompt shows the whole change within the page's
// width, without control characters from a hand-written plan.
func TestWhatIsAskedFitsAPage(t *testing.T) {
	long := strings.Repeat("a risk that takes many words ", 10)
	change := apply.Transaction{Plan: plan.Plan{Role: "router", OS: "linux", Release: "6.18", Settings: []plan.Step{{
		Name: "net.ipv4.ip_forward", Mechanism: "sysctl", Value: "1", Reason: long, Risk: long + "\x1b[2J",
	}}}}
	var b strings.Builder
	if err := writeChange(&b, change); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for line := range strings.Lines(text) {
		if show.Width(strings.TrimSuffix(line, "\n")) > show.DefaultWidth {
			t.Errorf("too wide: %q", line)
		}
	}
	if !strings.Contains(text, "net.ipv4.ip_forward: not set → 1") || strings.Contains(text, "\x1b") || strings.Count(text, "many words") != 20 {
		t.Errorf("got %s", text)
	}
}
