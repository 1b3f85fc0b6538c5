package knob

import (
	"strings"
	"testing"

	"linerate/internal/setting"
)

func TestNeverInAJail(t *testing.T) {
	for _, c := range []struct {
		set setting.Setting
		why string // a part of the reason; "" if available
	}{
		{setting.Setting{Mechanism: setting.Sysctl, Name: "net.inet.ip.forwarding", Value: "1"}, ""},
		{setting.Setting{Mechanism: setting.Firewall}, ""},
		{setting.Setting{Mechanism: setting.Forward, Name: setting.ForwardBridge}, ""},
		{setting.Setting{Mechanism: setting.Forward, Name: "xdp"}, "no such way"},
		{setting.Setting{Mechanism: setting.NFT}, "nftables is Linux's"},
		{setting.Setting{Mechanism: setting.NAPI}, "NAPI is Linux's"},
		{setting.Setting{Mechanism: setting.PolicyRules}, "policy routing"},
		{setting.Setting{Mechanism: setting.CPUs}, "yet"},
	} {
		if why := Never(c.set); (why == "") != (c.why == "") || !strings.Contains(why, c.why) {
			t.Errorf("%s: %q, want %q", c.set, why, c.why)
		}
	}
}
