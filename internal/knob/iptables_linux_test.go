package knob

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"linerate/internal/labtest"
	"linerate/internal/setting"
	"linerate/internal/testbed"
)

// TestIptables loads rules and sets with the programs that studies name, and counts them in the kernel. What the
// kernel does not support is unavailable.
func TestIptables(t *testing.T) {
	for _, c := range []struct {
		by    string
		rules setting.Rules
		list  []string
		each  string
		want  int
	}{
		{setting.ByIptablesLegacy, setting.Rules{Linear: 50}, []string{"iptables-legacy-save"}, "-A FORWARD -s 240.", 50},
		{setting.ByIptablesNFT, setting.Rules{Linear: 50}, []string{"iptables-nft-save"}, "-A FORWARD -s 240.", 50},
		{setting.ByIptablesLegacy, setting.Rules{Stateful: true}, []string{"iptables-legacy-save"}, "-m conntrack --ctstate", 2},
		{setting.ByIptablesLegacy, setting.Rules{SetElements: 500}, []string{"ipset", "save", "never4"}, "add never4 240.", 500},
	} {
		t.Run(c.by+" "+c.rules.String(), func(t *testing.T) {
			for _, program := range []string{c.by + "-restore", c.list[0]} {
				if _, err := exec.LookPath(program); err != nil {
					labtest.Lacking(t, "%v", err)
				}
			}
			target := fresh(t)
			c.rules.By = c.by
			_, err := target.Apply(context.Background(), setting.Setting{Mechanism: setting.Firewall, Rules: &c.rules})
			var gone *testbed.ErrUnavailable
			if errors.As(err, &gone) {
				labtest.Lacking(t, "this kernel: %v", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			inside(t, target, func() error {
				cmd := exec.Command(c.list[0], c.list[1:]...)
				cmd.Stdout = &out
				return cmd.Run()
			})
			if n := strings.Count(out.String(), c.each); n != c.want {
				t.Errorf("%d of %q are loaded, want %d: %.300s", n, c.each, c.want, out.String())
			}
		})
	}
}
