package appliance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"linerate/internal/fact"
	"linerate/internal/fact/release"
)

const opnsenseConfig = `<?xml version="1.0"?>
<opnsense>
  <system>
    <hostname>fw1</hostname>
    <maximumstates>400000</maximumstates>
    <adaptivestart>10</adaptivestart>
    <disablelargereceiveoffloading>1</disablelargereceiveoffloading>
  </system>
  <sysctl version="1.0.2">
    <item uuid="0f1e2d3c-0000-4000-8000-000000000000">
      <tunable>net.inet.tcp.tso</tunable>
      <value>0</value>
    </item>
    <item><tunable>kern.ipc.maxsockbuf</tunable><value>default</value></item>
    <item><tunable>net.inet.ip.redirect</tunable><value>0</value></item>
    <item><tunable>hw.ibrs_disable</tunable><value/></item>
  </sysctl>
  <interfaces>
    <wan><if>igb0</if><ipaddr>pppoe</ipaddr><mtu>1492</mtu></wan>
    <lan><if>igb1</if><ipaddr>198.18.0.1</ipaddr><hw_settings_overwrite>1</hw_settings_overwrite></lan>
    <opt1><if>igb1_vlan10</if></opt1>
  </interfaces>
  <nat><outbound><mode>disabled</mode></outbound></nat>
</opnsense>`

// said returns a configuration's user-set lines in short form.
func said(c Config) []string {
	var all []string
	for _, l := range c.Lines {
		if !l.Default {
			all = append(all, fmt.Sprintf("%d %s %s=%s at %s", l.Number, l.Stage, l.Name, l.Value, l.Place))
		}
	}
	return all
}

func product(t *testing.T, name string) *Product {
	t.Helper()
	p := Named(name)
	if p == nil {
		_, err := Products()
		t.Fatalf("no record of %s: %v", name, err)
	}
	return p
}

func read(t *testing.T, name, path, text string) Config {
	t.Helper()
	return product(t, name).Read([]File{{path, text}})
}

