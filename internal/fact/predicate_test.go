package fact

import "testing"

// host returns facts with running values and lines of files by name; names with "_enable" are
// rc.conf's.
func host(os string, live, files map[string]string) *Facts {
	f := &Facts{OS: os}
	for n, v := range live {
		f.Settings = append(f.Settings, Tunable{Name: n, Namespace: Kernel, Live: &v})
	}
	var lines []Line
	for n, v := range files {
		m := Sysctl
		if len(n) > 7 && n[len(n)-7:] == "_enable" {
			m = RCConf
		}
		lines = append(lines, Line{File: "/etc/x", Number: 1, Name: n, Value: v, Stage: m, Effective: true})
	}
	f.AddLines(lines)
	f.Normalise()
	return f
}

type values = map[string]string

func TestForwards(t *testing.T) {
	for _, c := range []struct {
		name        string
		live, files values
		v4, v6      bool
	}{
		{"nothing known", nil, nil, false, false},
		{"rc.conf", nil, values{"gateway_enable": "YES"}, true, false},
		{"rc.conf, IPv6", nil, values{"ipv6_gateway_enable": "yes"}, false, true},
		{"sysctl.conf", nil, values{"net.inet.ip.forwarding": " 1"}, true, false},
		{"sysctl.conf with another number", nil, values{"net.inet6.ip6.forwarding": "0x1"}, false, true},
		{"the running value decides against files", values{"net.inet.ip.forwarding": "0", "net.inet6.ip6.forwarding": "0"}, values{"gateway_enable": "YES", "net.inet6.ip6.forwarding": "1"}, false, false},
		{"a kernel without IPv6", values{"net.inet.ip.forwarding": "0"}, values{"ipv6_gateway_enable": "YES"}, false, false},
		{"running", values{"net.inet.ip.forwarding": "1"}, values{"gateway_enable": "NO"}, true, false},
		{"Linux", values{"net.ipv4.ip_forward": "1", "net.ipv6.conf.all.forwarding": "0"}, nil, true, false},
		{"Linux, IPv6", values{"net.ipv4.ip_forward": "0", "net.ipv6.conf.all.forwarding": "1"}, nil, false, true},
		{"Linux, one interface", values{"net.ipv4.ip_forward": "0", "net.ipv4.conf.eth1.forwarding": "1"}, nil, true, false},
		{"Linux, the template only", values{"net.ipv4.ip_forward": "0", "net.ipv4.conf.default.forwarding": "1"}, nil, false, false},
		{"Linux, IPv6 of one interface", values{"net.ipv4.ip_forward": "0", "net.ipv6.conf.eth1.forwarding": "1"}, nil, false, false},
		{"Linux, files", nil, values{"net.ipv4.ip_forward": "1"}, true, false},
	} {
		f := host(FreeBSD, c.live, c.files)
		if f.ForwardsIPv4() != c.v4 || f.ForwardsIPv6() != c.v6 {
			t.Errorf("%s: %v, %v; want %v, %v", c.name, f.ForwardsIPv4(), f.ForwardsIPv6(), c.v4, c.v6)
		}
	}
}

// TestOften judges counters on a host that is up for a year.
func TestOften(t *testing.T) {
	for _, c := range []struct {
		name     string
		counters map[string]uint64
		often    string
		want     bool
	}{
		{"one in a year", map[string]uint64{"tcp.listen_overflows": 1, "tcp.connection_accepts": 90_000_000}, "tcp.listen_overflows", false},
		{"one an hour, of very many", map[string]uint64{"conntrack.drop": 9000, "ip.received": 1_000_000_000_000}, "conntrack.drop", false},
		{"many an hour, of many", map[string]uint64{"conntrack.drop": 9_000_000, "ip.received": 1_000_000_000_000}, "conntrack.drop", true},
		{"one in fifty, of few", map[string]uint64{"tcp.listen_overflows": 2000, "tcp.connection_accepts": 100_000}, "tcp.listen_overflows", true},
		{"an idle host", map[string]uint64{"tcp.listen_overflows": 9, "tcp.connection_accepts": 10}, "tcp.listen_overflows", false},
		{"traffic not known", map[string]uint64{"mbuf.denied.clusters": 9000}, "mbuf.denied.*", true},
		{"traffic not known, rare", map[string]uint64{"mbuf.denied.clusters": 90}, "mbuf.denied.*", false},
		{"an interface with a dot in its name", map[string]uint64{"nic.eth0.7.rx_missed": 9000, "nic.eth0.7.input_packets": 10_000_000_000}, "nic.eth0.7.rx_missed", false},
		{"the other way", map[string]uint64{"nic.ix0.output_drops": 9000, "nic.ix0.input_packets": 10_000_000_000, "nic.ix0.output_packets": 1000}, "nic.*.output_drops", true},
		{"each CPU by its own packets", map[string]uint64{"softnet.cpu1.dropped": 9000, "softnet.cpu1.processed": 100_000, "softnet.cpu0.processed": 1_000_000_000_000}, "softnet.*.dropped", true},
		{"both protocols", map[string]uint64{"ip.no_buffers": 9000, "ip.sent": 1, "ip.forwarded": 10_000_000_000}, "ip.no_buffers", false},
	} {
		f := &Facts{UptimeSeconds: 365 * 86400}
		for name, n := range c.counters {
			f.AddCounter(name, n, "x")
		}
		f.Normalise()
		if got := f.Often(c.often); got != c.want {
			t.Errorf("%s: often %v", c.name, got)
		}
	}
}

