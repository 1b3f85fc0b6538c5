package netnsbed

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"linerate/internal/labtest"
	"linerate/internal/setting"
	"linerate/internal/testbed"
)

// byHand lists the ip(8) commands for what a kernel may lack.
var byHand = map[string]string{
	"vlan":      "link add byhand link gen0 type vlan id 7",
	"gre":       "link add byhand type gre local 198.18.0.1 remote 198.18.0.2",
	"ipip":      "link add byhand type ipip local 198.18.0.1 remote 198.18.0.2",
	"wireguard": "link add byhand type wireguard",
	"ipsec": "xfrm state add src 198.18.0.1 dst 198.18.0.2 proto esp spi 1 mode tunnel " +
		"aead rfc4106(gcm(aes)) 0x0102030405060708090a0b0c0d0e0f1011121314 128",
}

// tried returns the result of an ip(8) command in the generator's namespace.
func tried(b *Bed, words string) error {
	return b.gen.do(func() error { return exec.Command("ip", strings.Fields(words)...).Run() })
}

// TestPaths sends through every path layout that this kernel supports: everything sent arrives.
func TestPaths(t *testing.T) {
	labtest.Namespaces(t)
	b := up(t, Options{Mode: testbed.Cost})
	for _, s := range []setting.Setting{
		{Mechanism: setting.Hops, Value: "1"},
		{Mechanism: setting.Hops, Value: "3"},
		{Mechanism: setting.Hops, Value: "1", Name: "vlan"},
		{Mechanism: setting.Hops, Value: "1", Name: "vxlan"},
		{Mechanism: setting.Hops, Value: "1", Name: "gre"},
		{Mechanism: setting.Hops, Value: "1", Name: "ipip"},
		{Mechanism: setting.Hops, Value: "1", Name: "wireguard"},
		{Mechanism: setting.Hops, Value: "1", Name: "ipsec"},
	} {
		t.Run(s.String(), func(t *testing.T) {
			_, err := b.Reset(t.Context(), []setting.Setting{s})
			var un *testbed.ErrUnavailable
			if errors.As(err, &un) {
				if argv := byHand[s.Name]; argv == "" || tried(b, argv) == nil {
					t.Fatalf("ip(8) can create it, but the bed says %v", un)
				}
				if !strings.Contains(un.Help, "modprobe") && un.Help != "install wireguard-tools" {
					t.Errorf("the error does not say what would help: %v", un)
				}
				t.Skip(un)
			}
			if err != nil {
				t.Fatal(err)
			}
			if n := offer(t, b, 10, false); n != 10 {
				t.Errorf("%d of 10 datagrams arrived", n)
			}
		})
	}
}
