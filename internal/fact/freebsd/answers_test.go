package freebsd

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"linerate/internal/fact"
)

// counted returns the values of counters by name.
func counted(f *fact.Facts) map[string]uint64 {
	all := map[string]uint64{}
	for _, c := range f.Counters {
		all[c.Name] = c.Value
	}
	return all
}

// TestNetstatOfOne: netstat(1) writes a single packet in the singular, wherever the noun is in the line,
// and it is counted like several.
func TestNetstatOfOne(t *testing.T) {
	for name, lines := range map[string]string{
		"ip.no_buffers":                  "ip:\n\t%d output packet%s dropped due to no bufs, etc.\n",
		"ip.no_route":                    "ip:\n\t%d output packet%s discarded due to no route\n",
		"ip.received":                    "ip:\n\t%d total packet%s received\n",
		"ip.cannot_fragment":             "ip:\n\t%d datagram%s that can't be fragmented\n",
		"ip.fragments_dropped":           "ip:\n\t%d fragment%s dropped (dup or out of space)\n",
		"ip6.no_route":                   "ip6:\n\t%d output packet%s discarded due to no route\n",
		"arp.no_entry":                   "arp:\n\t%d total packet%s dropped due to no ARP entry\n",
		"ipsec.no_memory":                "ipsec:\n\t%d inbound packet%s dropped due to insufficient memory\n",
		"tcp.listen_overflows":           "tcp:\n\t%d listen queue overflow%s\n",
		"tcp.retransmit_timeouts":        "tcp:\n\t%d retransmit timeout%s\n",
		"tcp.retransmitted_packets":      "tcp:\n\t%d data packet%s (99 bytes) retransmitted\n",
		"tcp.cookies_sent":               "tcp:\n\t%d cookie%s sent\n",
		"tcp.syncache.dropped":           "tcp:\n\t7 syncache entries added\n\t\t%d dropped\n",
		"tcp.syncache.zone_failures":     "tcp:\n\t1 syncache entry added\n\t\t%d zone failure%s\n",
		"tcp.hostcache.bucket_overflows": "tcp:\n\t1 hostcache entry added\n\t\t%d bucket overflow%s\n",
		"udp.full_sockets":               "udp:\n\t%d dropped due to full socket buffers\n",
	} {
		for n, ending := range map[uint64]string{1: "", 2: "s"} {
			args := []any{n, ending}[:strings.Count(lines, "%")]
			var f fact.Facts
			AddNetstatS(&f, fmt.Sprintf(lines, args...))
			if got := counted(&f); got[name] != n || len(got) != 1 && !(len(got) == 2 && got["tcp.syncache.added"] > 0) {
				t.Errorf("%q: %v, want %s = %d", fmt.Sprintf(lines, args...), got, name, n)
			}
		}
	}
	var f fact.Facts
	AddNetstatS(&f, "udp:\n\t5 packets forwarded\nicmp:\n\t7 dropped\ntcp:\n\t3 hostcache entries added\n\t\t9 dropped\nip:\n\tno number\n")
	if got := counted(&f); len(got) > 0 {
		t.Errorf("lines of other sections are counted: %v", got)
	}
}

