package linux

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"linerate/internal/fact"
)

// counters returns the values of a host's counters by name.
func counters(f *fact.Facts) map[string]uint64 {
	all := map[string]uint64{}
	for _, c := range f.Counters {
		all[c.Name] = c.Value
	}
	return all
}

// TestSoftnetOfKernels: rows have 9 to 15 columns, depending on the kernel's age; only those with 13 or
// more name their CPU, and offline CPUs have no row.
func TestSoftnetOfKernels(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       map[string]uint64
	}{
		{"3.10: ten columns", "0000ff10 00000002 00000001 0 0 0 0 0 0 00000000\n00000020 00000000 00000000 0 0 0 0 0 0 00000000\n", map[string]uint64{
			"softnet.cpu0.processed": 0xff10, "softnet.cpu0.dropped": 2, "softnet.cpu0.time_squeeze": 1,
			"softnet.cpu1.processed": 0x20, "softnet.cpu1.dropped": 0, "softnet.cpu1.time_squeeze": 0,
		}},
		{"4.x: eleven, with the flow limit", "00000001 00000000 00000000 0 0 0 0 0 0 00000000 0000000a\n", map[string]uint64{
			"softnet.cpu0.processed": 1, "softnet.cpu0.dropped": 0, "softnet.cpu0.time_squeeze": 0, "softnet.cpu0.flow_limit": 10,
		}},
		{"6.x: fifteen, CPU 1 is offline", "00000005 0 0 0 0 0 0 0 0 0 0 0 00000000 0 0\n00000006 00000001 0 0 0 0 0 0 0 0 0 0 00000002 0 0\n", map[string]uint64{
			"softnet.cpu0.processed": 5, "softnet.cpu0.dropped": 0, "softnet.cpu0.time_squeeze": 0, "softnet.cpu0.flow_limit": 0,
			"softnet.cpu2.processed": 6, "softnet.cpu2.dropped": 1, "softnet.cpu2.time_squeeze": 0, "softnet.cpu2.flow_limit": 0,
		}},
		{"no row at all", "\n00000001 00000002\n", map[string]uint64{}},
	} {
		f := &fact.Facts{}
		AddSoftnet(f, c.text)
		if d := cmp.Diff(c.want, counters(f)); d != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, d)
		}
	}
}

// TestSNMPPairs: numbers belong to the names above them, in any order; a truncated file, and groups
// that do not match, give no value rather than another counter's.
func TestSNMPPairs(t *testing.T) {
	pair := func(group, names, values string) string {
		return group + ": " + names + "\n" + group + ": " + values + "\n"
	}
	for _, c := range []struct {
		name, text string
		want       map[string]uint64
	}{
		{"a normal file", pair("Ip", "Forwarding InReceives ForwDatagrams", "1 100 90") + pair("Udp", "InDatagrams NoPorts", "7 3"),
			map[string]uint64{"ip.received": 100, "ip.forwarded": 90, "udp.datagrams_received": 7, "udp.no_socket": 3}},
		{"a new kernel's columns in front", pair("TcpExt", "NewThing SyncookiesSent ListenDrops", "9 4 2"), map[string]uint64{"tcp.cookies_sent": 4, "tcp.listen_drops": 2}},
		{"fewer numbers than names", pair("Ip", "InReceives ForwDatagrams InDelivers", "5 6"), map[string]uint64{"ip.received": 5, "ip.forwarded": 6}},
		{"the row of another group", "Ip: InReceives\nIcmp: 5\nUdp: NoPorts\nUdp: 1\n", map[string]uint64{"udp.no_socket": 1}},
		{"truncated in the middle", "Ip: InReceives ForwDatagrams\n", map[string]uint64{}},
	} {
		f := &fact.Facts{}
		AddSNMP(f, "/proc/net/snmp", c.text)
		if d := cmp.Diff(c.want, counters(f)); d != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, d)
		}
	}
	f := &fact.Facts{}
	AddSNMP6(f, "Ip6InReceives                    \t12\nIp6Nothing 5\nIp6OutNoRoutes\nUdp6RcvbufErrors 3\n")
	if d := cmp.Diff(map[string]uint64{"ip6.received": 12, "udp6.full_sockets": 3}, counters(f)); d != "" {
		t.Errorf("snmp6 (-want +got)\n%s", d)
	}
}