func TestFilters(t *testing.T) {
	yes, no, some, none := true, false, uint64(9), uint64(0)
	for _, c := range []struct {
		name            string
		fw              Firewall
		pf, ipfw, track bool
	}{
		{"none", Firewall{}, false, false, false},
		{"pf configured", Firewall{PF: &PF{Configured: true}}, true, false, false},
		{"pf disabled after boot", Firewall{PF: &PF{Configured: true, Enabled: &no}}, false, false, false},
		{"pf enabled by hand", Firewall{PF: &PF{Enabled: &yes}}, true, false, false},
		{"ipfw configured", Firewall{IPFW: &IPFW{Configured: true}}, false, true, false},
		{"ipfw in the kernel, no rules", Firewall{IPFW: &IPFW{Enabled: &yes}}, false, false, false},
		{"ipfw with rules", Firewall{IPFW: &IPFW{Enabled: &yes, Rules: 3}}, false, true, false},
		{"ipfw, rules not loaded yet", Firewall{IPFW: &IPFW{Enabled: &yes, Configured: true}}, false, true, false},
		{"nft without states", Firewall{NFT: &NFT{Rules: 3, Tracking: &no, Max: &some, Connections: &none}}, false, false, false},
		{"nft with states", Firewall{NFT: &NFT{Rules: 3, Tracking: &yes}}, false, false, true},
		{"connections without a rule", Firewall{NFT: &NFT{Tracking: &no, Connections: &some}}, false, false, true},
		{"rules not known, a limit", Firewall{NFT: &NFT{Max: &some}}, false, false, true},
	} {
		f := &Facts{Firewall: c.fw}
		if f.PFOn() != c.pf || f.IPFWOn() != c.ipfw || f.TracksConnections() != c.track {
			t.Errorf("%s: pf %v, ipfw %v, tracking %v", c.name, f.PFOn(), f.IPFWOn(), f.TracksConnections())
		}
		if want := c.fw.NFT != nil && c.fw.NFT.Rules > 0; f.NFTOn() != want {
			t.Errorf("%s: nft %v", c.name, f.NFTOn())
		}
	}
}

func TestHasModule(t *testing.T) {
	yes, no := true, false
	line := func(m Stage, value string) []Line { return []Line{{Stage: m, Value: value, Effective: true}} }
	for _, c := range []struct {
		name string
		m    Module
		want bool
	}{
		{"loaded", Module{Loaded: &yes}, true},
		{"not loaded", Module{Loaded: &no}, false},
		{"compiled in", Module{InKernel: true, Loaded: &no}, true},
		{"by the loader after a boot", Module{Loaded: &no, Lines: line(Loader, "yes")}, true},
		{"the loader with NO", Module{Lines: line(Loader, "NO")}, false},
		{"by rc.conf", Module{Lines: line(RCConf, "pf ipfw")}, true},
	} {
		c.m.Name = "m"
		if f := (&Facts{Modules: []Module{c.m}}); f.HasModule("m") != c.want {
			t.Errorf("%s: %v", c.name, !c.want)
		}
	}
	if (&Facts{}).HasModule("m") {
		t.Error("an unknown module is reported as loaded")
	}
}

func TestLinuxPredicates(t *testing.T) {
	yes, off := true, "0"
	for _, c := range []struct {
		name              string
		f                 *Facts
		bridge, container bool
	}{
		{"nothing", &Facts{}, false, false},
		{"br_netfilter's switch", host(Linux, values{"net.bridge.bridge-nf-call-iptables": "1"}, nil), true, false},
		{"switched off", host(Linux, values{"net.bridge.bridge-nf-call-iptables": "0", "net.bridge.bridge-nf-call-ip6tables": "0"}, nil), false, false},
		{"disabled, with its module", &Facts{Settings: []Tunable{{Name: "net.bridge.bridge-nf-call-iptables", Namespace: Kernel, Live: &off}}, Modules: []Module{{Name: "br_netfilter", Loaded: &yes}}}, false, false},
		{"IPv6 only", host(Linux, nil, values{"net.bridge.bridge-nf-call-iptables": "0", "net.bridge.bridge-nf-call-ip6tables": "1"}), true, false},
		{"the module, values unknown", &Facts{Modules: []Module{{Name: "br_netfilter", Loaded: &yes}}}, true, false},
		{"docker", &Facts{Services: []Service{{Name: "docker", Enabled: &yes}}}, false, true},
		{"its bridge", &Facts{NICs: []NIC{{Name: "docker0", Kind: KindBridge}}}, false, true},
		{"Calico's links", &Facts{NICs: []NIC{{Name: "cali1234", Kind: KindVirtual}}}, false, true},
	} {
		if c.f.FiltersBridges() != c.bridge || c.f.HostsContainers() != c.container {
			t.Errorf("%s: bridge %v, container %v", c.name, c.f.FiltersBridges(), c.f.HostsContainers())
		}
	}
}
