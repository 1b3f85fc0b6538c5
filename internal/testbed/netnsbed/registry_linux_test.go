package netnsbed

import (
	"testing"

	"github.com/google/nftables"

	"linerate/internal/testbed"
)

func TestAssign(t *testing.T) {
	for _, c := range []struct {
		mode    testbed.Mode
		allowed []int
		want    testbed.CPUs
		bad     bool
	}{
		{testbed.Cost, []int{0}, testbed.CPUs{}, false},
		{testbed.Cost, []int{0, 1}, testbed.CPUs{Generator: 1, DUT: 1, Receiver: 1}, false},
		{testbed.Overload, []int{0, 1}, testbed.CPUs{Generator: 0, DUT: 1, Receiver: 1}, false},
		{testbed.Overload, []int{3}, testbed.CPUs{}, true},
	} {
		got, notes, err := assign(c.mode, c.allowed, nil)
		if (err != nil) != c.bad || got != c.want {
			t.Errorf("assign(%s, %v) = %+v, %v", c.mode, c.allowed, got, err)
		}
		if err == nil && len(notes) == 0 {
			t.Errorf("assign(%s, %v) does not say who shares what", c.mode, c.allowed)
		}
	}
}

func countRules(t *testing.T, b *Bed, family string) int {
	t.Helper()
	n := 0
	err := b.dut.dut.first.do(func() error {
		c, err := nftables.New()
		if err != nil {
			return err
		}
		fam := nftables.TableFamilyIPv4
		if family == "ip6" {
			fam = nftables.TableFamilyIPv6
		}
		table := &nftables.Table{Family: fam, Name: "linerate"}
		rules, err := c.GetRules(table, &nftables.Chain{Name: "forward", Table: table})
		n = len(rules)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
