package linux

import (
	"fmt"
	"slices"
	"testing"

	"linerate/internal/fact"
)

// TestListenersLocal: a listener on loopback is local: any address of 127/8, ::1, and either as an
// IPv4-mapped one.
func TestListenersLocal(t *testing.T) {
	head := "  sl  local_address rem_address   st tx_queue rx_queue\n"
	for address, want := range map[string]bool{
		"0100007F": true, "3500007F": true, "00000000": false, "0101A8C0": false, "7F000001": false,
		"00000000000000000000000001000000": true, "0000000000000000FFFF00000100007F": true, "0000000000000000FFFF00000101A8C0": false, "00000000000000000000000000000000": false,
	} {
		l := ParseListeners("tcp4", head+"   0: "+address+":0035 00000000:0000 0A 00000000:00000000 00:0\n")
		if len(l) != 1 || l[0].Port != 53 || l[0].Local != want {
			t.Errorf("%s: %+v, want local %v", address, l, want)
		}
	}
	row := func(state, port string) string {
		return "   0: 00000000:" + port + " 00000000:0000 " + state + " 0:0\n"
	}
	for _, c := range []struct {
		protocol, text string
		n              int
	}{
		{"udp", head + row("07", "0035"), 1}, {"udp6", head + row("0A", "0035"), 0}, {"tcp4", head + row("01", "0016"), 0}, {"tcp4", head + row("0A", "0016") + row("0A", "0016"), 1},
		{"tcp4", head + row("0A", "zzzz"), 0}, {"tcp4", head + row("0A", "12345"), 0}, {"tcp4", "", 0}, {"tcp4", "1: 2 3\n", 0},
	} {
		if l := ParseListeners(c.protocol, c.text); len(l) != c.n {
			t.Errorf("%s of %q: %+v", c.protocol, c.text, l)
		}
	}
}

// TestCPUs: CPU models under other keys, or without a name.
func TestCPUs(t *testing.T) {
	for _, c := range []struct {
		text, model              string
		count, cores, pkgs, each int
	}{
		{"", "", 0, 0, 0, 0},
		{"processor : 0\nBogoMIPS : 50.00\nFeatures : fp asimd crc32\nCPU implementer : 0x41\nCPU part : 0xd0c\n\nprocessor : 1\n", "ARM implementer 0x41 part 0xd0c", 2, 0, 0, 0},
		{"processor : 0\n\nModel : Raspberry Pi 4\n", "Raspberry Pi 4", 1, 0, 0, 0},
		{"processor : 0\nmodel name : EPYC\ncpu MHz : 3,1\nphysical id : 0\ncore id : 0\n", "EPYC", 1, 1, 1, 1},
	} {
		got := ParseCPUInfo(c.text)
		if got.Model != c.model || got.Count != c.count || got.Cores != c.cores || got.Packages != c.pkgs || got.ThreadsPerCore != c.each {
			t.Errorf("%q: %+v", c.text, got)
		}
	}
	if got := ParseCPUInfo("Features : asimd fp\n").Features; !slices.Equal(got, []string{"ASIMD", "FP"}) {
		t.Errorf("features %q", got)
	}
	for name, want := range map[string]bool{"cpu0": true, "cpu127": true, "cpu": false, "cpufreq": false, "cpu1a": false} {
		if IsCPU(name) != want {
			t.Errorf("%s is a CPU: %v", name, !want)
		}
	}
	for name, want := range map[string]int{"node0": 0, "node12": 12, "node": -1, "node-1": -1, "node1x": -1, "nodes": -1} {
		if got := NodeName(name); got != want {
			t.Errorf("%s is node %d, want %d", name, got, want)
		}
	}
}

func TestMemory(t *testing.T) {
	m := ParseMeminfo("MemTotal: 1024 kB\nMemAvailable: 512 kB\nSwapTotal: 9 kB\nHugePages_Total: 5\nMemFree: 99999999999999999999 kB\n")
	if m.Physical != 1<<20 || m.Swap != 9<<10 || m.Free != 0 {
		t.Errorf("%+v", m)
	}
	if got := ParseMeminfo("Node 0 MemFree: 3 kB\nNode 0 MemTotal:       2048 kB\n").Physical; got != 2<<20 {
		t.Errorf("a node of %d bytes", got)
	}
	if got := ParseMeminfo("nothing\n").Physical; got != 0 {
		t.Errorf("a node without MemTotal has %d bytes", got)
	}
}