func same(t *testing.T, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

func TestOPNsense(t *testing.T) {
	c := read(t, "opnsense", "/conf/config.xml", opnsenseConfig)
	var tunables []string
	for _, l := range said(c) {
		if strings.Contains(l, "tunables") {
			tunables = append(tunables, l)
		}
	}
	same(t, tunables, []string{"11 tunables net.inet.tcp.tso=0 at System ▸ Settings ▸ Tunables: net.inet.tcp.tso"})
	for _, want := range []string{"5 field system/maximumstates=400000 at Firewall ▸ Settings ▸ Advanced: Firewall Maximum States",
		"7 field system/disablelargereceiveoffloading=1 at Interfaces ▸ Settings: Hardware LRO"} {
		if !strings.Contains(strings.Join(said(c), "\n"), want) {
			t.Errorf("no %q in %v", want, said(c))
		}
	}
	if c.Hostname != "fw1" || len(c.PF.Timeouts) != 0 || c.PF.Translations != 0 || !c.PF.Configured {
		t.Errorf("host %s, pf %+v: half of adaptive timeouts is none, and NAT is off", c.Hostname, c.PF)
	}
	same(t, c.PF.FileLimits, []fact.Limit{{Name: "states", Value: 400000, File: "/conf/config.xml", Line: 5, Text: "system/maximumstates: 400000", Place: "Firewall ▸ Settings ▸ Advanced: Firewall Maximum States"}})
	var nics []string
	for _, n := range c.NICs {
		nics = append(nics, strings.TrimSpace(fmt.Sprint(n.Name, " ", n.Kind, " ", n.MTU, " ", strings.Join(n.ConfigFlags, " "))))
	}
	same(t, nics, []string{"igb0 tunnel 1492", "igb1 ethernet 0 lro", "igb1_vlan10 vlan 0"})
}

// TestOwnDefaults: a product's own defaults do not count as the user's lines, in the configuration or outside.
func TestOwnDefaults(t *testing.T) {
	c := read(t, "opnsense", "/conf/config.xml", opnsenseConfig)
	own := map[string]string{}
	for _, l := range c.Lines {
		if l.Default {
			own[l.Name] = l.Value
		}
	}
	for name, want := range map[string]string{"net.inet.ip.forwarding": "1", "kern.ipc.maxsockbuf": "4262144", "net.inet.ip.redirect": "0", "net.inet.tcp.tso": "1"} {
		if own[name] != want {
			t.Errorf("%s: %q, want %q", name, own[name], want)
		}
	}
}

func TestPfSense(t *testing.T) {
	c := read(t, "pfsense", "/conf/config.xml", `<pfsense><version>21.7</version><system><udpmultipletimeout>900</udpmultipletimeout>
<disablesegmentationoffloading/></system><sysctl><item><tunable>hw.igb.rxd</tunable><value>4096</value></item></sysctl>
<interfaces><wan><if>vtnet0</if></wan></interfaces></pfsense>`)
	if c.Version != "2.5.2" {
		t.Errorf("version %q", c.Version)
	}
	same(t, c.PF.Timeouts, []fact.Limit{{Name: "udp.multiple", Value: 900, File: "/conf/config.xml", Line: 1, Text: "system/udpmultipletimeout: 900"}})
	if flags := strings.Join(c.NICs[0].ConfigFlags, " "); flags != "-rxcsum -txcsum -rxcsum6 -txcsum6 -tso lro" {
		t.Errorf("vtnet's flags: %s", flags)
	}
	if s := said(c); s[0] != "2 sysctl hw.igb.rxd=4096 at System ▸ Advanced ▸ System Tunables: hw.igb.rxd" {
		t.Errorf("%v", s)
	}
}

// TestVyOSCutShort: a file that ends too early is not treated as a shorter configuration.
func TestVyOSCutShort(t *testing.T) {
	for text, want := range map[string]int{
		"system {\n    host-name r1\n}\n":                       0,
		"set system host-name r1\n":                             0,
		"system {\n    ntp { }\n}\n// Warning: do not remove\n": 0,
		"system {\n    host-name r1\n":                          1,
		"system {\n    sysctl {\n}\n":                           1,
		"/* Release version: 1.4.0\nsystem {\n":                 1,
	} {
		c := read(t, "vyos", "/config/config.boot", text)
		if len(c.Problems) != want || want > 0 && c.Problems[0].Kind != fact.ProblemSyntax {
			t.Errorf("%q: %+v", text, c.Problems)
		}
	}
}

func TestVyOS(t *testing.T) {
	want := []string{"sysctl net.core.rmem_max=8388608 at set system sysctl parameter net.core.rmem_max", "modprobe module.nf_conntrack.hashsize=65536 at set system conntrack hash-size", "sysctl net.netfilter.nf_conntrack_buckets=65536 at set system conntrack hash-size",
		"sysctl net.netfilter.nf_conntrack_max=524288 at set system conntrack table-size", "field system/option/performance=throughput at set system option performance",
		"cmdline cmdline.mitigations=off at set system option kernel disable-mitigations", "sysctl net.ipv4.tcp_rfc1337=1 at set firewall global-options twa-hazards-protection", "field firewall=yes at set firewall"}
	for _, text := range []string{`
interfaces {
    ethernet eth0 {
        address dhcp
        mtu 9000
        offload {
            gro
            tso
        }
    }
}
system {
    host-name r1
    sysctl {
        parameter net.core.rmem_max {
            value "8388608"
        }
    }
    conntrack {
        hash-size 65536
        table-size 524288
    }
    option {
        performance throughput
        kernel {
            disable-mitigations
        }
    }
}
firewall {
    global-options {
        twa-hazards-protection enable
    }
}
/* === vyatta-config-version:
   "x@1" === */
// Release version: 1.4.1
`, `set interfaces ethernet eth0 address 'dhcp'
set interfaces ethernet eth0 mtu '9000'
set interfaces ethernet eth0 offload gro
set interfaces ethernet eth0 offload tso
set system host-name 'r1'
set system sysctl parameter net.core.rmem_max value '8388608'
set system conntrack hash-size '65536'
set system conntrack table-size '524288'
set system option performance 'throughput'
set system option kernel disable-mitigations
set firewall global-options twa-hazards-protection 'enable'
// Release version: 1.4.1
`} {
		c := read(t, "vyos", "/config/config.boot", text)
		var got []string
		for _, l := range said(c) {
			_, l, _ = strings.Cut(l, " ")
			got = append(got, l)
		}
		same(t, got, want)
		if c.Version != "1.4.1" || c.Hostname != "r1" || len(c.NICs) != 1 || c.NICs[0].MTU != 9000 || len(c.NICs[0].ConfigFlags) != 2 {
			t.Errorf("%s %s %+v", c.Version, c.Hostname, c.NICs)
		}
	}
}

// TestVyOSNodes: a node has one tunable, under each of its past names, and its words map to the kernel's numbers
// and back.
func TestVyOSNodes(t *testing.T) {
	p := product(t, "vyos")
	for text, want := range map[string]string{
		"set system conntrack timeout tcp established 7440":                   "net.netfilter.nf_conntrack_tcp_timeout_established=7440",
		"set firewall global-options timeout tcp established '7440'":          "net.netfilter.nf_conntrack_tcp_timeout_established=7440",
		"set firewall all-ping disable":                                       "net.ipv4.icmp_echo_ignore_all=1",
		"set firewall global-options ipv6-src-route enable":                   "net.ipv6.conf.all.accept_source_route=0",
		"set firewall global-options ipv6-src-route disable":                  "", // as it is without
		"set system conntrack tcp loose disable":                              "net.netfilter.nf_conntrack_tcp_loose=0",
		"set firewall global-options syn-cookies perhaps":                     "",
		"set system conntrack timeout custom rule 10 protocol tcp close '60'": "",
	} {
		got := ""
		for _, l := range read(t, "vyos", "/config/config.boot", text).Lines {
			if !l.Default && l.Stage == fact.Sysctl {
				got += l.Name + "=" + l.Value
			}
		}
		same(t, got, want)
	}
	n, ok := p.NodeOf("net.netfilter.nf_conntrack_tcp_timeout_established")
	if !ok || n.In(p, "1.4.1") != "system conntrack timeout tcp established" || n.In(p, "1.5-rolling-202410") != n.Node || n.In(p, "") != n.Node || n.Word("7440") != "7440" {
		t.Errorf("%+v", n)
	}
	if n, _ := p.NodeOf("net.ipv4.icmp_echo_ignore_all"); n.Word("1") != "disable" || n.Word("2") != "" || n.Value("enable") != "0" {
		t.Errorf("%+v", n)
	}
	if _, ok := p.NodeOf("net.core.somaxconn"); ok {
		t.Error("no node has somaxconn")
	}
}

func TestOpenWrt(t *testing.T) {
	c := product(t, "openwrt").Read([]File{
		{"/etc/config/network", "config globals 'globals'\n\toption packet_steering '1'\nconfig device\n\toption name 'br-lan'\n\toption type 'bridge'\n\tlist ports 'lan1'\nconfig interface 'wan'\n\toption device 'eth1'\n\toption proto 'dhcp'\n"},
		{"/etc/config/firewall", "config defaults\n\toption tcp_ecn 1\n\toption flow_offloading \"1\"\nconfig zone\n\toption name wan\n"},
		{"/etc/config/irqbalance", "config irqbalance 'irqbalance'\n\toption enabled '1'\n"},
	})
	same(t, said(c), []string{
		"2 field network/globals/packet_steering=1 at Network ▸ Interfaces ▸ Global network options: Packet Steering (uci network.globals.packet_steering)",
		"2 sysctl net.ipv4.tcp_ecn=1 at uci firewall.@defaults[0].tcp_ecn",
		"3 field firewall/defaults/flow_offloading=1 at Network ▸ Firewall: Software flow offloading (uci firewall.@defaults[0].flow_offloading)",
		"2 field irqbalance/irqbalance/enabled=1 at uci irqbalance (uci irqbalance.irqbalance.enabled)",
	})
	if len(c.NICs) != 3 || c.NICs[0].Kind != fact.KindBridge || len(c.Services) != 1 {
		t.Errorf("%+v %+v", c.NICs, c.Services)
	}
}

func TestTrueNAS(t *testing.T) {
	c := read(t, "truenas-core", "/data/freenas-v1.db", "net.inet.tcp.tso\t0\tSYSCTL\t1\nvfs.zfs.arc_max\t17179869184\tloader\t1\nsshd_flags\t-4\trc\t1\nkern.x\t1\tsysctl\t0\nodd\n")
	same(t, said(c), []string{"1 sysctl net.inet.tcp.tso=0 at System ▸ Tunables: net.inet.tcp.tso", "2 loader vfs.zfs.arc_max=17179869184 at System ▸ Tunables: vfs.zfs.arc_max", "3 rc sshd_flags=-4 at System ▸ Tunables: sshd_flags"})
}

// TestHostileXML: XML that no configuration contains ends the reading, with its place.
func TestHostileXML(t *testing.T) {
	for what, c := range map[string]struct{ text, want string }{
		"entities":    {`<!DOCTYPE a [<!ENTITY a "1"><!ENTITY b "&a;&a;&a;&a;">]><opnsense><sysctl><item><tunable>net.inet.tcp.tso</tunable><value>&b;</value></item></sysctl></opnsense>`, "document type"},
		"external":    {`<!DOCTYPE a SYSTEM "file:///etc/passwd"><opnsense/>`, "document type"},
		"depth":       {`<opnsense>` + strings.Repeat("<a>", 100_000), "nested more than"},
		"an open end": {`<opnsense><system><hostname>fw1</hostname><sysctl`, "unexpected EOF"},
		"no XML":      {"\x00\x01\x02<opnsense>", "illegal character"},
	} {
		got := read(t, "opnsense", "/conf/config.xml", c.text)
		if len(got.Problems) != 1 || !strings.Contains(got.Problems[0].Message, c.want) {
			t.Errorf("%s: %+v", what, got.Problems)
		}
		for _, l := range got.Lines {
			if !l.Default && l.Stage == fact.Tunables {
				t.Errorf("%s: %+v", what, l)
			}
		}
	}
}

func TestRecognise(t *testing.T) {
	for _, c := range []struct{ name, text, os, want string }{
		{"config-fw1-20250101.xml", opnsenseConfig, "", "opnsense /conf/config.xml"},
		{"-", opnsenseConfig, "", "opnsense /conf/config.xml"},
		{"x", "<pfsense>\n", "", "pfsense /conf/config.xml"},
		{"config.xml", "<widget id=\"x\"></widget>", "", ""},
		{"config.boot", "system {\n}\n", "", "vyos /config/config.boot"},
		{"-", "set system host-name a\nset interfaces ethernet eth0 mtu 1500\nset service ssh\n", "", "vyos /config/config.boot"},
		{"pf.conf", "set skip on lo0\nset limit states 1\nset block-policy drop\n", "", ""},
		{"etc/config/firewall", "config defaults\n\toption input ACCEPT\n", "", "openwrt /etc/config/firewall"},
		{"-", "config interface lan\n\toption proto static\nconfig globals\n", "", "openwrt /etc/config/network"},
		{"freenas-v1.db", "SQLite format 3\x00 … net.inet.tcp.tso", "", "truenas-core /data/freenas-v1.db"},
		{"x.db", "SQLite format 3\x00 … net.core.rmem_max", "", "truenas-scale /data/freenas-v1.db"},
		{"x.db", "SQLite format 3\x00 …", fact.FreeBSD, "truenas-core /data/freenas-v1.db"},
		{"sysctl.conf", "net.inet.tcp.tso=0\n", "", ""},
		{"config.boot", "system {\n}\n", fact.FreeBSD, ""},
	} {
		p, at, ok := Recognise(c.name, c.text, c.os)
		got := ""
		if ok {
			got = p.Name + " " + at
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestReleases(t *testing.T) {
	for _, c := range []struct{ product, version, base string }{
		{"opnsense", "25.1.12", "14.2"}, {"opnsense", "22.7_4", "13.1"}, {"pfsense", "2.4.4-p1", "11.2"}, {"pfsense", "2.7.1", "14.0"},
		{"vyos", "1.4-rolling-202309", "6.6"}, {"openwrt", "23.05.5", "5.15"}, {"truenas-core", "13.0-U6.1", "13.1"}, {"truenas-scale", "24.10.2", "6.6"},
	} {
		r, ok := product(t, c.product).ReleaseOf(c.version)
		if !ok || r.BaseRelease().Compare(release.MustParse(c.base)) != 0 {
			t.Errorf("%s %s: %+v", c.product, c.version, r)
		}
	}
	for _, c := range []struct {
		product, release string
		speaks           bool
		as               string
	}{
		{"opnsense", "25.1", true, ""}, {"opnsense", "14.2", false, ""}, {"opnsense", "14.4", false, ""}, {"opnsense", "27.1", true, "26.7"}, {"opnsense", "26.8", true, "26.7"}, {"opnsense", "16.0", false, ""},
		{"pfsense", "2.9.0", true, "2.8.0"}, {"pfsense", "25.11", true, "24"}, {"pfsense", "13.1", false, ""}, {"vyos", "1.6", true, "1.5"}, {"vyos", "6.12", false, ""}, {"vyos", "1.1", true, "1.2"},
		{"openwrt", "26.12", true, "25.12"}, {"truenas-scale", "27.0", true, "26.0"}, {"truenas-core", "13.4", false, ""}, {"proxmox", "6.17", false, ""}, {"proxmox", "9.2", true, ""}, {"proxmox", "10.0", true, "9.1"},
	} {
		p := product(t, c.product)
		r, near, _ := p.Judged(c.release)
		if speaks := p.Speaks(release.MustParse(c.release)); speaks != c.speaks || speaks && (near != (c.as != "") || near && r.Release != c.as) {
			t.Errorf("%s %s: speaks %v, judged as %s (near %v)", c.product, c.release, speaks, r.Release, near)
		}
	}
	p := product(t, "pfsense")
	for number, want := range map[string]string{"23.3": "2.7.2", "24.5": "2.8.0 near", "18.2": "2.4.3 near", "14.0": "", "": "", "x": ""} {
		r, near, ok := p.ReleaseByConfig(number)
		if near && ok {
			r.Release += " near"
		}
		if r.Release != want {
			t.Errorf("%s: %s", number, r.Release)
		}
	}
}

func TestSpeaks(t *testing.T) {
	p := product(t, "opnsense")
	for _, c := range []struct{ fix, place, want string }{
		{"Remove the line.", "System ▸ Settings ▸ Tunables: a.b", "Delete a.b in System ▸ Settings ▸ Tunables and press Apply."},
		{"Remove the line, or set it in /boot/loader.conf.local.", "System ▸ Settings ▸ Tunables: a.b", "Delete a.b in System ▸ Settings ▸ Tunables and press Apply, or set it in System ▸ Settings ▸ Tunables."},
		{"Set it to 5.", "Firewall ▸ Settings ▸ Advanced: Firewall Maximum States", "Firewall ▸ Settings ▸ Advanced: Set it to 5."},
		{"Remove the line.", "Firewall ▸ Settings ▸ Advanced: Firewall Maximum States", "Clear Firewall ▸ Settings ▸ Advanced: Firewall Maximum States."},
	} {
		if got := p.FixAt(c.fix, c.place, "a.b"); got != c.want {
			t.Errorf("%q: %q", c.fix, got)
		}
	}
	v := product(t, "vyos")
	if got := v.FixAt("Remove the line.", "set firewall syn-cookies", "a.b"); got != "In configuration mode, delete firewall syn-cookies and commit." {
		t.Error(got)
	}
	if got := v.FixAt("Remove the line.", "set system sysctl parameter a.b", "a.b"); got != "In configuration mode, delete system sysctl parameter a.b and commit." {
		t.Errorf("%q", got)
	}
}

// FuzzRead: no text makes a reader panic, or return what facts cannot hold.
func FuzzRead(f *testing.F) {
	f.Add(uint8(0), opnsenseConfig)
	f.Add(uint8(1), "<pfsense><sysctl><item><tunable>a</tunable></item>")
	f.Add(uint8(2), "system { sysctl { parameter a.b { value 1 } }\nset interfaces ethernet eth0 offload\n")
	f.Add(uint8(3), "config\nconfig x\noption a\nlist b 'c\n")
	f.Add(uint8(4), "a\tb\tsysctl\t1\n")
	names := []string{"opnsense", "pfsense", "vyos", "openwrt", "truenas-core"}
	f.Fuzz(func(t *testing.T, n uint8, text string) {
		p := product(t, names[int(n)%len(names)])
		c := p.Read([]File{{p.Configs[0], text}})
		for _, l := range c.Lines {
			if l.Stage == "" || !l.Default && l.Number < 1 || !l.Default && l.Place == "" {
				t.Errorf("%+v", l)
			}
		}
		Recognise("x", text, "")
	})
}
