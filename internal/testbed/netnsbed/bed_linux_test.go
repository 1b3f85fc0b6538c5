package netnsbed

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"linerate/internal/labtest"
	"linerate/internal/port"
	"linerate/internal/setting"
	"linerate/internal/testbed"
	"linerate/internal/testbed/bedtest"
)

func up(t testing.TB, o Options) *Bed {
	t.Helper()
	b, err := Up(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func TestConformance(t *testing.T) {
	labtest.Namespaces(t)
	for _, mode := range []testbed.Mode{testbed.Cost, testbed.Overload} {
		t.Run(string(mode), func(t *testing.T) {
			bedtest.Conform(t, bedtest.Suite{
				Up: func(t testing.TB) testbed.Bed { return up(t, Options{Mode: mode}) },
				Offer: func(t testing.TB, _ testbed.Bed, from, to port.Port, n int, inVain bool) int {
					return bedtest.Datagrams(t, from.IPv4.Addr(), to.IPv4.Addr(), [2]port.Place{from.In, to.In}, n, until(inVain))
				},
				Closed: setting.Setting{Mechanism: setting.Sysctl, Name: "net.ipv4.ip_forward", Value: "0"},
			})
		})
	}
}

// offer sends n UDP datagrams from the generator's to the receiver's address and returns how many arrive.
func offer(t testing.TB, b testbed.Bed, n int, v6 bool) int {
	t.Helper()
	g, r := b.DUT().Generator, b.DUT().Receiver
	from, to := g.IPv4.Addr(), r.IPv4.Addr()
	if v6 {
		from, to = g.IPv6.Addr(), r.IPv6.Addr()
	}
	return bedtest.Datagrams(t, from, to, [2]port.Place{g.In, r.In}, n, until(false))
}

// until returns how long to wait for packets: only a moment if none should arrive.
func until(inVain bool) time.Time {
	if inVain {
		return time.Now().Add(300 * time.Millisecond)
	}
	return time.Now().Add(labtest.Patience)
}

// offerInVain is offer where no packet should arrive.
func offerInVain(t testing.TB, b testbed.Bed, n int) int {
	t.Helper()
	g, r := b.DUT().Generator, b.DUT().Receiver
	return bedtest.Datagrams(t, g.IPv4.Addr(), r.IPv4.Addr(), [2]port.Place{g.In, r.In}, n, until(true))
}

func TestForwardsIPv6(t *testing.T) {
	labtest.Namespaces(t)
	if !haveIPv6() {
		labtest.Lacking(t, "this kernel has no IPv6")
	}
	b := up(t, Options{})
	if got := offer(t, b, 20, true); got != 20 {
		t.Errorf("%d of 20 IPv6 packets arrived", got)
	}
}

func TestTwoLabsAtOnce(t *testing.T) {
	labtest.Namespaces(t)
	a, b := up(t, Options{Mode: testbed.Overload}), up(t, Options{Mode: testbed.Overload})
	if offer(t, a, 5, false) != 5 || offer(t, b, 5, false) != 5 {
		t.Error("a lab stops forwarding when another is up")
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if offer(t, b, 5, false) != 5 {
		t.Error("a lab stops forwarding when another is closed")
	}
}

// TestNothingOutsideChanges compares snapshots of the host before, during and after.
func TestNothingOutsideChanges(t *testing.T) {
	labtest.Need(t)
	before := snapshot(t)
	b := up(t, Options{Mode: testbed.Overload})
	_, err := b.Reset(context.Background(), []setting.Setting{
		{Mechanism: setting.NFT, Rules: &setting.Rules{Linear: 300}},
		{Mechanism: setting.Sysctl, Name: "net.ipv4.ip_default_ttl", Value: "77"},
		{Mechanism: setting.Route, Name: "240.0.0.0/8", Value: "egress"},
		{Mechanism: setting.Link, Device: "ingress", Name: "mtu", Value: "1400"},
	})
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "during a lab", before, snapshot(t))
	thread := b.DUT().Thread
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	compare(t, "after a lab", before, snapshot(t))
	if _, left := napiThreads(ingress.Device)[thread]; left { // another lab may have its own
		t.Errorf("the NAPI thread of the DUT's ingress still exists: %d", thread)
	}
}

// snapshot returns every network sysctl, link, address, route and rule of this namespace, by name, except
// counters, which change by themselves, and what other packages' tests create at the same time.
func snapshot(t *testing.T) map[string]string {
	t.Helper()
	s := map[string]string{}
	filepath.WalkDir("/proc/sys/net", func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.Contains(p, "count") && !strings.Contains(p, "flush") && !strings.Contains(p, "/"+labtest.Prefix) {
			s[p] = readLine(p)
		}
		return nil
	})
	links, err := netlink.LinkList()
	if err != nil {
		t.Fatal(err)
	}
	// A route over an unknown link belongs to a link created meanwhile; if that is the lab's, the comparison
	// of links shows it.
	here := map[int]bool{0: true}
	for _, l := range links {
		a := l.Attrs()
		if !strings.HasPrefix(a.Name, labtest.Prefix) {
			s["link "+a.Name] = a.Flags.String() + " " + a.HardwareAddr.String()
			here[a.Index] = true
		}
	}
	for _, fam := range []int{netlink.FAMILY_V4, netlink.FAMILY_V6} {
		routes, err := netlink.RouteList(nil, fam)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range routes {
			if here[r.LinkIndex] {
				s["route "+r.String()] = ""
			}
		}
		rules, err := netlink.RuleList(fam)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rules {
			s["rule "+r.String()] = ""
		}
	}
	named, _ := filepath.Glob("/run/netns/*")
	for _, n := range named {
		if !strings.HasPrefix(filepath.Base(n), labtest.Prefix) {
			s["namespace "+n] = ""
		}
	}
	return s
}

func compare(t *testing.T, when string, before, now map[string]string) {
	t.Helper()
	for k, v := range before {
		if w, ok := now[k]; !ok || w != v {
			t.Errorf("%s: %s was %q, is %q", when, k, v, w)
		}
	}
	for k := range now {
		if _, ok := before[k]; !ok {
			t.Errorf("%s: %s appeared", when, k)
		}
	}
}

func TestSettingsApplyAndAreUndone(t *testing.T) {
	labtest.Program(t, "nft")
	labtest.Namespaces(t)
	ctx := context.Background()
	b := up(t, Options{})
	reset := func(s ...setting.Setting) {
		t.Helper()
		a, err := b.Reset(ctx, s)
		if err != nil {
			t.Fatal(err)
		}
		t.Log(a.Notes)
	}
	// A rule that drops the workload proves that rulesets take effect.
	reset(setting.Setting{Mechanism: setting.NFT, Rules: &setting.Rules{
		Text: "table ip t { chain f { type filter hook forward priority 0; udp dport 9 drop; }; }"}})
	if got := offerInVain(t, b, 5); got != 0 {
		t.Errorf("%d packets passed a rule that drops them", got)
	}
	reset()
	if got := offer(t, b, 5, false); got != 5 {
		t.Errorf("%d of 5 packets after the reset of a dropping rule", got)
	}
	for _, r := range []setting.Rules{{Linear: 1000}, {SetElements: 10000}, {Stateful: true}} {
		reset(setting.Setting{Mechanism: setting.NFT, Rules: &r})
		if got := offer(t, b, 5, false); got != 5 {
			t.Errorf("%d of 5 packets pass %s", got, r.String())
		}
	}
	reset(setting.Setting{Mechanism: setting.Route, Name: "198.19.0.0/17", Value: "blackhole"})
	if got := offerInVain(t, b, 5); got != 0 {
		t.Errorf("%d packets passed a blackhole", got)
	}
	reset(setting.Setting{Mechanism: setting.Command, Argv: []string{"true"}},
		setting.Setting{Mechanism: setting.NAPI, Device: "ingress", Name: "gro-flush-timeout", Value: "20000"},
		setting.Setting{Mechanism: setting.Link, Device: "egress", Name: "gso", Value: "off"})
}

func TestRulesetsHaveTheirSize(t *testing.T) {
	labtest.Namespaces(t)
	b := up(t, Options{})
	_, err := b.Reset(context.Background(), []setting.Setting{{Mechanism: setting.NFT, Rules: &setting.Rules{Linear: 777}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, fam := range []string{"ip", "ip6"} {
		if n := countRules(t, b, fam); n != 777 {
			t.Errorf("the %s table has %d rules, want 777", fam, n)
		}
	}
}

func TestWrongSettingsAreErrors(t *testing.T) {
	labtest.Program(t, "nft")
	labtest.Namespaces(t)
	b := up(t, Options{})
	for _, c := range []struct {
		s    setting.Setting
		want string
	}{
		{setting.Setting{Mechanism: setting.Sysctl, Name: "../../etc/passwd", Value: "x"}, "not valid"},
		{setting.Setting{Mechanism: setting.Sysctl, Name: "net.ipv4.ip_default_ttl", Value: "1000"}, "ip_default_ttl"},
		{setting.Setting{Mechanism: setting.NFT, Rules: &setting.Rules{Text: "tabel x"}}, "nft refused"},
		{setting.Setting{Mechanism: setting.Link, Device: "ingres", Name: "mtu", Value: "1400"}, "unknown device"},
		{setting.Setting{Mechanism: setting.Link, Device: "ingress", Name: "mtuu", Value: "1400"}, "unknown link property"},
		{setting.Setting{Mechanism: setting.NAPI, Device: "ingress", Name: "thread", Value: "1"}, "unknown NAPI setting"},
		{setting.Setting{Mechanism: setting.Command, Argv: []string{"false"}}, "failed"},
	} {
		_, err := b.Reset(context.Background(), []setting.Setting{c.s})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want one with %q", c.s, err, c.want)
		}
	}
}

// TestHostSettings: a kernel-wide sysctl is refused without permission, and restored after the trial and
// after a lab that died.
func TestHostSettings(t *testing.T) {
	labtest.Namespaces(t)
	const name, file = "net.core.netdev_budget", "/proc/sys/net/core/netdev_budget"
	before := readLine(file)
	s := []setting.Setting{{Mechanism: setting.Sysctl, Name: name, Value: "301"}}
	strict := up(t, Options{})
	var un *testbed.ErrUnavailable
	if _, err := strict.Reset(context.Background(), s); !errors.As(err, &un) {
		t.Fatalf("a host setting without leave: %v, want unavailable", err)
	}
	strict.Close()

	b := up(t, Options{AllowHostSettings: true})
	if _, err := b.Reset(context.Background(), s); err != nil {
		t.Fatal(err)
	}
	if got := readLine(file); got != "301" {
		t.Errorf("%s is %s during the trial, want 301", name, got)
	}
	if _, err := b.Reset(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	if got := readLine(file); got != before {
		t.Errorf("%s is %s after the reset, was %s", name, got, before)
	}
	// Simulate a crash with the setting in place: forget the lab without closing it.
	if _, err := b.Reset(context.Background(), s); err != nil {
		t.Fatal(err)
	}
	b.host.Forget()
	b.host = nil
	if err := Sweep(); err != nil {
		t.Fatal(err)
	}
	if got := readLine(file); got != before {
		t.Errorf("%s is %s after the next start, was %s", name, got, before)
	}
}