// TestSNMPNamesAreOneToOne: two kernel counters with the same name would be summed.
func TestSNMPNamesAreOneToOne(t *testing.T) {
	of := map[string]string{}
	for _, kernel := range slices.Sorted(maps.Keys(countersOf("snmp"))) {
		if other := of[countersOf("snmp")[kernel]]; other != "" {
			t.Errorf("%s and %s are both called %s", other, kernel, countersOf("snmp")[kernel])
		}
		of[countersOf("snmp")[kernel]] = kernel
	}
}

// TestPerCPURowsAddUp: conntrack's drops are summed over CPUs; a neighbour table's entry count, which is
// the same in every row, is not.
func TestPerCPURowsAddUp(t *testing.T) {
	f := &fact.Facts{}
	AddConntrack(f, "entries  clashres found new invalid drop early_drop insert_failed\n"+
		"00000009 0 00000001 0 00000002 0000000a 00000001 00000000\n"+"00000009 0 00000002 0 00000003 00000006 00000000 00000004\n")
	AddNeighbours(f, "arp", "entries  allocs res_failed unresolved_discards table_fulls\n"+
		"00000401 00000500 00000001 00000002 00000003\n"+"00000401 00000000 00000001 00000000 0000000d\n")
	AddNeighbours(f, "ndisc", "entries allocs\n")
	want := map[string]uint64{
		"conntrack.found": 3, "conntrack.invalid": 5, "conntrack.drop": 16, "conntrack.early_drop": 1, "conntrack.insert_failed": 4,
		"neigh.arp.entries": 0x401, "neigh.arp.failed": 2, "neigh.arp.unresolved_discards": 2, "neigh.arp.table_fulls": 16,
	}
	if d := cmp.Diff(want, counters(f)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// TestQdiscsOfAMultiqueue: mq only contains the queues listed below it, and counting both would double
// every packet.
func TestQdiscsOfAMultiqueue(t *testing.T) {
	f := &fact.Facts{}
	AddQdiscs(f, strings.Join([]string{
		"qdisc noqueue 0: dev lo root refcnt 2 ", " Sent 0 bytes 0 pkt (dropped 9, overlimits 0 requeues 0) ",
		"qdisc mq 0: dev eth0 root ", " Sent 3000 bytes 30 pkt (dropped 3, overlimits 0 requeues 0) ",
		"qdisc fq_codel 0: dev eth0 parent :1 limit 10240p", " Sent 1000 bytes 10 pkt (dropped 1, overlimits 0 requeues 0) ", " backlog 0b 0p requeues 0",
		"qdisc fq_codel 0: dev eth0 parent :2 limit 10240p", " Sent 2000 bytes 20 pkt (dropped 2, overlimits 0 requeues 0) ",
		"qdisc ingress ffff: dev eth0 parent ffff:fff1 ---------------- ", " Sent 5 bytes 5 pkt (dropped 5, overlimits 0 requeues 0) ",
		"qdisc pfifo_fast 0: dev eth1 root refcnt 2 bands 3", " Sent cut",
	}, "\n")+"\n")
	if d := cmp.Diff(map[string]uint64{"qdisc.eth0.fq_codel.packets": 30, "qdisc.eth0.fq_codel.drops": 3}, counters(f)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// TestFlowControlOfALink: the two directions are separate.
func TestFlowControlOfALink(t *testing.T) {
	for text, want := range map[string]string{
		"Pause parameters for eth0:\nAutonegotiate:\ton\nRX:\t\ton\nTX:\t\ton\n": "full", "RX: on\nTX: off\n": "rx", "RX: off\nTX: on\n": "tx", "RX: off\nTX: off\n": "none",
		"Cannot get device pause settings: Operation not supported\n": "", "": "", "TX: on\n": "",
	} {
		var n fact.NIC
		if AddPause(&n, text); n.FlowControl != want {
			t.Errorf("%q: %q, want %q", text, n.FlowControl, want)
		}
	}
}

// TestChannelsOfDrivers: some drivers count combined queues, some each kind, and one that reports nothing
// leaves the counts from sysfs.
func TestChannelsOfDrivers(t *testing.T) {
	text := func(most, now string) string {
		return "Channel parameters for eth0:\nPre-set maximums:\n" + most + "Current hardware settings:\n" + now
	}
	for _, c := range []struct {
		name, text   string
		rx, tx, most int
	}{
		{"combined", text("RX: n/a\nTX: n/a\nOther: 1\nCombined: 63\n", "RX: n/a\nTX: n/a\nOther: 1\nCombined: 8\n"), 8, 8, 63},
		{"apart", text("RX: 4\nTX: 2\nOther: 0\nCombined: 0\n", "RX: 3\nTX: 2\nOther: 0\nCombined: 0\n"), 3, 2, 4},
		{"both", text("RX: 0\nTX: 0\nCombined: 16\n", "RX: 1\nTX: 0\nCombined: 4\n"), 5, 4, 16},
		{"not supported", "netlink error: Operation not supported\n", 7, 7, 0},
	} {
		n := fact.NIC{RXQueues: 7, TXQueues: 7}
		if AddChannels(&n, c.text); n.RXQueues != c.rx || n.TXQueues != c.tx || n.MaxQueues != c.most {
			t.Errorf("%s: %d and %d of %d", c.name, n.RXQueues, n.TXQueues, n.MaxQueues)
		}
	}
	var n fact.NIC
	AddRings(&n, "Ring parameters for eth0:\nPre-set maximums:\nRX:\t\t4096\nRX Mini:\tn/a\nTX:\t\t8192\nCurrent hardware settings:\nRX:\t\t512\nRX Mini:\tn/a\nTX:\t\t256\n")
	if n.RXDescriptors != 512 || n.TXDescriptors != 256 || n.MaxRXDescriptors != 4096 {
		t.Errorf("rings %+v", n)
	}
}

// TestAllowances: packets held back by a provider are losses before any other place.
func TestAllowances(t *testing.T) {
	f := &fact.Facts{}
	AddDriverCounters(f, "ens5", "NIC statistics:\n     bw_in_allowance_exceeded: 0\n     pps_allowance_exceeded: 77\n     rx_drops: 1\n")
	f.Normalise()
	if d := f.Drops(); len(d) != 2 || d[0].Where != "provider" || d[0].Counter != "nic.ens5.pps_allowance_exceeded" || d[0].Value != 77 {
		t.Errorf("%+v", d)
	}
}

// TestCloudDrivers: gVNIC's per-queue and MANA's per-port counters get the names that all drivers share,
// and drops at a provider's own port are the provider's.
func TestCloudDrivers(t *testing.T) {
	f := &fact.Facts{}
	AddDriverCounters(f, "eth0", "NIC statistics:\n     rx_queue_drop_cnt[0]: 5\n     rx_queue_drop_cnt[1]: 2\n     rx_no_buffers_posted[1]: 3\n     rx_dropped_pkt[0]: 9\n")
	AddDriverCounters(f, "eth1", "NIC statistics:\n     hc_rx_discards_no_wqe: 4\n     hc_rx_pkt_drop_phy: 6\n     hc_tx_pkt_drop_phy: 1\n     hc_tc0_rx_pkt_phy: 99\n")
	f.Normalise()
	var got []string
	for _, d := range f.Drops() {
		got = append(got, fmt.Sprintf("%s %s %d", d.Where, d.Counter, d.Value))
	}
	if want := []string{"provider nic.eth1.provider_drops 7", "NIC nic.eth1.rx_missed 4", "NIC nic.eth0.rx_no_buffer 3", "NIC nic.eth0.rx_discards 7"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestDriverCountersMeanTheSame: the drivers' counters for a frame without a buffer are one counter, per
// queue or not, and do not count again what /sys counts.
func TestDriverCountersMeanTheSame(t *testing.T) {
	f := &fact.Facts{}
	f.AddCounter("nic.eth0.crc_errors", 50, "/sys")
	AddDriverCounters(f, "eth0", "NIC statistics:\n     rx_no_dma_resources: 3\n     rx_out_of_buffer: 4\n     rx_crc_errors: 20\n     rx_crc_errors_phy: 1\n     rx_discards_phy: 8\n     rx_packets: 1000000\n     tx_flow_control_xoff: 2\nno colon\n")
	want := map[string]uint64{"nic.eth0.crc_errors": 50, "nic.eth0.rx_no_buffer": 7, "nic.eth0.rx_discards": 8, "nic.eth0.xoff_sent": 2}
	if d := cmp.Diff(want, counters(f)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// TestNamesOfPathsAreInverse: a path below /proc/sys and a name convert to each other, also where an
// interface's name has a dot.
func TestNamesOfPathsAreInverse(t *testing.T) {
	for _, p := range []string{"net/ipv4/ip_forward", "net/ipv4/conf/eth0.100/rp_filter", "kernel/sysrq", "net/ipv6/neigh/br-lan.7/gc_stale_time"} {
		name := FromPath(p)
		if FromPath(name) != p || Name(p) != name || Name(name) != name || strings.Count(name, ".") != strings.Count(p, "/") {
			t.Errorf("%s: %s, and back %s", p, name, FromPath(name))
		}
	}
}

// TestPatternsStayWithinAPart: the star of sysctl.d(5) matches within one part of a name, and names that
// a line sets or excludes are not matched.
func TestPatternsStayWithinAPart(t *testing.T) {
	kernel := []string{"net.ipv4.conf.all.rp_filter", "net.ipv4.conf.eth0.rp_filter", "net.ipv4.conf.eth0/100.rp_filter", "net.ipv4.conf.lo.rp_filter", "net.ipv6.conf.eth0.mtu"}
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"a pattern for all interfaces", "net.ipv4.conf.*.rp_filter=1\n", []string{"net.ipv4.conf.all.rp_filter=1", "net.ipv4.conf.eth0.rp_filter=1", "net.ipv4.conf.eth0/100.rp_filter=1", "net.ipv4.conf.lo.rp_filter=1"}},
		{"a star does not match two parts", "net.*.rp_filter=1\n", []string{"net.*.rp_filter=1"}},
		{"a set of letters", "net.ipv4.conf.[el]*.rp_filter=1\n", []string{"net.ipv4.conf.eth0.rp_filter=1", "net.ipv4.conf.eth0/100.rp_filter=1", "net.ipv4.conf.lo.rp_filter=1"}},
		{"one set by name, one excluded", "net.ipv4.conf.lo.rp_filter=0\n-net.ipv4.conf.all.rp_filter\nnet.ipv4.conf.*.rp_filter=2\n",
			[]string{"net.ipv4.conf.lo.rp_filter=0", "net.ipv4.conf.eth0.rp_filter=2", "net.ipv4.conf.eth0/100.rp_filter=2"}},
		{"an invalid pattern matches nothing", "net.ipv4.conf.[a.rp_filter=1\n", []string{"net.ipv4.conf.[a.rp_filter=1"}},
	} {
		if d := cmp.Diff(c.want, lines(ReadSysctlConf(tree{"/etc/sysctl.d/50.conf": c.text}, kernel))); d != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, d)
		}
	}
}

// TestNetworkdForms: every way to write yes, and every key of networkd that becomes a sysctl of an
// interface; dots of VLAN names become slashes.
func TestNetworkdForms(t *testing.T) {
	file := func(match, network string) tree {
		return tree{"/etc/systemd/network/10.network": "[Match]\n" + match + "\n[Network]\n" + network + "\n"}
	}
	for _, yes := range []string{"yes", "true", "on", "1", "YES", "True"} {
		if got := lines(ReadNetworkFiles(file("Name=wan0", "IPv4ProxyARP="+yes))); !slices.Equal(got, []string{"net.ipv4.conf.wan0.proxy_arp=1"}) {
			t.Errorf("%s: %q", yes, got)
		}
	}
	for _, c := range []struct {
		match, network string
		want           []string
	}{
		{"Name=eth0.7", "IPv6HopLimit=63", []string{"net.ipv6.conf.eth0/7.hop_limit=63"}},
		{"Name=wan0", "IPv4ReversePathFilter=loose", []string{"net.ipv4.conf.wan0.rp_filter=2"}},
		{"Name=wan0", "IPv4ReversePathFilter=perhaps", nil},
		{"Name=wan0", "IPv6PrivacyExtensions=prefer-public\nIPv6MTUBytes=1280", []string{"net.ipv6.conf.wan0.use_tempaddr=1", "net.ipv6.conf.wan0.mtu=1280"}},
		{"Name=wan0 lan*  lan0", "IPv4Forwarding=yes", []string{"net.ipv4.conf.wan0.forwarding=1", "net.ipv4.conf.lan0.forwarding=1"}},
		{"Name=wan0\nName=lan0", "IPv4Forwarding=yes", []string{"net.ipv4.conf.wan0.forwarding=1", "net.ipv4.conf.lan0.forwarding=1"}},
		{"Name=wan0\nName=\nName=lan0", "IPv4Forwarding=yes", []string{"net.ipv4.conf.lan0.forwarding=1"}}, {"Name=wan0 lan0", "IPForward=ipv4", []string{"net.ipv4.ip_forward=1"}},
		{"Name=!wan0", "IPv4Forwarding=yes", nil}, {"MACAddress=00:00:5e:00:53:01", "IPv4Forwarding=yes", nil},
		{"Name=w*", "IPForward=yes", []string{"net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1"}}, {"Name=wan0", "IPForward=no", nil},
	} {
		if d := cmp.Diff(c.want, lines(ReadNetworkFiles(file(c.match, c.network)))); d != "" {
			t.Errorf("%s, %s (-want +got)\n%s", c.match, c.network, d)
		}
	}
}

// TestRoutesThatAreNoAddresses: only global IPv6 addresses and connected IPv4 networks of known
// interfaces are counted as addresses.
func TestRoutesThatAreNoAddresses(t *testing.T) {
	f := &fact.Facts{NICs: []fact.NIC{{Name: "wan0"}, {Name: "lan0"}}}
	AddAddresses(f, "20010db8000000000000000000000001 02 40 00 80 wan0\nfe800000000000000000000000000001 02 40 20 80 wan0\n20010db8000000000000000000000002 09 40 00 80 gone0\nshort\n",
		"Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\n"+
			"wan0\t00000000\t0101A8C0\t0003\t0\t0\t0\t00000000\n"+ // the default route
			"lan0\t0001A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\n"+"lan0\t0002A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\n"+
			"lan0\t0003A8C0\t0101A8C0\t0003\t0\t0\t0\t00FFFFFF\n"+ // through a gateway
			"lan0\t0004A8C0\t00000000\t0000\t0\t0\t0\t00FFFFFF\n"+ // not up
			"lan0\t0005A8C0\t00000000\t0201\t0\t0\t0\t00FFFFFF\n"+ // unreachable
			"lan0\t0006A8C0\t00000000\tzz\t0\t0\t0\t00FFFFFF\n")
	if w, l := f.NICs[0], f.NICs[1]; w.IPv6 != 1 || w.IPv4 != 0 || l.IPv4 != 2 || l.IPv6 != 0 {
		t.Errorf("%+v", f.NICs)
	}
}