// TestInterfaceNames: interfaces can have user-defined names, and lines after one that is not an
// interface's belong to no interface.
func TestInterfaceNames(t *testing.T) {
	nics := ParseIfconfig("em0: flags=8843<UP,BROADCAST> metric 0 mtu 1500\n\toptions=81209b<RXCSUM,LRO>\n\tinet 198.18.0.1 netmask 0xffffff00\n" +
		"vm-public: flags=8843<UP> metric 0 mtu 9000\n\tinet 198.18.1.1 netmask 0xffffff00\n\tinet6 fe80::1%vm-public prefixlen 64\n\tinet6 2001:2::1 prefixlen 64\n\tmember: tap0 flags=143<LEARNING>\n\tgroups: bridge vm-switch viid-4c918@\n\tdrivername: bridge0\n" +
		"odd name: something\n\tinet 198.18.2.1 netmask 0xffffff00\n\tstatus: no carrier\n" +
		"em1: flags=8802<BROADCAST> metric 0\n\tmedia: Ethernet autoselect (2500Base-T <half-duplex,txpause>)\n\tstatus: active\n\tcarp: BACKUP vhid 2 advbase 1 advskew 100\n\tvlan: 5 vlanproto: 802.1q vlanpcp: 0 parent interface: em0\n")
	if len(nics) != 3 {
		t.Fatalf("%d interfaces: %+v", len(nics), nics)
	}
	em0, vm, em1 := nics[0], nics[1], nics[2]
	if em0.IPv4 != 1 || em0.Members != nil || em0.MTU != 1500 || !em0.Has("LRO") || !*em0.Up {
		t.Errorf("%+v", em0)
	}
	if vm.Name != "vm-public" || vm.Driver != "bridge" || vm.IPv4 != 1 || vm.IPv6 != 1 || vm.MTU != 9000 || !slices.Equal(vm.Members, []string{"tap0"}) || vm.Status != "" {
		t.Errorf("%+v", vm)
	}
	if *em1.Up || em1.MTU != 0 || em1.SpeedBits != 2.5e9 || em1.Duplex != "half" || em1.FlowControl != "tx" || em1.Status != "active" || em1.Parent != "em0" || !em1.CARP || vm.CARP || em1.Kind != fact.KindVLAN {
		t.Errorf("%+v", em1)
	}
	for media, want := range map[string]string{
		"Ethernet autoselect (1000baseT <full-duplex>)": "1000000000 full none", "Ethernet autoselect (10Gbase-Twinax <full-duplex,rxpause,txpause>)": "10000000000 full full", "Ethernet autoselect (100GBase-SR4 <full-duplex,rxpause>)": "100000000000 full rx",
		"Ethernet autoselect": "0  ", "Ethernet 100baseTX <full-duplex> (none)": "0  ", "Ethernet autoselect (10baseT/UTP <half-duplex>)": "10000000 half none",
	} {
		var n fact.NIC
		ifconfigMedia(&n, media)
		if got := fmt.Sprintf("%d %s %s", n.SpeedBits, n.Duplex, n.FlowControl); got != want {
			t.Errorf("%s: %q, want %q", media, got, want)
		}
	}
}

