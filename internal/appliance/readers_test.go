package appliance

import (
	"fmt"
	"strings"
	"testing"

	"linerate/internal/fact"
)

// TestDevicesOfOpenWrt: an MTU belongs to the device of its own section, whatever was named before, and a device
// that an interface also names is listed once.
func TestDevicesOfOpenWrt(t *testing.T) {
	c := read(t, "openwrt", "/etc/config/network", "config interface 'wan'\n\toption device 'eth0'\nconfig interface 'lan'\n\toption device 'br-lan'\n\nconfig device\n\toption name 'eth0'\n\toption mtu '1508'\n"+
		"config device\n\toption name 'br-lan'\n\tlist ports 'lan1'\n\tlist ports 'lan2'\n\toption mtu '9000'\nconfig device\n\toption mtu '1400'\n\toption name 'eth1.5'\nconfig device\n\toption name 'wg0'\nconfig interface 'old'\n\toption ifname 'eth7 @alias tun3'\n# option name 'no'\n\toption\n")
	var got []string
	for _, n := range c.NICs {
		got = append(got, fmt.Sprintf("%s %s %d", n.Name, n.Kind, n.MTU))
	}
	same(t, got, []string{"eth0 ethernet 1508", "br-lan bridge 9000", "lan1 ethernet 0", "lan2 ethernet 0", "eth1.5 vlan 1400", "wg0 tunnel 0", "eth7 ethernet 0", "tun3 tunnel 0"})
}

// TestUCIWords: quotes, comments and sections without names, as uci(1) counts them.
func TestUCIWords(t *testing.T) {
	var got []string
	for _, o := range parseUCI(File{"/etc/config/x", "option before 'section'\nconfig a\n\toption one 1\n\toption two \"2 3\"\t# four\nconfig 'a' named\n\tlist l 'x'\n\tlist l 'y'\nconfig a\n\toption three ''\n\toption short\n"}) {
		got = append(got, fmt.Sprintf("%d %s=%s", o.line, o.place(), o.value))
	}
	same(t, got, []string{"3 uci x.@a[0].one=1", "4 uci x.@a[0].two=2 3", "6 uci x.named.l=x", "7 uci x.named.l=y", "9 uci x.@a[2].three="})
}

// TestSenseFirewall: limits and timeouts of the pages, rules and translations as written,
// and adaptive timeouts both or none.
func TestSenseFirewall(t *testing.T) {
	config := func(system, rest string) *fact.PF {
		return read(t, "opnsense", "/conf/config.xml", "<opnsense><system>"+system+"</system>"+rest+"</opnsense>").PF
	}
	numbers := func(all []fact.Limit) string {
		var s []string
		for _, l := range all {
			s = append(s, fmt.Sprintf("%s=%d", l.Name, l.Value))
		}
		return strings.Join(s, " ")
	}
	pf := config("<maximumstates>5</maximumstates><maximumfrags>0</maximumfrags><maximumtableentries>many</maximumtableentries><adaptivestart>10</adaptivestart><adaptiveend>20</adaptiveend><srctrack>7</srctrack><optimization>aggressive</optimization>",
		"<filter><rule/><rule/></filter><nat><outbound><mode>automatic</mode><rule/></outbound><rule/><rule/><onetoone/></nat><OPNsense><Firewall><Filter><rules><rule uuid=\"1\"/></rules></Filter></Firewall></OPNsense>")
	same(t, numbers(pf.FileLimits), "states=5")
	same(t, numbers(pf.Timeouts), "adaptive.start=10 adaptive.end=20 src.track=7")
	if pf.Rules != 3 || pf.Translations != 5 || !pf.Configured || len(pf.Options) != 1 || pf.Options[0].Value != "aggressive" {
		t.Errorf("%+v", pf)
	}
	for system, want := range map[string]string{
		"<adaptivestart>10</adaptivestart>": "", "<adaptiveend>10</adaptiveend><srctrack>7</srctrack>": "src.track=7", "<adaptivestart>10</adaptivestart><adaptiveend></adaptiveend>": "", "<adaptivestart/><adaptiveend>9</adaptiveend>": "",
	} {
		same(t, numbers(config(system, "").Timeouts), want)
	}
	if off := config("<disablefilter/>", "<nat><outbound><mode>disabled</mode></outbound></nat>"); off.Configured || off.Translations != 0 || off.Rules != 0 {
		t.Errorf("%+v", off)
	}
}

