package netnsbed

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/nftables"

	"linerate/internal/labtest"
	"linerate/internal/testbed"
)

func exists(ns string) bool {
	_, err := os.Stat(filepath.Join(netnsDir, ns))
	return err == nil
}

func TestNamedLab(t *testing.T) {
	labtest.Need(t)
	l, d, err := UpNamed("", testbed.Overload)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { Down(l.Name) })
	if d.CPUs.Generator == d.CPUs.DUT {
		t.Errorf("generator and DUT share CPU %d in mode overload", d.CPUs.DUT)
	}
	for _, n := range l.Namespaces() {
		if !exists(n) {
			t.Errorf("namespace %s is not there for ip netns", n)
		}
	}
	if _, _, err := UpNamed(l.Name, testbed.Cost); err == nil {
		t.Errorf("a second lab could take the name %s", l.Name)
	}
	if err := Sweep(); err != nil {
		t.Fatal(err)
	}
	if !exists(l.Namespaces()[0]) {
		t.Error("a persistent lab was swept away")
	}
	if err := Down(l.Name); err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(l.Namespaces(), exists) {
		t.Error("lab down left namespaces")
	}
	if err := Down(l.Name); err == nil {
		t.Error("a lab can be removed twice")
	}
}

// TestSweepTakesTheDeadOnly: a lab whose maker died before it was persistent
// goes, one whose maker lives stays.
func TestSweepTakesTheDeadOnly(t *testing.T) {
	labtest.Need(t)
	living, err := register("sweepalive", testbed.Cost)
	if err != nil {
		t.Fatal(err)
	}
	dead := Lab{Name: "sweepdead", Owner: os.Getpid(), OwnerStart: "1"} // this pid, but another process
	if err := dead.save(); err != nil {
		t.Fatal(err)
	}
	for _, l := range []Lab{living, dead} {
		t.Cleanup(func() { l.remove() })
		for _, n := range l.Namespaces() {
			ns, err := newNamespace(n)
			if err != nil {
				t.Fatal(err)
			}
			ns.close()
		}
	}
	if err := Sweep(); err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(dead.Namespaces(), exists) {
		t.Error("a dead owner's namespaces are left")
	}
	if !exists(living.Namespaces()[0]) {
		t.Error("a living owner's namespaces were removed")
	}
}

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
	err := b.dut.first.do(func() error {
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