// TestInterrupts: vectors as drivers name them, lines without an interrupt number, and more counts than
// CPUs.
func TestInterrupts(t *testing.T) {
	text := "            CPU0       CPU1\n" +
		"  9:          0          4   IO-APIC   9-fasteoi   acpi\n" +
		" 31:        100        300   PCI-MSI 524288-edge      virtio2-input.0\n" +
		" 40:          7              PCI-MSI 1-edge      mlx5_comp3@pci:0000:81:00.0\n" +
		"LOC:    1000000    1000000   Local timer interrupts\n" +
		"ERR:          0\nno label\n"
	got := ParseInterrupts(text, 100)
	want := []fact.Interrupt{
		{Name: "irq9: acpi", Total: 4, Device: "acpi"}, {Name: "irq31: virtio2-input.0", Total: 400, Rate: 4, Device: "virtio2", Queue: "input.0"},
		{Name: "irq40: mlx5_comp3@pci:0000:81:00.0", Total: 7, Device: "mlx5_comp3", Queue: "pci:0000:81:00.0"},
	}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i, w := range want {
		g := got[i]
		if g.Name != w.Name || g.Total != w.Total || g.Device != w.Device || g.Queue != w.Queue || w.Rate != 0 && g.Rate != w.Rate {
			t.Errorf("%+v, want %+v", g, w)
		}
	}
	if ParseInterrupts("", 1) != nil || len(ParseInterrupts(text, 0)) != 3 || ParseInterrupts(text, 0)[1].Rate != 0 {
		t.Error("there are rates without an uptime, or interrupts in an empty file")
	}
	for name, want := range map[string]int{"irq24: eth0": 24, "irq7": 7, "LOC": -1, "": -1} {
		if got := IRQ(name); got != want {
			t.Errorf("%q is interrupt %d", name, got)
		}
	}
}

func TestModulesAndMounts(t *testing.T) {
	mods := ParseModules("nf_conntrack 204800 3 nf_nat, Live 0x0\nshort\nveth 40960 0 - Live 0x0\n")
	if len(mods) != 2 || mods[0].Name != "nf_conntrack" || mods[1].Loaded == nil || !*mods[1].Loaded {
		t.Errorf("%+v", mods)
	}
	if got := ParseBuiltin("kernel/net/ipv4/tcp-cubic.ko\nkernel/fs/ext4.ko\n\n"); !slices.Equal(got, []string{"tcp_cubic", "ext4"}) {
		t.Errorf("%q", got)
	}
	m := ParseMounts("# comment\n/dev/sda1 / ext4 noatime,discard 0 1\nshort line\nproc /proc proc defaults 0 0\n")
	if len(m) != 2 || m[0].Type != "ext4" || m[1].Point != "/proc" {
		t.Errorf("%+v", m)
	}
}

// TestOddRulesets: sets, maps, handles, comments and nested braces are not rules.
func TestOddRulesets(t *testing.T) {
	for _, c := range []struct {
		text     string
		rules    int
		tracking bool
	}{
		{"", 0, false},
		{"table ip nat {\n\tchain post {\n\t\ttype nat hook postrouting priority srcnat; policy accept;\n\t\toifname \"eth0\" masquerade # handle 4\n\t}\n}\n", 1, true},
		{"table ip f {\n\tflowtable ft {\n\t\thook ingress priority 0\n\t\tdevices = { eth0 }\n\t}\n\tchain c {\n\t\tcomment \"x\"\n\t\t# nothing\n\t\tip protocol tcp flow add @ft\n\t\taccept\n\t}\n}\n", 2, true},
		{"table ip f {\n\tchain c {\n\t\tip saddr { 192.0.2.1,\n\t\t\t   192.0.2.2,\n\t\t\t   192.0.2.3 } accept\n\t\ttcp dport {\n\t\t\t22,\n\t\t\t80\n\t\t} accept\n\t\tip daddr vmap { 192.0.2.1 : drop,\n\t\t\t192.0.2.2 : jump { accept } }\n\t\tlog prefix \"a { b\" drop # {\n\t\tdrop\n\t}\n}\n", 5, false},
		{"table ip f {\n\tmap m {\n\t\ttype ipv4_addr : verdict\n\t}\n}\n", 0, false},
	} {
		if n, tracking := CountNFT(c.text); n != c.rules || tracking != c.tracking {
			t.Errorf("%q: %d rules, tracking %v", c.text, n, tracking)
		}
	}
}