// TestSenseInterfaces: addresses of both families, MSS, and names of VLANs.
func TestSenseInterfaces(t *testing.T) {
	c := read(t, "opnsense", "/conf/config.xml", `<opnsense><interfaces><wan><if>igb0</if><ipaddr>dhcp</ipaddr><ipaddrv6>dhcp6</ipaddrv6><mss>1452</mss></wan><lan><if>igb1</if><ipaddr>none</ipaddr><ipaddrv6>none</ipaddrv6></lan>
<opt1><if>igb0_vlan7</if><ipaddr/></opt1><opt2><if>pppoe0</if><ipaddr>pppoe</ipaddr></opt2><opt3><descr>empty</descr></opt3></interfaces></opnsense>`)
	var got []string
	for _, n := range c.NICs {
		got = append(got, fmt.Sprintf("%s %s %s %d %d", n.Name, n.Driver, n.Kind, n.IPv4, n.IPv6))
	}
	same(t, got, []string{"igb0 igb ethernet 1 1", "igb1 igb ethernet 0 0", "igb0_vlan7 vlan vlan 0 0", "pppoe0 pppoe tunnel 1 0"})
	found := false
	for _, l := range c.Lines {
		found = found || l.Name == "interfaces/mss" && l.Value == "1452" && l.Place == "Interfaces ▸ WAN: MSS"
	}
	if !found {
		t.Errorf("no MSS among %+v", said(c))
	}
}

// TestVyOSFirewallHasTheLastWord: the firewall's settings override the list of sysctls, unless a tuned profile
// makes the list apply again.
func TestVyOSFirewallHasTheLastWord(t *testing.T) {
	const list = "set system sysctl parameter net.ipv4.tcp_syncookies value 0\n"
	for _, c := range []struct{ name, text, want string }{
		{"the list alone", list, "0"},
		{"a firewall, with its own default", list + "set firewall ipv4 name x rule 1 action accept\n", "1"},
		{"a node of the firewall's", "set firewall global-options syn-cookies disable\nset system sysctl parameter net.ipv4.tcp_syncookies value 1\n", "0"},
		{"a profile of tuned", list + "set firewall ipv4 name x rule 1 action accept\nset system option performance throughput\n", "0"},
		{"the firewall alone", "set system sysctl all net.core.somaxconn value 9\nset firewall x\n", "1"},
	} {
		f := &fact.Facts{}
		f.AddLines(read(t, "vyos", "/config/config.boot", c.text).Lines)
		f.Normalise()
		if got, _ := f.Value("net.ipv4.tcp_syncookies"); got != c.want {
			t.Errorf("%s: %q stands, want %q", c.name, got, c.want)
		}
	}
}

// TestVyOSBlocks: braces, quotes, comments, and words that set the kernel's command line.
func TestVyOSBlocks(t *testing.T) {
	c := read(t, "vyos", "/config/config.boot", "/* a comment\nset system host-name no\n*/\n// Release version: 1.4.1\nsystem {\n    host-name 'edge 1'\n    option {\n        kernel {\n            disable-mitigations\n            disable-power-saving\n        }\n    }\n}\n}\ninterfaces {\n    ethernet eth0 {\n        mtu \"9000\"\n        address dhcp\n        offload {\n            gro\n        }\n        ring-buffer {\n            rx 4096\n        }\n    }\n    ethernet eth0.5 {\n        mtu 1\n    }\n}\nset interfaces ethernet eth1 offload-options tso off\nset interfaces ethernet eth1 offload gso disable\nset interfaces ethernet\nset\n# x\n")
	if c.Hostname != "edge 1" || c.Version != "1.4.1" || len(c.NICs) != 2 || len(c.Problems) > 0 {
		t.Errorf("%q %q %+v %+v", c.Hostname, c.Version, c.NICs, c.Problems)
	}
	eth0, eth1 := c.NICs[0], c.NICs[1]
	if eth0.MTU != 9000 || eth0.IPv4 != 1 || strings.Join(eth0.ConfigFlags, " ") != "generic-receive-offload" || len(eth0.Configured) != 4 || eth0.Configured[0].Place != "set interfaces ethernet eth0" || strings.Join(eth1.ConfigFlags, " ") != "-tso" {
		t.Errorf("%+v", c.NICs)
	}
	var lines []string
	for _, l := range c.Lines {
		if l.Stage == fact.CommandLine || l.Stage == fact.Conf {
			lines = append(lines, fmt.Sprintf("%d %s=%s", l.Number, l.Name, l.Value))
		}
	}
	same(t, lines, []string{"9 cmdline.mitigations=off", "10 cmdline.intel_idle.max_cstate=0", "10 cmdline.processor.max_cstate=1", "23 ethtool -G eth0 rx=4096"})
	deep := read(t, "vyos", "/config/config.boot", strings.Repeat("a {\n", maxDepth)+strings.Repeat("}\n", maxDepth))
	if len(deep.Problems) != 0 {
		t.Errorf("%d blocks: %+v", maxDepth, deep.Problems)
	}
	if deep := read(t, "vyos", "/config/config.boot", strings.Repeat("a {\n", maxDepth+1)); len(deep.Problems) != 1 || !strings.Contains(deep.Problems[0].Message, "read up to here only") {
		t.Errorf("%d blocks: %+v", maxDepth+1, deep.Problems)
	}
}

