package plan

import (
	"strings"
	"testing"

	"linerate/internal/fact"
	"linerate/internal/role"
	"linerate/internal/setting"
)

// planOf returns a plan without audit findings and evidence.
func planOf(t *testing.T, f *fact.Facts, role string, needs Needs) Plan {
	t.Helper()
	k, err := load()
	if err != nil {
		t.Fatal(err)
	}
	p, err := Make(Input{Facts: f, Catalogue: k.catalogue, Library: k.library, Role: role, Needs: needs, Unmeasured: true})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// valueOf returns the value that a plan sets a name to, "" if it does not.
func valueOf(p Plan, name string) string {
	for _, s := range p.Settings {
		if nameOf(s) == name {
			return s.Value
		}
	}
	return ""
}

func whyLeft(p Plan, name string) string {
	for _, l := range p.LeftAlone {
		if l.Name == name {
			return l.Reason
		}
	}
	return ""
}

// TestBounds: a window is at most 1 GiB, a buffer fits an int, the memory and the sum that all sockets may
// use; the unmet part of a need is reported.
func TestBounds(t *testing.T) {
	far := Needs{Link: 100e9, RTT: 0.2, ConnectionRate: 100e9}
	withMem := func(pages string) func(*fact.Facts) { return func(f *fact.Facts) { run(f, "net.ipv4.tcp_mem", pages) } }
	big := func(f *fact.Facts) { f.Memory.Physical = 512 << 30 }
	for name, c := range map[string]struct {
		facts *fact.Facts
		needs Needs
		set   string
		want  string
		unmet string
	}{
		"int on Linux":          {box(fact.Linux, "6.12", big, withMem("3000000 4000000 6000000")), far, "net.ipv4.tcp_rmem", "4096 131072 2147418112", "at most 1 GiB"},
		"tcp_mem on Linux":      {box(fact.Linux, "6.12", withMem("100 200 4096")), far, "net.ipv4.tcp_wmem", "4096 16384 16777216", "net.ipv4.tcp_mem"},
		"memory on Linux":       {box(fact.Linux, "6.12", withMem("9999999 9999999 9999999")), far, "net.ipv4.tcp_wmem", "4096 16384 858980352", "half of the memory"},
		"window on FreeBSD":     {box(fact.FreeBSD, "14.3", big), far, "net.inet.tcp.sendbuf_max", "1227161600", "RFC 7323"},
		"memory on FreeBSD":     {box(fact.FreeBSD, "14.3", small), far, "net.inet.tcp.recvbuf_max", "11862016", "half of the memory"},
		"many on FreeBSD":       {box(fact.FreeBSD, "14.3"), Needs{Link: 100e9, RTT: 0.1}, "net.inet.tcp.sendbuf_max", "14286848", ""},
		"many on Linux":         {box(fact.Linux, "6.12", withMem("9999999 9999999 9999999")), Needs{Link: 100e9, RTT: 0.1}, "net.ipv4.tcp_wmem", "4096 16384 25034752", ""},
		"room above the window": {box(fact.FreeBSD, "14.3"), Needs{Link: 1e9, RTT: 0.1}, "net.inet.tcp.sendbuf_max", "14286848", ""},
	} {
		p := planOf(t, c.facts, "cdn", c.needs)
		if got := valueOf(p, c.set); got != c.want {
			t.Errorf("%s: %s=%s, want %s (%s)", name, c.set, got, c.want, whyLeft(p, c.set))
		}
		if told := strings.Join(p.Unmet, "\n"); !strings.Contains(told, c.unmet) || (c.unmet == "") != (told == "") {
			t.Errorf("%s: not met: %q, want %q", name, told, c.unmet)
		}
	}
}

// TestNothingThatOnlyRises: a value that a running kernel can only raise cannot be reverted, so a plan sets
// it at boot.
func TestNothingThatOnlyRises(t *testing.T) {
	p := planOf(t, box(fact.FreeBSD, "14.0"), "web", Needs{Connections: 500e3})
	found := false
	for _, s := range p.Settings {
		if nameOf(s) == "kern.ipc.maxsockets" {
			found = true
			if s.Mechanism != setting.Loader || s.Where.Runtime {
				t.Errorf("%s: by %s, at run time: %v; want the loader alone", s.Name, s.Mechanism, s.Where.Runtime)
			}
		}
	}
	if !found {
		t.Errorf("kern.ipc.maxsockets is not set: %s", whyLeft(p, "kern.ipc.maxsockets"))
	}
}

// TestStatesBeyondTheKernel: a hash table that the kernel cannot allocate, or for more states than it can
// count, is never planned.
func TestStatesBeyondTheKernel(t *testing.T) {
	unknown := func(f *fact.Facts) { f.Memory = fact.Memory{} }
	p := planOf(t, box(fact.Linux, "6.12", unknown), "firewall", Needs{States: 1.5e9})
	if v := valueOf(p, "net.netfilter.nf_conntrack_buckets"); v != "134217728" {
		t.Errorf("nf_conntrack_buckets=%s, want the greatest power of two below 2 GiB", v)
	}
	p = planOf(t, box(fact.FreeBSD, "14.3", unknown, func(f *fact.Facts) {
		yes := true
		f.Firewall.PF = &fact.PF{Enabled: &yes, Configured: true, Rules: 20, File: "/etc/pf.conf"}
	}), "firewall", Needs{States: 4e9})
	if v := valueOf(p, "net.pf.states_hashsize"); v != "" {
		t.Errorf("net.pf.states_hashsize=%s for states that pf cannot count", v)
	}
}

// TestUnknownVector: a vector with an unknown number is never written.
func TestUnknownVector(t *testing.T) {
	f := box(fact.Linux, "6.12", func(f *fact.Facts) { f.Memory, f.Settings = fact.Memory{}, nil })
	p := planOf(t, f, "storage", Needs{Link: 10e9, RTT: 0.1})
	for _, name := range []string{"net.ipv4.tcp_wmem", "net.ipv4.tcp_rmem"} {
		if v := valueOf(p, name); v != "" || !strings.Contains(whyLeft(p, name), "not known here") {
			t.Errorf("%s=%q, left because %q", name, v, whyLeft(p, name))
		}
	}
}

// TestForwarding: forwarding is enabled per family where the host has addresses, and a tunnel's client does
// not become a router.
func TestForwarding(t *testing.T) {
	dual := func(f *fact.Facts) { f.NICs[0].IPv6, f.NICs[1].IPv6 = 1, 1 }
	for name, c := range map[string]struct {
		facts      *fact.Facts
		role       string
		four, six  string
		fourN, sxN string
	}{
		"Linux, dual stack":     {box(fact.Linux, "6.12", dual), "router", "1", "1", "net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"},
		"Linux, IPv6 only":      {box(fact.Linux, "6.12", only6), "router", "", "1", "net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"},
		"Linux, IPv4 only":      {box(fact.Linux, "6.12"), "firewall", "1", "", "net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"},
		"Linux, a tunnel's end": {box(fact.Linux, "6.12", dual), "vpn", "", "", "net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"},
		"FreeBSD, dual stack":   {box(fact.FreeBSD, "14.3", dual), "router", "YES", "YES", "gateway_enable", "ipv6_gateway_enable"},
		"FreeBSD, IPv6 only":    {box(fact.FreeBSD, "14.3", only6), "router", "", "YES", "gateway_enable", "ipv6_gateway_enable"},
	} {
		p := planOf(t, c.facts, c.role, Needs{})
		if four, six := valueOf(p, c.fourN), valueOf(p, c.sxN); four != c.four || six != c.six {
			t.Errorf("%s: IPv4 %q, IPv6 %q; want %q, %q", name, four, six, c.four, c.six)
		}
	}
}

// TestRolesOfHosts: forwarding for containers or a tunnel's client does not make a router, and a daemon
// that is not reachable makes no role.
func TestRolesOfHosts(t *testing.T) {
	daemon := func(name string) func(*fact.Facts) {
		return func(f *fact.Facts) {
			yes := true
			f.Services = append(f.Services, fact.Service{Name: name, Enabled: &yes})
			f.Listeners = append(f.Listeners, fact.Listener{Protocol: "tcp4", Port: 22}, fact.Listener{Protocol: "tcp4", Port: 25, Local: true})
		}
	}
	one := func(f *fact.Facts) { f.NICs = f.NICs[:1] }
	for want, f := range map[string]*fact.Facts{
		"web":      box(fact.Linux, "6.12", routes, docker, filters, serves),
		"endpoint": box(fact.Linux, "6.12", routes, docker, filters),
		"firewall": box(fact.Linux, "6.12", routes, filters, daemon("wireguard")),
		"vpn":      box(fact.Linux, "6.12", routes, filters, daemon("wireguard"), one),
		"router":   box(fact.Linux, "6.12", routes),
	} {
		if g, err := role.Of(f); err != nil || g.Role != want {
			t.Errorf("%v, %v: want %s", g, err, want)
		}
	}
	for _, name := range []string{"wireguard", "postfix", "nginx"} {
		if g, err := role.Of(box(fact.Linux, "6.12", daemon(name))); err != nil || g.Role != "endpoint" {
			t.Errorf("%s that is not reachable: %+v, %v", name, g, err)
		}
	}
}

// TestStatesWithoutAFilter: a need for states on a host that does not track any yet.
func TestStatesWithoutAFilter(t *testing.T) {
	p := planOf(t, box(fact.Linux, "6.12"), "firewall", Needs{States: 5e6})
	if v := valueOf(p, "net.netfilter.nf_conntrack_max"); v != "6291456" {
		t.Errorf("nf_conntrack_max=%s for 5 M flows", v)
	}
	p = planOf(t, box(fact.FreeBSD, "14.3", func(f *fact.Facts) {
		yes := true
		f.Modules = []fact.Module{{Name: "ipfw", Loaded: &yes}, {Name: "pf", Loaded: &yes}}
	}), "firewall", Needs{States: 1e6})
	if why := whyLeft(p, "pf.conf:limit.states"); !strings.Contains(why, `set limit states 2000000`) || !strings.Contains(why, "pf_enable=YES") {
		t.Errorf("pf and ipfw are not enabled: %q", why)
	}
}

// TestStateMemory: with NAT a state needs two keys, and conntrack's extensions.
func TestStateMemory(t *testing.T) {
	p := planOf(t, box(fact.FreeBSD, "14.3", filters), "firewall", Needs{States: 1e6})
	for _, s := range p.Settings {
		if nameOf(s) == "pf.conf:limit.states" && !strings.Contains(s.Formula, "two keys per state") {
			t.Errorf("a host that translates: %s", s.Formula)
		}
	}
	// 3 GiB hold 5 M entries of 256 bytes, but not of 384.
	p = planOf(t, box(fact.Linux, "6.12", filters, func(f *fact.Facts) { f.Memory.Physical = 3 << 30 }), "firewall", Needs{States: 5e6})
	if valueOf(p, "net.netfilter.nf_conntrack_max") != "" || len(p.Unmet) != 1 || !strings.Contains(p.Unmet[0], "more than half") {
		t.Errorf("unmet %q", p.Unmet)
	}
}

// TestWhichLineStands: a line that is not read at boot does not set the host's value.
func TestWhichLineStands(t *testing.T) {
	lines := func(effective bool) func(*fact.Facts) {
		return func(f *fact.Facts) {
			f.AddLines([]fact.Line{
				{File: "/etc/sysctl.d/10-router.conf", Number: 1, Name: "net.ipv4.ip_forward", Value: "0", Stage: fact.Sysctl, Order: 1, Effective: true},
				{File: "/etc/sysctl.conf", Number: 1, Name: "net.ipv4.ip_forward", Value: "1", Stage: fact.Sysctl, Order: 2, Effective: effective},
			})
		}
	}
	if p := planOf(t, box(fact.Linux, "6.12", lines(false)), "router", Needs{}); valueOf(p, "net.ipv4.ip_forward") != "1" {
		t.Errorf("a line that is not read at boot counts as set: %q", whyLeft(p, "net.ipv4.ip_forward"))
	}
	if p := planOf(t, box(fact.Linux, "6.12", lines(true)), "router", Needs{}); valueOf(p, "net.ipv4.ip_forward") != "" {
		t.Error("an effective line is set again")
	}
	// It forwards now, but the effective file disables that at the next boot.
	p := planOf(t, box(fact.Linux, "6.12", routes, lines(false)), "router", Needs{})
	if valueOf(p, "net.ipv4.ip_forward") != "1" {
		t.Error("forwarding that ends with the next boot is not made persistent")
	}
}

// TestCountersAsk: the plan answers to every counter that has moved.
func TestCountersAsk(t *testing.T) {
	p := planOf(t, box(fact.Linux, "6.12", loses), "router", Needs{})
	for name, want := range map[string]string{"ethtool -G ixgbe0 rx": "2048", "net.core.netdev_max_backlog": "4096", "net.ipv4.neigh.default.gc_thresh3": "8192",
		"net.core.rmem_max": "8388608", "/proc/irq/40/smp_affinity_list": "0-7", "/sys/devices/system/cpu/cpu3/cpufreq/scaling_governor": "performance", "ethtool -L ixgbe0 combined": "16"} {
		if got := valueOf(p, name); got != want {
			t.Errorf("%s=%q, want %s (%s)", name, got, want, whyLeft(p, name))
		}
	}
	for _, name := range []string{"ethtool -A ixgbe0", "/dev/cpu_dma_latency", "kernel: iommu=pt"} {
		if whyLeft(p, name) == "" {
			t.Errorf("the plan does not mention %s", name)
		}
	}
	quiet := planOf(t, box(fact.Linux, "6.12"), "router", Needs{})
	for _, name := range []string{"ethtool -G ixgbe0 rx", "net.core.netdev_max_backlog", "net.ipv4.neigh.default.gc_thresh3", "net.core.rmem_max"} {
		if got := valueOf(quiet, name); got != "" {
			t.Errorf("nothing is lost, but %s=%s is planned", name, got)
		}
	}
}