// TestMoreCounters: neighbour tables, queue disciplines, IPv6, conntrack.
func TestMoreCounters(t *testing.T) {
	var f fact.Facts
	AddNeighbours(&f, "arp", "entries allocs res_failed unresolved_discards table_fulls\n0000000a 1 2 3 4\n0000000a 1 1 1 1 9 9\n")
	AddNeighbours(&f, "ndisc", "entries\n")
	AddQdiscs(&f, "qdisc mq 0: dev eth0 root\n Sent 1 bytes 999 pkt (dropped 999, overlimits 0 requeues 0)\n"+
		"qdisc fq_codel 0: dev eth0 parent :1 limit 10240p\n Sent 5000 bytes 50 pkt (dropped 5, overlimits 0 requeues 0)\n backlog 0b 0p requeues 0\n"+
		"qdisc fq_codel 0: dev eth0 parent :2 limit 10240p\n Sent 5000 bytes 7 pkt (dropped 2, overlimits 0 requeues 0)\nqdisc noqueue 0: dev lo root\n Sent 0 bytes 3 pkt (dropped 3, overlimits 0)\n")
	AddSNMP6(&f, "Ip6InReceives 12\nIp6Nothing 9\nIp6OutNoRoutes\nUdp6RcvbufErrors 4\n")
	AddSNMP(&f, "x", "Tcp: InSegs RetransSegs\nUdp: 1 2\nTcp: InSegs RetransSegs OutSegs\nTcp: 5 6\nodd\n")
	AddConntrack(&f, "entries\n")
	AddDriverCounters(&f, "eth0", "NIC statistics:\n     rx_missed_errors: 5\n     rx_no_dma_resources: 3\n     rx_out_of_buffer: 4\n     rx_pause_ctrl_phy: 2\n     rx_pause_ctrl_phy_x: 99\n     rx_bytes: 1\n     no number: x\n")
	f.Normalise()
	for name, want := range map[string]uint64{
		"neigh.arp.entries": 10, "neigh.arp.failed": 3, "neigh.arp.unresolved_discards": 4, "neigh.arp.table_fulls": 5,
		"qdisc.eth0.fq_codel.packets": 57, "qdisc.eth0.fq_codel.drops": 7, "ip6.received": 12, "udp6.full_sockets": 4, "tcp.packets_received": 5, "tcp.retransmitted_packets": 6,
		"nic.eth0.rx_missed": 5, "nic.eth0.rx_no_buffer": 7, "nic.eth0.xoff_received": 2,
	} {
		if c, ok := f.Counter(name); !ok || c.Value != want {
			t.Errorf("%s is %d (%v), want %d", name, c.Value, ok, want)
		}
	}
	for _, never := range []string{"qdisc.eth0.mq.drops", "qdisc.lo.noqueue.drops", "neigh.ndisc.entries", "ip6.no_route"} {
		if c, ok := f.Counter(never); ok {
			t.Errorf("%s is counted: %d", never, c.Value)
		}
	}
}