// TestListeners: netstat -Lan with addresses that other hosts can reach, and local ones.
func TestListeners(t *testing.T) {
	var f fact.Facts
	AddListeners(&f, "Current listen queue sizes (qlen/incqlen/maxqlen)\nProto Listen                           Local Address\ntcp4  3/1/4096                         *.443\ntcp4  0/0/10                           127.0.0.1.25\n"+
		"tcp6  0/0/10                           ::1.25\ntcp6  0/0/5                            fe80::1%lo0.22\ntcp46 0/0/128                          *.22\nsctp4 0/0/1                            198.18.0.1.9999\nudp4  0/0/0                            *.53\ntcp4  0/0                              *.81\ntcp4  0/0/1                            *.x\ntcp4  0/0/1                            nodots\nunix  0/0/30                           /var/run/x\ntcp4  3/1/4096                         *.443\n")
	var got []string
	for _, l := range f.Listeners {
		got = append(got, fmt.Sprintf("%s %d local=%v", l.Protocol, l.Port, l.Local))
	}
	want := []string{"tcp4 443 local=false", "tcp4 25 local=true", "tcp6 25 local=true", "tcp6 22 local=true", "tcp46 22 local=false", "sctp4 9999 local=false"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// TestIPFWList: the last rule is built in; packet counts are not rule numbers.
func TestIPFWList(t *testing.T) {
	for text, want := range map[string]string{
		"65535 deny ip from any to any\n":        "0 rules",
		"65535 allow ip from any to any\n":       "0 rules",
		"65535 allow\n":                          "0 rules",
		"65535 7\n":                              "0 rules",
		"65535 10 840 deny ip from any to any\n": "0 rules",
		"00100 65535 9 allow ip from any to any\n65535 1 2 deny ip from any\n":  "1 rules",
		"00100 allow tcp from any to me 22 keep-state\n00200 nat 1 ip from any": "2 rules",
		"ipfw: retrieving config failed\n":                                      "off",
		"":                                                                      "off",
	} {
		var fw fact.IPFW
		AddIPFWList(&fw, text)
		got := "off"
		if fw.Enabled != nil {
			got = fmt.Sprintf("%d rules", fw.Rules)
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestIPFWScriptLines: a finding has the line number in the file, also after rules that continue over
// several lines.
func TestIPFWScriptLines(t *testing.T) {
	var fw fact.IPFW
	ReadIPFW(tree{"/etc/ipfw.rules": "cmd=\"/sbin/ipfw -q add\"\n$cmd 100 allow tcp from any to me \\\n  22 keep-state\n# nat 9 \\\nipfw nat 1 config if em0; ipfw table 1 create\n$cmd 200 nat 1 ip from any to any via em0\nipfw pipe 1 config bw 10Mbit/s\nipfw queue 1 delete 2\n$unknown 300 allow all\n"}, "/etc/ipfw.rules", &fw)
	if fw.Rules != 2 || fw.Stateful != 1 || fw.NAT != 1 || fw.Pipes != 1 || len(fw.NATLines) != 2 {
		t.Errorf("%+v", fw)
	}
	for i, want := range []int{5, 6} {
		if fw.NATLines[i].Number != want || fw.NATLines[i].File != "/etc/ipfw.rules" {
			t.Errorf("%+v, want line %d", fw.NATLines[i], want)
		}
	}
	var open fact.IPFW
	if ReadIPFW(tree{"/x": "add 1 allow all \\"}, "/x", &open); open.Rules != 1 {
		t.Errorf("a continued last line: %+v", open)
	}
}

// TestPFAnswers: status, limits and timeouts as printed by pfctl.
func TestPFAnswers(t *testing.T) {
	var f fact.Facts
	var pf fact.PF
	AddPFStatus(&f, &pf, "Status: Enabled for 0 days 00:01:00           Debug: Urgent\n\nInterface Stats for em0               IPv4             IPv6\n  Bytes In                            5                9\n\n"+
		"State Table                          Total             Rate\n  current entries                      12\n  searches                           1000           16.7/s\nSource Tracking Table\n  current entries                       3\nCounters\n  match                               900            0.0/s\n  state-limit                           4            0.1/s\nLimit Counters\n  max states per rule                   2            0.0/s\n")
	want := map[string]uint64{"pf.states.current_entries": 12, "pf.states.searches": 1000, "pf.src_nodes.current_entries": 3, "pf.counter.match": 900, "pf.counter.state_limit": 4, "pf.limit.max_states_per_rule": 2}
	if d := cmp.Diff(want, counted(&f)); d != "" || !*pf.Enabled || *pf.States != 12 {
		t.Errorf("%+v (-want +got)\n%s", pf, d)
	}
	if AddPFStatus(&f, &pf, "Status: Disabled for 1 days 00:00:00\n"); *pf.Enabled {
		t.Error("disabled pf is reported as enabled")
	}
	AddPFLimits(&pf, "states        hard limit   100000\nsrc-nodes     hard limit    10000\nnonsense\n")
	AddPFTimeouts(&pf, "tcp.first                   120s\nadaptive.start            60000 states\ninterval                     10s\ntcp.bad x\n")
	var all []string
	for _, l := range slices.Concat(pf.Limits, pf.Timeouts) {
		all = append(all, fmt.Sprintf("%s=%d", l.Name, l.Value))
	}
	if want := []string{"states=100000", "src-nodes=10000", "tcp.first=120", "adaptive.start=60000", "interval=10"}; !slices.Equal(all, want) {
		t.Errorf("%q, want %q", all, want)
	}
}

// TestMessagesOfDrivers: what drivers print about their queues, and complaints of the system.
func TestMessagesOfDrivers(t *testing.T) {
	f := &fact.Facts{NICs: []fact.NIC{{Name: "ix0"}, {Name: "cc0"}, {Name: "igb0", Description: "mine"}, {Name: "vtnet0"}}}
	AddDmesg(f, "ix0: <old>\n---<<BOOT>>---\nFreeBSD/SMP: 2 package(s) x 4 core(s) x 2 hardware threads\nCPU: Xeon (2400.06-MHz K8-class CPU)\n  Features2=0x7ffafbff<SSE3,AESNI>\n  Features=0x1<FPU,AESNI>\nreal memory  = 17179869184 (16384 MB)\navail memory = 16000000000 (15258 MB)\n"+
		"ix0: <Intel X520>\nix0: Using MSI-X interrupts with 9 vectors\nix0: using 8 rx queues 4 tx queues\nix0: Using 2048 TX descriptors and 1024 RX descriptors\nix0: netmap queues/slots: TX 99/99, RX 99/99\ncc0: 16 txq, 8 rxq (NIC)\nigb0: <other>\nigb0: netmap queues/slots: TX 2/512, RX 3/256\nigb0: Using an MSI interrupt\n")
	ix, cc, igb := f.NICs[0], f.NICs[1], f.NICs[2]
	if ix.Description != "Intel X520" || ix.RXQueues != 8 || ix.TXQueues != 4 || ix.TXDescriptors != 2048 || ix.RXDescriptors != 1024 {
		t.Errorf("%+v", ix)
	}
	if cc.TXQueues != 16 || cc.RXQueues != 8 || igb.Description != "mine" || igb.TXQueues != 2 || igb.TXDescriptors != 512 || igb.RXQueues != 3 || igb.RXDescriptors != 256 {
		t.Errorf("%+v %+v", cc, igb)
	}
	c := f.CPU
	if c.Packages != 2 || c.Cores != 8 || c.ThreadsPerCore != 2 || c.Count != 16 || c.MHz != 2400.06 || !slices.Equal(c.Features, []string{"AESNI", "FPU", "SSE3"}) || f.Memory.Real != 17179869184 || f.Memory.Physical != 16000000000 {
		t.Errorf("%+v %+v", c, f.Memory)
	}
	known := &fact.Facts{CPU: fact.CPU{Cores: 1, ThreadsPerCore: 1, Count: 1, MHz: 1}, Memory: fact.Memory{Real: 1, Physical: 1}}
	if AddDmesg(known, "FreeBSD/SMP: 1 package(s) x 2 cache groups x 4 core(s)\nCPU: X (2400-MHz x)\nreal memory  = 5 (0 MB)\navail memory = 5 (0 MB)\n"); known.CPU.Cores != 1 || known.CPU.Count != 1 || known.CPU.MHz != 1 || known.Memory.Real != 1 || known.Memory.Physical != 1 {
		t.Errorf("messages override running values: %+v %+v", known.CPU, known.Memory)
	}
	for line, about := range map[string]string{
		"[zone: mbuf_cluster] kern.ipc.nmbclusters limit reached":                           "kern.ipc.nmbclusters",
		"sonewconn: pcb 0xf80: Listen queue overflow: 193 already in queue":                 "kern.ipc.soacceptqueue",
		"interrupt storm detected on \"irq16:\"; throttling interrupt source":               "hw.intr_storm_threshold",
		"Limiting icmp unreach response from 300 to 200 packets/sec":                        "net.inet.icmp.icmplim",
		"WARNING: TCB hash size not a power of 2, clipped from 1000 to 512":                 "net.inet.tcp.tcbhashsize",
		"netisr_init: forcing maxthreads from 9 to 4":                                       "net.isr.maxthreads",
		"igb0: Watchdog timeout -- resetting":                                               "igb0",
		"KLD if_foo.ko: depends on kernel - not available or version mismatch":              "if_foo",
		"sysctl: unknown oid 'net.inet.nosuch'":                                             "net.inet.nosuch",
		"PF states limit reached":                                                           "pf states",
		"hw.igb.rxd: 9999 is out of range":                                                  "hw.igb.rxd",
		"invalid value of vm.kmem_size.":                                                    "vm.kmem_size",
		"em0: link state changed to UP":                                                     "",
		"Timecounters tick every 1.000 msec":                                                "",
		"WARNING: hostcache hash size is not a power of 2":                                  "net.inet.tcp.hostcache.hashsize",
		"kldload: can't load if_nosuch: No such file or directory":                          "if_nosuch",
		"module_register: cannot register pci/em from kernel; already loaded from if_em.ko": "pci/em",
		"module_register: module pci/ix already exists!":                                    "pci/ix",
	} {
		f := &fact.Facts{}
		AddComplaints(f, line+"\n"+line+"\n")
		switch {
		case about == "" && len(f.Complaints) > 0, about != "" && len(f.Complaints) != 1:
			t.Errorf("%s: %+v", line, f.Complaints)
		case about != "" && f.Complaints[0].About != about:
			t.Errorf("%s is about %q, want %q", line, f.Complaints[0].About, about)
		}
	}
}

// TestTablesOfTheKernel: interrupts, zones, modules, mounts.
func TestTablesOfTheKernel(t *testing.T) {
	irq := ParseVmstatI("interrupt                          total       rate\nirq264: ix0:rxq0                 1000         10\nirq16: ehci0                        5          0\ncpu3:timer                     900000       1000\nirq265: igb0:que 0                  7          1\nTotal                          901012       1011\nshort 1\n")
	var got []string
	for _, i := range irq {
		cpu := -1
		if i.CPU != nil {
			cpu = *i.CPU
		}
		got = append(got, fmt.Sprintf("%s|%s|%s|%d|%v|%d", i.Name, i.Device, i.Queue, i.Total, i.Rate, cpu))
	}
	if d := cmp.Diff([]string{"irq264: ix0:rxq0|ix0|rxq0|1000|10|-1", "irq16: ehci0|ehci0||5|0|-1", "cpu3:timer|||900000|1000|3", "irq265: igb0:que 0|igb0|que 0|7|1|-1"}, got); d != "" {
		t.Errorf("interrupts (-want +got)\n%s", d)
	}
	var f fact.Facts
	AddVmstatZ(&f, "ITEM                   SIZE  LIMIT     USED     FREE      REQ FAIL SLEEP\n\npf states:              312, 100000,     12,     138,     900,   0,   3\nplain:                  128,      0,    100,      20,     900,   0,   0\nfailing zone:            64,      0,      1,       2,       3,   5,   0\nfailing zone:            64,      0,      1,       2,       3,   6,   0\na: b:                    64,     10,      1,       2,       3,   0,   0\nshort: 1, 2\n")
	want := map[string]uint64{
		"zone.pf_states.size": 312, "zone.pf_states.limit": 100000, "zone.pf_states.used": 12, "zone.pf_states.failures": 0, "zone.pf_states.requests": 900, "zone.pf_states.sleeps": 3,
		"zone.failing_zone.size": 64, "zone.failing_zone.limit": 0, "zone.failing_zone.used": 1, "zone.failing_zone.failures": 5, "zone.failing_zone.requests": 3, "zone.failing_zone.sleeps": 0,
		"zone.failing_zone#2.size": 64, "zone.failing_zone#2.limit": 0, "zone.failing_zone#2.used": 1, "zone.failing_zone#2.failures": 6, "zone.failing_zone#2.requests": 3, "zone.failing_zone#2.sleeps": 0,
		"zone.a:_b.size": 64, "zone.a:_b.limit": 10, "zone.a:_b.used": 1, "zone.a:_b.requests": 3, "zone.a:_b.failures": 0, "zone.a:_b.sleeps": 0,
	}
	if d := cmp.Diff(want, counted(&f)); d != "" {
		t.Errorf("zones (-want +got)\n%s", d)
	}
	f = fact.Facts{Modules: []fact.Module{{Name: "zfs"}, {Name: "gone"}}}
	AddModules(&f, []string{"kernel", "zfs", "pf"}, []string{"em", "pf"})
	state := map[string]string{}
	for _, m := range f.Modules {
		state[m.Name] = fmt.Sprintf("%v %v", m.Loaded != nil && *m.Loaded, m.InKernel)
	}
	if d := cmp.Diff(map[string]string{"zfs": "true false", "gone": "false false", "pf": "true true", "em": "false true"}, state); d != "" || !slices.IsSortedFunc(f.Modules, func(a, b fact.Module) int { return strings.Compare(a.Name, b.Name) }) {
		t.Errorf("modules (-want +got)\n%s", d)
	}
	unknown := fact.Facts{Modules: []fact.Module{{Name: "zfs"}}}
	if AddModules(&unknown, nil, nil); unknown.Modules[0].Loaded != nil {
		t.Error("a module is reported as not loaded although the list was not read")
	}
	if got := ParseKernelModules("Id Refs Address                Size Name\n 1   50 0xffffffff80200000  1f3e2d0 kernel (/boot/kernel/kernel)\n\tContains modules:\n\t\tId Name\n\t\t 1 pci/em\n\t\t 2 cubic\n 2    1 0xffffffff82a00000    3530 fdescfs.ko (/boot/kernel/fdescfs.ko)\n\t\t 9 fdescfs\n"); !slices.Equal(got, []string{"em", "cubic"}) {
		t.Errorf("in the kernel: %q", got)
	}
	m := ParseFstab("# Device Mountpoint\n/dev/ada0p2 / ufs rw,noatime 1 1 # root\nshort line\ntmpfs /tmp tmpfs rw 0 0\n")
	if len(m) != 2 || m[0].Type != "ufs" || m[0].Point != "/" || m[1].Type != "tmpfs" {
		t.Errorf("%+v", m)
	}
	if got := ParseKernelConfig("options\tINET6,VIMAGE\nmaxusers 64\n# options NO\ndevice em\noptions HZ=1000 # x\n"); !slices.Equal(got, []string{"HZ=1000", "INET6", "VIMAGE", "maxusers=64"}) {
		t.Errorf("%q", got)
	}
	for text, want := range map[string][]int{"irq 265 mask: 0, 1, 2\n": {0, 1, 2}, "irq 1 mask: 3": {3}, "irq 1 mask: ": nil, "cpuset: getaffinity: No such file": nil, "irq 1 mask: 0, x": nil} {
		if got, ok := ParseCPUSet(text); !slices.Equal(got, want) || ok != (want != nil) {
			t.Errorf("%q: %v, %v", text, got, ok)
		}
	}
}

// TestPCIDevices: PCIe links with their current and maximum speed and width.
func TestPCIDevices(t *testing.T) {
	got := ParsePciconf("ix0@pci0:1:0:0:\tclass=0x020000 rev=0x01 hdr=0x00 vendor=0x8086 device=0x10fb subvendor=0x8086 subdevice=0x0003\n    vendor     = 'Intel Corporation'\n    device     = '82599ES'\n    cap 10[a0] = PCI-Express 2 endpoint max data 256(512) FLR NS\n                 link x4(x8) speed 5.0(8.0) ASPM disabled(L0s)\n" +
		"em0@pci0:0:25:0:\tclass=0x020000 card=0x00008086 chip=0x10d38086 rev=0x00 hdr=0x00\nbad@pci0:0:1:0: chip=0x1\n")
	want := map[string]fact.PCI{
		"ix0": {Device: "82599ES", LinkWidth: 4, MaxLinkWidth: 8, LinkSpeed: 5, MaxLinkSpeed: 8},
		"em0": {},
		"bad": {},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	f := &fact.Facts{NICs: []fact.NIC{{Name: "vtnet0", Driver: "vtnet"}, {Name: "ix0", Driver: "ix"}, {Name: "lo0"}}}
	AddPCI(f, map[string]fact.PCI{"virtio_pci1": {Device: "virtio"}, "vtnet0": {Device: "wrong"}, "ix0": {Device: "82599ES"}}, Values{Value: map[string]string{"dev.vtnet.0.%parent": "virtio_pci1", "dev.ix.0.%parent": "pci1"}})
	if f.NICs[0].PCI == nil || f.NICs[0].PCI.Device != "virtio" || f.NICs[1].PCI == nil || f.NICs[1].PCI.Device != "82599ES" || f.NICs[2].PCI != nil {
		t.Errorf("%+v", f.NICs)
	}
}

// TestMachineDomains: CPUs and memory of NUMA domains; implausible numbers of domains are ignored.
func TestMachineDomains(t *testing.T) {
	var f fact.Facts
	AddMachine(&f, Values{Value: map[string]string{
		"vm.ndomains": "2", "dev.cpu.0.%domain": "0", "dev.cpu.3.%domain": "1", "dev.cpu.2.%domain": "1", "dev.cpu.4.%domain": "7", "hw.pagesize": "4096", "vm.stats.vm.v_free_count": "10", "hw.ncpu": "4", "hw.machine": "arm64",
		"vm.phys_segs": "\nSEGMENT 0:\n\nstart:     0x1000\nend:       0x3000\ndomain:    0\nSEGMENT 1:\nstart:     0x10000\nend:       0x11000\ndomain:    1\nSEGMENT 2:\nstart: 0x9\nend: 0x1\ndomain: 1\nSEGMENT 3:\nstart: 0x0\nend: 0xff\ndomain: 9\n",
		"vm.pmap.pti":  "1", "hw.clockrate": "2400",
	}})
	want := []fact.Domain{{ID: 0, CPUs: []int{0}, MemoryBytes: 0x2000}, {ID: 1, CPUs: []int{2, 3}, MemoryBytes: 0x1000}}
	if d := cmp.Diff(want, f.CPU.Domains); d != "" || f.Memory.Free != 40960 || f.Arch != "arm64" || f.CPU.MHz != 2400 || !maps.Equal(f.CPU.Mitigations, map[string]string{"vm.pmap.pti": "1"}) {
		t.Errorf("%+v (-want +got)\n%s", f.CPU, d)
	}
	for _, n := range []string{"0", "-1", "257", "x"} {
		if got := domains(Values{Value: map[string]string{"vm.ndomains": n}}); got != nil {
			t.Errorf("%s domains: %v", n, got)
		}
	}
}

// TestNetstatI: a device that is down or has no address counts like the others, and its addresses not again.
func TestNetstatI(t *testing.T) {
	var f fact.Facts
	AddNetstatI(&f, "Name    Mtu Network       Address              Ipkts Ierrs Idrop     Ibytes    Opkts Oerrs     Obytes  Coll   Drop\n"+
		"lo0   16384 <Link#1>      lo0                      0     0     0          0        0     0          0     0      0\n"+
		"lo0       - 127.0.0.0/8   127.0.0.1                0     -     -          0        0     -          0     -      -\n"+
		"dut0   1500 <Link#4>      02:00:00:00:00:02    10015     0     3     600900       17     0       1020     0      0\n"+
		"dut0      - 198.18.0.0/16 198.18.255.254           0     -     -          0        0     -          0     -      -\n"+
		"dut1*  1500 <Link#5>                              12     0     0        720     9998     0     599880     0     14\n")
	f.Normalise()
	for name, want := range map[string]uint64{"dut0.input_packets": 10015, "dut0.input_drops": 3, "dut0.output_packets": 17, "dut1.input_packets": 12, "dut1.output_packets": 9998, "dut1.output_drops": 14} {
		if c, _ := f.Counter("nic." + name); c.Value != want {
			t.Errorf("%s: %d, want %d", name, c.Value, want)
		}
	}
}
