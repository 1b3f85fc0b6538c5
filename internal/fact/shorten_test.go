package fact

import (
	"strings"
	"testing"
)

// TestShortenedIsOfBoundedValues: the shortened copy states the length of a cut value, and the facts
// are not modified.
func TestShortenedIsOfBoundedValues(t *testing.T) {
	long := strings.Repeat("9", 300_000)
	f := &Facts{Settings: []Tunable{{Name: "a.b", Live: &long, Lines: []Line{{Text: "a.b=" + long, Value: long}}}}, Problems: []Problem{{Text: long}},
		Modules: []Module{{Lines: []Line{{Text: long}}}}, NICs: []NIC{{Configured: []Line{{Value: long}}}}}
	g := f.Shortened()
	for _, s := range []string{*g.Settings[0].Live, g.Settings[0].Lines[0].Text, g.Settings[0].Lines[0].Value, g.Problems[0].Text, g.Modules[0].Lines[0].Text, g.NICs[0].Configured[0].Value} {
		if len(s) > 4096 || !strings.Contains(s, "00 bytes)…9") && !strings.Contains(s, "04 bytes)…9") {
			t.Errorf("%d bytes, want the ends and the size", len(s))
		}
	}
	if *f.Settings[0].Live != long || f.Settings[0].Lines[0].Value != long || f.Problems[0].Text != long || f.Modules[0].Lines[0].Text != long {
		t.Error("the facts themselves were shortened")
	}
}
