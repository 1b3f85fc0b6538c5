package audit_test

import (
	"testing"

	"linerate/internal/fact"
)

// TestAPauseNeedsALink: an em port that a hypervisor emulates has no link that
// a PAUSE could stop; a real one has, a card passed through too.
func TestAPauseNeedsALink(t *testing.T) {
	for _, c := range []struct {
		hypervisor, driver string
		want               bool
	}{{"none", "em", true}, {"generic", "em", false}, {"generic", "igb", true}} {
		f := tree(t, "14.3", nil)
		f.Hypervisor = c.hypervisor
		f.NICs = []fact.NIC{{Name: c.driver + "0", Driver: c.driver, Kind: "ethernet", FlowControl: "full"}}
		if got := find(run(t, f, "router"), "LR-FLOWCONTROL-ON", ""); (len(got) > 0) != c.want {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}
