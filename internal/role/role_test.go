package role

import (
	"strings"
	"testing"

	"linerate/internal/fact"
)

func rc(lines ...string) func(*fact.Facts) {
	return func(f *fact.Facts) {
		var all []fact.Line
		for i, l := range lines {
			name, value, _ := strings.Cut(l, "=")
			m := fact.RCConf
			if strings.Contains(name, ".") {
				m = fact.Sysctl
			}
			all = append(all, fact.Line{File: "/etc/x", Number: i + 1, Name: name, Value: value, Stage: m, Order: i + 1, Effective: true})
		}
		f.AddLines(all)
	}
}

func service(name string) func(*fact.Facts) {
	yes := true
	return func(f *fact.Facts) { f.Services = append(f.Services, fact.Service{Name: name, Enabled: &yes}) }
}

func listen(port int, local bool) func(*fact.Facts) {
	return func(f *fact.Facts) { f.Listeners = append(f.Listeners, fact.Listener{Port: port, Local: local}) }
}

func live(name, value string) func(*fact.Facts) {
	return func(f *fact.Facts) {
		f.Settings = append(f.Settings, fact.Tunable{Name: name, Namespace: fact.Kernel, Live: &value})
	}
}

func translates(out string) func(*fact.Facts) {
	return func(f *fact.Facts) {
		f.Services = append(f.Services, fact.Service{Name: "router", Details: []fact.Line{{Name: "translates", Value: out}}})
	}
}

func TestOf(t *testing.T) {
	pf := func(f *fact.Facts) { f.Firewall.PF = &fact.PF{Configured: true, Rules: 3} }
	off := false
	pfOff := func(f *fact.Facts) { f.Firewall.PF = &fact.PF{Configured: true, Enabled: &off} }
	bridge := func(f *fact.Facts) {
		f.NICs = []fact.NIC{{Name: "em0", Kind: fact.KindEthernet}, {Name: "em1", Kind: fact.KindEthernet}, {Name: "bridge0", Kind: fact.KindBridge, Members: []string{"em0", "em1"}}}
	}
	fast := func(f *fact.Facts) { f.NICs = []fact.NIC{{Name: "mce0", Kind: fact.KindEthernet, SpeedBits: 100e9}} }
	for _, c := range []struct {
		name string
		with []func(*fact.Facts)
		want string
	}{
		{"nothing", nil, "endpoint"},
		{"gateway", []func(*fact.Facts){rc("gateway_enable=YES")}, "router"},
		{"sysctl.conf", []func(*fact.Facts){rc("net.inet.ip.forwarding=1")}, "router"},
		{"linux", []func(*fact.Facts){live("net.ipv4.ip_forward", "1")}, "router"},
		{"the running value decides", []func(*fact.Facts){live("net.inet.ip.forwarding", "0"), rc("gateway_enable=YES")}, "endpoint"},
		{"gateway with pf", []func(*fact.Facts){rc("gateway_enable=YES"), pf}, "firewall"},
		{"gateway with pf switched off", []func(*fact.Facts){rc("gateway_enable=YES"), pfOff}, "router"},
		{"pf alone is no firewall", []func(*fact.Facts){pf, service("nginx")}, "web"},
		{"nginx", []func(*fact.Facts){service("nginx"), listen(443, false)}, "web"},
		{"local only", []func(*fact.Facts){listen(25, true), listen(5432, true)}, "endpoint"},
		{"fast links", []func(*fact.Facts){service("nginx"), fast}, "cdn"},
		{"mail", []func(*fact.Facts){service("postfix"), service("dovecot"), listen(25, false), listen(993, false)}, "mail"},
		{"storage", []func(*fact.Facts){service("nfsd"), service("sshd")}, "storage"},
		{"bridge", []func(*fact.Facts){bridge}, "bridge"},
		{"a node of Kubernetes", []func(*fact.Facts){live("net.ipv4.ip_forward", "1"), service("kubelet"), service("nginx"), listen(443, false)}, "node"},
		{"pods of somebody else's kubelet", []func(*fact.Facts){live("net.ipv4.ip_forward", "1"), func(f *fact.Facts) { f.NICs = []fact.NIC{{Name: "cali0123", Kind: fact.KindEthernet}} }}, "node"},
		{"a router with containers", []func(*fact.Facts){live("net.ipv4.ip_forward", "1"), service("docker"), translates("wan0")}, "firewall"},
		{"containers alone", []func(*fact.Facts){live("net.ipv4.ip_forward", "1"), service("docker"), translates("docker0")}, "endpoint"},
		{"tunnels next to containers", []func(*fact.Facts){live("net.ipv4.ip_forward", "1"), service("docker"), service("wireguard"), translates("eth0")}, "endpoint"},
		{"bgp", []func(*fact.Facts){rc("gateway_enable=YES"), service("frr"), listen(179, false)}, "router"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fact.Facts{OS: fact.FreeBSD}
			for _, with := range c.with {
				with(f)
			}
			f.Normalise()
			g, err := Of(f)
			if err != nil {
				t.Fatal(err)
			}
			if g.Role != c.want || len(g.Reasons) == 0 {
				t.Errorf("%+v, want %s", g, c.want)
			}
		})
	}
}

func TestParseRefusesMistakes(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"roles: [{name: x, summary: y, evidence: [{when: nosuch, weight: 1, reason: z}]}]", "unknown name nosuch"},
		{"roles: [{name: x, summary: y, evidence: [{when: forwarding, reason: z}]}]", "weight"},
		{"roles: [{name: x, evidence: [{when: forwarding, weight: 1, reason: z}]}]", "summary"},
		{"roles: [{name: x, summary: y, evidence: [{when: ports, weight: 1, reason: z}]}]", "want true or false"},
		{"roles: [{nom: x}]", "unknown field"},
	} {
		if _, err := Parse([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		}
	}
	if err := Check("firewal"); err == nil {
		t.Error("an unknown role passes")
	}
	if err := Check("firewall"); err != nil {
		t.Error(err)
	}
}

func TestForwards(t *testing.T) {
	for name, want := range map[string]bool{"router": true, "node": true, "vpn": true, "web": false, "nosuch": false} {
		if Forwards(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
