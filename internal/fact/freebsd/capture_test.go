package freebsd

import (
	"os"
	"path/filepath"
	"testing"

	"linerate/internal/fact"
	"linerate/internal/sharedtest"
)

// shared reads one file of the captures of a real FreeBSD 14.
func shared(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(sharedtest.Dir(t, "data", "freebsd-14.0"), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestRealSysctl(t *testing.T) {
	types := ParseTypes(shared(t, "02-modules.sysctl-at.txt"))
	text := shared(t, "02-modules.sysctl-a.txt")
	with, without := ParseValues(text, types), ParseValues(text, nil)
	if len(with.Names) < 5500 {
		t.Errorf("%d values", len(with.Names))
	}
	for _, name := range with.Names {
		if types[name] == "" {
			t.Errorf("%s has a value but no type", name)
		}
		if without.Value[name] != with.Value[name] {
			t.Errorf("%s: %q with types, %q without", name, with.Value[name], without.Value[name])
		}
	}
	for _, name := range without.Names {
		if types[name] == "" {
			t.Errorf("%s is no setting: %q", name, without.Value[name])
		}
	}
	boot, runtime := ParseNames(shared(t, "02-modules.sysctl-aNT.txt")), ParseNames(shared(t, "02-modules.sysctl-aNW.txt"))
	var f fact.Facts
	AddValues(&f, with, types, boot, runtime)
	AddMachine(&f, with)
	f.Normalise()
	s, _ := f.Tunable("net.link.ifqmaxlen")
	if s.Access == nil || !s.Access.Boot || s.Access.Runtime || s.Live == nil || *s.Live != "50" {
		t.Errorf("net.link.ifqmaxlen: %+v", s)
	}
	s, _ = f.Tunable("net.inet.tcp.cc.available")
	if s.Live == nil || *s.Live != "\nCCmod           D PCB count\ncubic           * 0\nhtcp              0\ndctcp             0" {
		t.Errorf("a value of many lines: %q", *s.Live)
	}
	if f.CPU.Count != 2 || f.CPU.Cores != 2 || f.CPU.MHz != 2597 || f.Memory.Physical != 2128044032 || f.Arch != "amd64" || f.KernelIdent != "LR" || f.Hypervisor != "generic" {
		t.Errorf("%+v %+v", f.CPU, f.Memory)
	}
	if len(f.CPU.Domains) != 1 || f.CPU.Domains[0].MemoryBytes < 2<<30-64<<20 {
		t.Errorf("domains %+v", f.CPU.Domains)
	}
}

func TestRealInterfaces(t *testing.T) {
	f := fact.Facts{NICs: ParseIfconfig(shared(t, "02-modules.ifconfig-v.txt"))}
	v := ParseValues(shared(t, "02-modules.sysctl-a.txt"), nil)
	AddPCI(&f, ParsePciconf(shared(t, "pciconf.txt")), v)
	AddDmesg(&f, shared(t, "dmesg.txt"))
	AddNICValues(&f, v)
	if len(f.NICs) != 4 {
		t.Fatalf("%d interfaces", len(f.NICs))
	}
	em := f.NICs[0]
	if em.Driver != "em" || em.RXQueues != 2 || em.TXQueues != 2 || em.RXDescriptors != 1024 || em.TXDescriptors != 1024 ||
		em.SpeedBits != 1e9 || !em.Has("LRO") || em.Has("TSO4") || em.MTU != 1500 || em.IPv4 != 1 || em.IPv6 != 1 {
		t.Errorf("em0 %+v", em)
	}
	if em.PCI == nil || em.PCI.Device != "82574L Gigabit Network Connection" || em.PCI.LinkWidth != 1 || em.PCI.LinkSpeed != 2.5 {
		t.Errorf("em0 %+v", em.PCI)
	}
	vt := f.NICs[1]
	if vt.RXQueues != 1 || vt.SpeedBits != 10e9 || vt.PCI == nil {
		t.Errorf("vtnet0 %+v %+v", vt, vt.PCI)
	}
	if f.NICs[2].Kind != fact.KindLoopback || f.NICs[3].Kind != fact.KindFirewall || *f.NICs[3].Up {
		t.Errorf("%+v", f.NICs[2:])
	}
	if f.CPU.Packages != 1 || len(f.CPU.Features) < 60 {
		t.Errorf("%+v", f.CPU)
	}
	AddComplaints(&f, shared(t, "dmesg.txt"))
	if len(f.Complaints) != 0 {
		t.Errorf("a healthy boot has complaints: %+v", f.Complaints)
	}
}

func TestRealCounters(t *testing.T) {
	var f fact.Facts
	AddNetstatM(&f, shared(t, "01-default.netstat-m.txt"))
	AddNetstatQ(&f, shared(t, "01-default.netstat-Q.txt"))
	AddNetstatI(&f, shared(t, "02-modules.netstat-i.txt"))
	AddNetstatS(&f, shared(t, "02-modules.netstat-s.txt"))
	AddVmstatZ(&f, shared(t, "02-modules.vmstat-z.txt"))
	var pf fact.PF
	AddPFStatus(&f, &pf, shared(t, "pfctl-si.txt"))
	AddPFLimits(&pf, shared(t, "pfctl-sm.txt"))
	f.Normalise()
	for name, want := range map[string]uint64{
		"mbuf.clusters.max": 126537, "mbuf.denied.packets": 0, "mbuf.mbufs.current": 526, "mbuf.denied.jumbo16k": 0,
		"netisr.threads": 1, "netisr.ip.queue_limit": 256, "netisr.ip6.queue_drops": 0,
		"nic.em0.output_packets": 3, "nic.em0.input_drops": 0, "nic.pflog0.output_errors": 0,
		"tcp.listen_overflows": 0, "tcp.syncache.bucket_overflows": 0, "tcp.hostcache.bucket_overflows": 0,
		"ip6.sent": 6, "udp.full_sockets": 0, "ip.forwarded": 0, "tcp.retransmitted_packets": 0, "arp.no_entry": 0,
		"pf.counter.state_limit": 0, "pf.states.current_entries": 0, "zone.pf_states.limit": 100000,
	} {
		c, ok := f.Counter(name)
		if !ok || c.Value != want {
			t.Errorf("%s = %d, %v; want %d", name, c.Value, ok, want)
		}
	}
	if *pf.Enabled || len(pf.Limits) != 4 || pf.Limits[0].Value != 100000 {
		t.Errorf("pf %+v", pf)
	}
	irq := ParseVmstatI(shared(t, "02-modules.vmstat-i.txt"))
	if len(irq) != 11 || irq[4].Device != "em0" || irq[4].Queue != "rxq0" || irq[4].Rate != 900 || irq[0].Device != "atkbd0" || *irq[2].CPU != 0 {
		t.Errorf("%+v", irq)
	}
	if mods := ParseKldstat(shared(t, "02-modules.kldstat.txt")); len(mods) != 16 || mods[1] != "pf" {
		t.Errorf("%q", mods)
	}
	if m := ParseMount(shared(t, "mount.txt")); len(m) != 2 || m[0].Type != "ufs" || m[0].Point != "/" {
		t.Errorf("%+v", m)
	}
	var fw fact.IPFW
	AddIPFWList(&fw, shared(t, "ipfw-list.txt"))
	if fw.Rules != 0 || !*fw.Enabled {
		t.Errorf("%+v", fw)
	}
}

func TestRealConfiguration(t *testing.T) {
	files := tree{"/boot/loader.conf": shared(t, "loader.conf.txt"), "/etc/sysctl.conf": shared(t, "sysctl.conf.txt"), "/etc/rc.conf": shared(t, "rc.conf.txt")}
	if c := ReadSysctlConf(files); len(c.Lines) != 4 || c.Lines[2].Name != "net.link.ifqmaxlen" || c.Lines[2].Number != 4 {
		t.Errorf("%+v", c.Lines) // the system reports "line 4" too
	}
	if c := ReadRC(files); len(c.Lines) != 11 || len(c.Problems) != 0 {
		t.Errorf("%d lines, %+v", len(c.Lines), c.Problems)
	}
}