// TestAddresses: global addresses of IPv6; of IPv4, networks without a gateway that are up and not
// rejected.
func TestAddresses(t *testing.T) {
	f := fact.Facts{NICs: []fact.NIC{{Name: "eth0"}, {Name: "eth1"}}}
	AddAddresses(&f, "20010db8000000000000000000000001 02 40 00 80 eth0\nfe800000000000000000000000000001 02 40 20 80 eth0\n20010db8000000000000000000000002 03 40 00 80 gone\nshort\n",
		"Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\neth0 00000000 0101A8C0 0003 0 0 0 00000000 0 0 0\neth0 0001A8C0 00000000 0001 0 0 0 00FFFFFF 0 0 0\neth1 0002A8C0 00000000 0000 0 0 0 00FFFFFF\neth1 0003A8C0 00000000 0201 0 0 0 00FFFFFF\neth1 0004A8C0 00000000 zz 0 0 0 0\n")
	if f.NICs[0].IPv6 != 1 || f.NICs[0].IPv4 != 1 || f.NICs[1].IPv4 != 0 || f.NICs[1].IPv6 != 0 {
		t.Errorf("%+v", f.NICs)
	}
}

func TestPause(t *testing.T) {
	for text, want := range map[string]string{"RX:\ton\nTX:\ton\n": "full", "RX:\toff\nTX:\ton\n": "tx", "RX:\toff\nTX:\toff\n": "none", "netlink error: Operation not supported\n": ""} {
		var n fact.NIC
		if AddPause(&n, text); n.FlowControl != want {
			t.Errorf("%q: flow control %q, want %q", text, n.FlowControl, want)
		}
	}
	if v := Uevent("DRIVER=ixgbe\nPCI_ID=8086:1528\nodd\n"); v["DRIVER"] != "ixgbe" || v["PCI_ID"] != "8086:1528" || len(v) != 2 {
		t.Errorf("%v", v)
	}
}

// TestContinuedLines: modprobe.d(5) and udev(7) join lines that end with a backslash; the line number is
// the first one's.
func TestContinuedLines(t *testing.T) {
	c := ReadModuleOptions(tree{"/etc/modprobe.d/x.conf": "# options nf_conntrack hashsize=1\noptions nf_conntrack \\\n  hashsize=65536 \\\n  acct=1\noptions  ixgbe allow_unsupported_sfp\n"})
	var got []string
	for _, l := range c.Lines {
		got = append(got, fmt.Sprintf("%d %s=%s", l.Number, l.Name, l.Value))
	}
	if want := []string{"2 module.nf_conntrack.hashsize=65536", "2 module.nf_conntrack.acct=1", "5 module.ixgbe.allow_unsupported_sfp=1"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	c = ReadUdevRules(tree{"/etc/udev/rules.d/9.rules": "SUBSYSTEM==\"net\", KERNEL==\"eth0\", \\\n  ATTR{tx_queue_len}=\"5000\"\n"})
	if len(c.Lines) != 1 || c.Lines[0].Number != 1 || c.Lines[0].Name != "link.eth0.tx_queue_len" || c.Lines[0].Value != "5000" {
		t.Errorf("%+v", c.Lines)
	}
}

// TestNFTStatements: a ruleset on one line counts like the same ruleset over many lines.
func TestNFTStatements(t *testing.T) {
	text := `table inet f { chain in { type filter hook input priority 0; policy drop; ct state established accept; tcp dport { 22,
 80 } accept; log prefix "a; b { c" drop; } set s { type inet_service; elements = { 1, 2 } } }
# chain x {
`
	if rules, tracking := CountNFT(text); rules != 3 || !tracking {
		t.Errorf("%d rules, tracking %v: %v", rules, tracking, nftStatements(text))
	}
	raw := "table inet raw { chain pre { type filter hook prerouting priority raw; udp dport {53,80} notrack; } }\n"
	for rules, want := range map[string]int{"udp dport { 53, 80 } ct state new accept": 1, "udp dport 5 ct state new accept; udp dport { 53, 80 } accept": 0} {
		all := FilterProblems(map[string]string{"/etc/nftables.conf": raw + "table ip f { chain in { type filter hook input priority 0; policy drop; " + rules + "; } }"})
		if len(all) != want || want > 0 && all[0].Line != 1 {
			t.Errorf("%s: %+v", rules, all)
		}
	}
}
