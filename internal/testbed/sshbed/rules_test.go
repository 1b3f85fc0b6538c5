package sshbed

import (
	"errors"
	"strings"
	"testing"

	"linerate/internal/setting"
	"linerate/internal/testbed"
)

// TestFirewallOfADUT: a firewall that is described by its work is made for the DUT's filter, or for the one
// that the study names, and is unavailable where the DUT has none.
func TestFirewallOfADUT(t *testing.T) {
	for _, c := range []struct{ os, by, loads string }{
		{"linux", "", "ip saddr 240.0.0.1 drop"}, {"linux", setting.ByNFT, "nft -f"}, {"linux", setting.ByIptablesNFT, ""}, {"linux", setting.ByPF, ""},
		{"freebsd", "", "block drop in quick from 240.0.0.1"}, {"freebsd", setting.ByIPFW, "deny ip from 240.0.0.1"}, {"freebsd", setting.ByNFT, ""},
	} {
		b, v := &Bed{}, &variant{}
		b.id.OS = c.os
		err := b.addRules(v, setting.Setting{Mechanism: setting.Firewall, Rules: &setting.Rules{Linear: 2, By: c.by}})
		var gone *testbed.ErrUnavailable
		switch {
		case c.loads == "" && !errors.As(err, &gone):
			t.Errorf("%s of %s: %v", c.by, c.os, err)
		case c.loads != "" && (err != nil || len(v.steps) != 1 || !strings.Contains(v.steps[0].do, c.loads)):
			t.Errorf("%s of %s: %v, %+v", c.by, c.os, err, v.steps)
		}
	}
}
