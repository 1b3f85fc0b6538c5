package netnsbed

import (
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"linerate/internal/hint"
	"linerate/internal/setting"
	"linerate/internal/testbed"
)

// What a lab decides without touching the machine.

func TestPathOf(t *testing.T) {
	hop := func(n, over string) setting.Setting {
		return setting.Setting{Mechanism: setting.Hops, Name: over, Value: n}
	}
	other := setting.Setting{Mechanism: setting.Sysctl, Name: "a", Value: "1"}
	p, rest, err := pathOf([]setting.Setting{other, hop("3", "vlan"), other})
	if err != nil || p.hops != 3 || p.over != "vlan" || len(rest) != 2 {
		t.Errorf("%+v, %v, %v", p, rest, err)
	}
	if p, rest, err = pathOf(nil); err != nil || p.hops != 0 || len(rest) != 0 {
		t.Errorf("no settings: %+v, %v, %v", p, rest, err)
	}
	for _, n := range []string{"0", "17", "-1", "", "x", "1.5"} {
		if p, _, err := pathOf([]setting.Setting{hop(n, "")}); err == nil || !strings.Contains(err.Error(), "number of hops") {
			t.Errorf("%q hops: %+v, %v", n, p, err)
		}
	}
}

// TestHopsAreApart: every wire of the longest path has addresses of its own, which lie in no network
// of the workload's and are no other end's, over the wire and beyond it.
func TestHopsAreApart(t *testing.T) {
	seen := map[string]string{}
	taken := func(what string, e end) {
		t.Helper()
		for _, name := range []string{e.v4.Addr().String(), e.v6.Addr().String()} {
			if was, twice := seen[name]; twice {
				t.Errorf("%s and %s both have %s", was, what, name)
			}
			seen[name] = what
		}
	}
	for what, e := range map[string]end{"generator": genPort, "ingress": ingress, "egress": egress, "sink": sinkPort} {
		taken(what, e)
	}
	macs := map[string]bool{}
	for i := range 16 {
		up, down := hopEnds(i)
		if up.v4.Masked() != down.v4.Masked() || up.v6.Masked() != down.v6.Masked() {
			t.Errorf("wire %d: %s and %s are no neighbours", i, up.v4, down.v4)
		}
		for what, e := range map[string]end{"up": up, "down": down, "beyond up": beyond(up), "beyond down": beyond(down)} {
			taken(what+" of a hop", e)
			if e.v6.Masked() == genPort.v6.Masked() || e.v6.Masked() == sinkPort.v6.Masked() || netip.MustParsePrefix("198.19.0.0/16").Contains(e.v4.Addr()) {
				t.Errorf("wire %d: %s and %s are of the workload's networks", i, e.v4, e.v6)
			}
		}
		for _, m := range []string{up.mac.String(), down.mac.String()} {
			if macs[m] {
				t.Errorf("%s twice", m)
			}
			macs[m] = true
		}
		if b := beyond(up); up.v4.Contains(b.v4.Addr()) || up.v6.Contains(b.v6.Addr()) {
			t.Errorf("wire %d reaches what lies beyond it", i)
		}
	}
}

// TestLabNames: what may be a part of the names of namespaces.
func TestLabNames(t *testing.T) {
	for name, ok := range map[string]bool{"lab": true, "a1": true, strings.Repeat("a", 16): true, strings.Repeat("a", 17): false, "": false, "1a": false, "A": false, "a-b": false, "../a": false, "a b": false, "ä": false} {
		if err := checkName(name); (err == nil) != ok || err != nil && hint.Of(err) == "" {
			t.Errorf("%q: %v", name, err)
		}
	}
	if got := (Lab{Name: "x"}).Namespaces(); strings.Join(got, " ") != "x-gen x-dut x-sink" {
		t.Errorf("%v", got)
	}
}

// TestAlive: a process is one by its number and its start; another that has its number is not it.
func TestAlive(t *testing.T) {
	me := startTime(os.Getpid())
	if me == "" || !alive(os.Getpid(), me) || alive(os.Getpid(), me+"0") || alive(os.Getpid(), "") || alive(1<<30, me) {
		t.Errorf("started at %q", me)
	}
}

// TestLinkBy: a link is made by as little as does what is asked.
func TestLinkBy(t *testing.T) {
	for _, kernel := range []struct{ tbf, netem bool }{{true, true}, {false, false}} {
		probed.Store(byTBF, kernel.tbf)
		probed.Store(byNetem, kernel.netem)
		for _, c := range []struct {
			link    testbed.Link
			with    string
			without string
		}{
			{testbed.Link{}, byVeth, byVeth},
			{testbed.Link{Rate: 1e9}, byTBF, How},
			{testbed.Link{Delay: time.Millisecond}, byNetem, How},
			{testbed.Link{Loss: 0.01}, byNetem, How},
			{testbed.Link{Rate: 1e9, Delay: time.Millisecond}, How, How},
			{testbed.Link{Rate: 1e9, Loss: 0.01}, How, How},
		} {
			want := c.without
			if kernel.tbf {
				want = c.with
			}
			if got := linkBy(c.link); got != want {
				t.Errorf("%s by %+v: %s, want %s", c.link, kernel, got, want)
			}
		}
	}
	probed.Delete(byTBF)
	probed.Delete(byNetem)
}

// TestQdiscs: a link's rate, delay and loss in the units of the kernel's disciplines.
func TestQdiscs(t *testing.T) {
	q := tbf(7, testbed.Link{Rate: 1e9, Delay: 10 * time.Millisecond}).(*netlink.Tbf)
	if q.Rate != 125_000_000 || q.LinkIndex != 7 || q.Limit != 2_500_000+250_000 || q.Buffer != netlink.Xmittime(125_000_000, 250_000) {
		t.Errorf("%+v", q)
	}
	if q := tbf(7, testbed.Link{Rate: 1e6}).(*netlink.Tbf); q.Buffer != netlink.Xmittime(125_000, 68_000) || q.Limit != 150_000+68_000 {
		t.Errorf("a slow one has no room for a segmented packet: %+v", q)
	}
	l := testbed.Link{Delay: 40 * time.Millisecond, Jitter: 2 * time.Millisecond, Loss: 0.005}
	want := netlink.NewNetem(netlink.QdiscAttrs{LinkIndex: 7, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT}, netlink.NetemQdiscAttrs{Latency: 40_000, Jitter: 2000, Loss: 0.5, Limit: netemLimit})
	if got := netem(7, l).(*netlink.Netem); got.Latency != want.Latency || got.Jitter != want.Jitter || got.Loss != want.Loss || got.Limit != netemLimit || got.Latency == 0 {
		t.Errorf("%+v, want %+v", got, want)
	}
}