// TestLimitsByMemory: a product's own limit grows with memory, within its bounds, and never overrides the user's.
func TestLimitsByMemory(t *testing.T) {
	for _, c := range []struct {
		l            MemoryLimit
		memory, want uint64
	}{
		{MemoryLimit{EachMiB: 100}, 0, 0}, {MemoryLimit{EachMiB: 100}, 4 << 30, 409600}, {MemoryLimit{EachMiB: 100, Least: 10000}, 1 << 20, 10000}, {MemoryLimit{EachMiB: 100, Most: 5000}, 4 << 30, 5000}, {MemoryLimit{EachMiB: 100, Most: 5000}, 1 << 20, 100},
	} {
		if got := c.l.Limit(c.memory); got != c.want {
			t.Errorf("%+v of %d bytes: %d, want %d", c.l, c.memory, got, c.want)
		}
	}
	on := func(given []fact.Limit, memory uint64) *fact.Facts {
		f := &fact.Facts{Product: &fact.Product{Name: "opnsense"}, Memory: fact.Memory{Physical: memory}, Firewall: fact.Firewall{PF: &fact.PF{FileLimits: given}}}
		AddLimits(f)
		return f
	}
	if got := on(nil, 1<<30).Firewall.PF.FileLimits; len(got) != 2 || got[0].Name != "states" || got[0].Value != 102400 || !strings.Contains(got[0].Text, "OPNsense's own") {
		t.Errorf("%+v", got)
	}
	if got := on([]fact.Limit{{Name: "states", Value: 7}}, 1<<30).Firewall.PF.FileLimits; len(got) != 2 || got[0].Value != 7 || got[1].Name != "src-nodes" {
		t.Errorf("%+v", got)
	}
	if got := on(nil, 0).Firewall.PF.FileLimits; len(got) > 0 {
		t.Errorf("of unknown memory: %+v", got)
	}
	AddLimits(&fact.Facts{Product: &fact.Product{Name: "opnsense"}}) // without pf, and
	AddLimits(&fact.Facts{Firewall: fact.Firewall{PF: &fact.PF{}}})  // without a product
}

// TestPlaces: where a user sets a tunable on each product, in its words.
func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		product, name, version string
		loader                 bool
		want                   string
	}{
		{"opnsense", "net.inet.tcp.tso", "", false, "System ▸ Settings ▸ Tunables"}, {"opnsense", "hw.ix.rxd", "", true, "System ▸ Settings ▸ Tunables"},
		{"pfsense", "net.inet.tcp.tso", "", false, "System ▸ Advanced ▸ System Tunables"}, {"opnsense", "pf.conf:limit.nosuch", "", false, ""},
		{"vyos", "net.core.somaxconn", "", false, "set system sysctl parameter"}, {"vyos", "net.ipv4.tcp_syncookies", "1.3.2", false, "set firewall syn-cookies"}, {"vyos", "net.ipv4.tcp_syncookies", "1.4.0", false, "set firewall global-options syn-cookies"},
	} {
		got := product(t, c.product).PlaceOf(c.name, c.version, c.loader)
		if got != c.want {
			t.Errorf("%s %s %s: %q, want %q", c.product, c.version, c.name, got, c.want)
		}
	}
	if p := product(t, "pfsense"); p.PlaceOf("hw.ix.rxd", "", true) != p.Instead["/boot/loader.conf.local"] || p.Instead["/boot/loader.conf.local"] == "" {
		t.Errorf("pfSense's loader is at %q", p.PlaceOf("hw.ix.rxd", "", true))
	}
	if got := product(t, "opnsense").PlaceOf("pf.conf:limit.states", "", false); !strings.Contains(got, "▸") {
		t.Errorf("pf's limit is at %q", got)
	}
	p := product(t, "opnsense")
	for fix, want := range map[string]string{
		"": "", "Nothing to do.": "Nothing to do.", "Go to System ▸ X.": "Go to System ▸ X.", "Remove it.": "Delete a.b in System ▸ Settings ▸ Tunables and press Apply.", "Set it in /etc/sysctl.conf.": "System ▸ Settings ▸ Tunables: Set it in System ▸ Settings ▸ Tunables.",
	} {
		if got := p.FixAt(fix, "System ▸ Settings ▸ Tunables: a.b", "a.b"); got != want {
			t.Errorf("%q: %q, want %q", fix, got, want)
		}
	}
}
