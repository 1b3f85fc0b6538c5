package plan_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"linerate/internal/fact"
	"linerate/internal/list"
	"linerate/internal/plan"
	"linerate/internal/show"
)

// size is a typical host on the market, and the load that it must carry.
type size struct {
	name    string
	cpus    int
	memory  uint64
	card    map[string]string // driver of the card by system
	speed   uint64
	queues  int
	needs   plan.Needs
	virtual bool
}

var sizes = []size{
	{"vps", 1, 1 << 30, map[string]string{fact.FreeBSD: "vtnet", fact.Linux: "virtio_net"}, 1e9, 1, plan.Needs{Link: 1e9, RTT: 0.05, States: 20e3, Connections: 1e3}, true},
	{"10g", 8, 16 << 30, map[string]string{fact.FreeBSD: "ix", fact.Linux: "ixgbe"}, 10e9, 8, plan.Needs{Link: 10e9, RTT: 0.03, States: 1e6, Connections: 20e3}, false},
	{"100g", 64, 256 << 30, map[string]string{fact.FreeBSD: "mce", fact.Linux: "mlx5_core"}, 100e9, 63, plan.Needs{Link: 100e9, RTT: 0.1, States: 10e6, Connections: 200e3}, false},
}

// of returns a host of a size that runs a system in a role.
func (z size) of(os, role string) *fact.Facts {
	rel := map[string]string{fact.FreeBSD: "14.3-RELEASE", fact.Linux: "6.12.48"}[os]
	port := func(name string) fact.NIC {
		n := nic(name, z.card[os], z.speed, "RXCSUM", "TSO4")
		n.RXQueues, n.MaxQueues, n.RXDescriptors, n.MaxRXDescriptors = z.queues, z.queues, 1024, 4096
		return n
	}
	f := host(os, rel, "", z.cpus, z.memory, port("p0"), port("p1"))
	if z.virtual {
		f.Hypervisor = "kvm"
	}
	switch {
	case role == "web" || role == "cdn":
		nginx(f)
	case role == "firewall" && os == fact.FreeBSD:
		withPF(f)
	case role == "firewall":
		f.Firewall.NFT = &fact.NFT{Rules: 30, Tracking: on()}
	}
	return f
}

// TestSizes compares with golden files what plans set, and which names they leave alone, for six roles on
// three sizes of hosts.
func TestSizes(t *testing.T) {
	for _, os := range []string{fact.FreeBSD, fact.Linux} {
		for _, z := range sizes {
			t.Run(os+"-"+z.name, func(t *testing.T) {
				var b strings.Builder
				for _, role := range []string{"router", "firewall", "vpn", "web", "cdn", "storage"} {
					write(&b, make1(t, scenario{facts: z.of(os, role), role: role, needs: z.needs}))
				}
				hold(t, "sizes-"+os+"-"+z.name, b.String())
			})
		}
	}
}

// write lists a plan's settings with their reasons, and the names that it leaves alone.
func write(b *strings.Builder, p plan.Plan) {
	fmt.Fprintf(b, "\n== %s\n", p.Role)
	for _, u := range p.Unmet {
		fmt.Fprintf(b, "not met: %s\n", u)
	}
	for _, s := range p.Settings {
		was := "not known"
		if s.Current.Value != nil {
			was = *s.Current.Value
		}
		fmt.Fprintf(b, "%s: %s → %s\n", s.Title(), was, s.Value)
		for _, text := range []string{s.Formula, s.Reason} {
			for _, line := range show.Wrap(text, 100) {
				fmt.Fprintf(b, "    %s\n", line)
			}
		}
	}
	left := list.Map(p.LeftAlone, func(l plan.LeftAlone) string { return l.Name })
	fmt.Fprintf(b, "left alone:\n    %s\n", strings.Join(show.Wrap(strings.Join(left, ", "), 100), "\n    "))
}

// hold compares a text with a golden file.
func hold(t *testing.T, name, got string) {
	t.Helper()
	golden := filepath.Join("testdata", name+".golden")
	if update() {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Error(d)
	}
}
