package audit_test

import (
	"testing"

	"linerate/internal/fact"
)

// TestAPauseNeedsALink: PAUSE frames cannot stop an em port that a hypervisor emulates, since it has
// no link; they can stop a physical port, passed through or not.
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
