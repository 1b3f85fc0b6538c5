package tunable_test

import (
	"slices"
	"testing"

	"linerate/catalogue"
	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/hint"
	"linerate/internal/tunable"
)

func TestFolded(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"dev.igb.0.fc", "dev.igb.N.fc"},
		{"dev.igb.12.iflib.rx_budget", "dev.igb.N.iflib.rx_budget"},
		{"dev.ix.0.queue3.interrupt_rate", "dev.ix.N.queueN.interrupt_rate"},
		{"dev.cpu.0.cx_lowest", "dev.cpu.N.cx_lowest"},
		{"hint.uart.0.port", "hint.uart.N.port"},
		{"net.inet.tcp.rfc1323", "net.inet.tcp.rfc1323"},
		{"kern.elf64.allow_wx", "kern.elf64.allow_wx"},
		{"ifconfig_em0", "ifconfig_IF"},
		{"ifconfig_igb1_ipv6", "ifconfig_IF_ipv6"},
		{"ifconfig_em0_100", "ifconfig_IF"},
		{"ifconfig_em0_100_ipv6", "ifconfig_IF_ipv6"},
		{"create_args_wlan0", "create_args_IF"},
		{"ifconfig_", "ifconfig_"},
		{"wlans_ath0", "wlans_IF"},
		{"net.ipv4.conf.eth0.rp_filter", "net.ipv4.conf.IF.rp_filter"},
		{"net.ipv4.conf.eth0/100.rp_filter", "net.ipv4.conf.IF.rp_filter"},
		{"net.ipv4.conf.eth0.100.rp_filter", "net.ipv4.conf.IF.rp_filter"},
		{"net/ipv4/conf/eth0.100/rp_filter", "net.ipv4.conf.IF.rp_filter"},
		{"/proc/sys/net/ipv6/neigh/eth0/gc_stale_time", "net.ipv6.neigh.IF.gc_stale_time"},
		{"net.ipv4.conf.*.rp_filter", "net.ipv4.conf.IF.rp_filter"},
		{"net/ipv4/tcp_rmem", "net.ipv4.tcp_rmem"},
		{"vm/swappiness", "vm.swappiness"},
		{"net.ipv4.tcp_rmem", "net.ipv4.tcp_rmem"},
		{"/sys/class/net/eth0/queues/rx-11/rps_cpus", "/sys/class/net/IF/queues/rx-N/rps_cpus"},
		{"/sys/class/net/br0/bridge/multicast_snooping", "/sys/class/net/BR/bridge/multicast_snooping"},
		{"/proc/irq/24/smp_affinity_list", "/proc/irq/N/smp_affinity_list"},
		{"/proc/irq/default_smp_affinity", "/proc/irq/default_smp_affinity"},
	} {
		names := tunable.Folded(c.name)
		if got := names[len(names)-1]; got != c.want {
			t.Errorf("Folded(%q) ends in %q, want %q", c.name, got, c.want)
		}
	}
}

// TestGuide: every name in the guide that FreeBSD ever had is found, whatever the numbers of its
// devices.
func TestGuide(t *testing.T) {
	c := load(t)
	for _, name := range []string{"dev.igb.0.fc", "dev.igb.1.rx_processing_limit", "ifconfig_igb1_ipv6", "if_carp_load", "kern.random.yarrow.bins", "vfs.zfs.trim.txg_delay", "postgrey_flags"} {
		if _, ok := c.Lookup(tunable.FreeBSD, name); !ok {
			t.Errorf("no record of %s", name)
		}
	}
	_, err := c.Find(tunable.FreeBSD, "net.inet.tcp.mssdftl")
	if !hint.IsUsage(err) || hint.Of(err) == "" {
		t.Errorf("a typo gives %v, hint %q", err, hint.Of(err))
	}
}

func load(t *testing.T) *tunable.Catalogue {
	t.Helper()
	c, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestStates: what the records say about releases that differ.
func TestStates(t *testing.T) {
	c := load(t)
	for _, x := range []struct {
		name, release string
		exists        bool
		settable      tunable.Settable
		def           string
	}{
		{"net.inet.tcp.rfc6675_pipe", "13.5", true, tunable.Runtime, "0"},
		{"net.inet.tcp.rfc6675_pipe", "14.0", false, tunable.Runtime, "0"},
		{"net.inet.tcp.delacktime", "11.4", true, tunable.Runtime, "100"},
		{"net.inet.tcp.delacktime", "12.4", true, tunable.Runtime, "40"},
		{"net.inet.tcp.recvbuf_max", "14.3", true, tunable.Runtime, "2097152"},
		{"net.inet.tcp.recvbuf_max", "15.0", true, tunable.Runtime, "8388608"},
		{"net.inet.tcp.nolocaltimewait", "13.5", true, tunable.Runtime, "0"},
		{"net.inet.tcp.nolocaltimewait", "14.3", true, tunable.Runtime, "1"},
		{"net.inet.tcp.nolocaltimewait", "15.0", true, tunable.Runtime, "0"},
		{"dev.igb.N.dmac", "11.4", true, tunable.Runtime, "0"},
		{"dev.igb.N.dmac", "13.5", false, tunable.Runtime, "0"},
		{"dev.igb.N.dmac", "14.3", true, tunable.Runtime, "0"},
		{"vfs.zfs.l2arc_write_max", "12.4", true, tunable.BootRuntime, "8388608"},
		{"vfs.zfs.l2arc_write_max", "13.5", true, tunable.Runtime, "8388608"},
		{"vfs.zfs.l2arc_write_max", "14.3", true, tunable.BootRuntime, "33554432"},
		{"hw.intr_storm_threshold", "12.4", true, tunable.BootRuntime, "1000"},
		{"hw.intr_storm_threshold", "13.5", true, tunable.BootRuntime, "0"},
	} {
		r, ok := c.Lookup(tunable.FreeBSD, x.name)
		if !ok {
			t.Errorf("no record of %s", x.name)
			continue
		}
		s := r.At(release.MustParse(x.release))
		if s.Exists != x.exists || s.Settable != x.settable || s.Default == nil || *s.Default != x.def {
			t.Errorf("%s on %s: exists %v, %s, default %v", x.name, x.release, s.Exists, s.Settable, s.Default)
		}
	}
}

// TestFormulaNeedsFacts: a formula over an unknown fact has no value.
func TestFormulaNeedsFacts(t *testing.T) {
	c := load(t)
	r, _ := c.Lookup(tunable.FreeBSD, "kern.ipc.nmbclusters")
	f := &fact.Facts{OS: fact.FreeBSD, Release: release.MustParse("14.3")}
	if v, ok := c.Default(r, f); ok {
		t.Errorf("without memory the default is %q", v)
	}
	f.Memory = fact.Memory{Physical: 2128044032, PageSize: 4096, KernelMap: 2073186304}
	if v, ok := c.Default(r, f); !ok || v != "126537" {
		t.Errorf("with 2 GiB the default is %q, %v; a real host says 126537", v, ok)
	}
	// A formula over another tunable's default: tcbhashsize over maxsockets.
	r, _ = c.Lookup(tunable.FreeBSD, "net.inet.tcp.tcbhashsize")
	if v, ok := c.Default(r, f); !ok || v != "16384" {
		t.Errorf("tcbhashsize is %q, %v; a real host says 16384", v, ok)
	}
}

func TestHarvest(t *testing.T) {
	// Masks of the guide, by names: FreeBSD 13's 33119 includes RDRAND, 14's does not.
	for _, c := range []struct {
		release string
		mask    uint32
		has     []string
		lacks   []string
	}{
		{"12.4", 65887, []string{"PURE_RDRAND", "SWI"}, []string{"INTERRUPT", "NET_ETHER"}},
		{"13.5", 33119, []string{"PURE_RDRAND", "SWI"}, []string{"INTERRUPT", "NET_ETHER"}},
		{"14.3", 33119, []string{"PURE_HIFN"}, []string{"PURE_RDRAND"}},
		{"15.0", 33119, []string{"PURE_RDSEED"}, []string{"PURE_RDRAND"}},
	} {
		rel := release.MustParse(c.release)
		all, err := tunable.DecodeHarvest(rel, c.mask)
		if err != nil {
			t.Errorf("%s %d: %v", c.release, c.mask, err)
			continue
		}
		var on []string
		for _, s := range all {
			if s.On {
				on = append(on, s.Name)
			}
		}
		for _, n := range c.has {
			if !slices.Contains(on, n) {
				t.Errorf("%s: %d lacks %s", c.release, c.mask, n)
			}
		}
		for _, n := range c.lacks {
			if slices.Contains(on, n) {
				t.Errorf("%s: %d has %s", c.release, c.mask, n)
			}
		}
		back := uint32(0)
		for _, s := range all {
			if s.On {
				back |= 1 << s.Bit
			}
		}
		if back != c.mask {
			t.Errorf("%s: its sources are those of %d; was %d", c.release, back, c.mask)
		}
	}
	if _, err := tunable.DecodeHarvest(release.MustParse("13.5"), 1<<31); err == nil {
		t.Error("a bit beyond the sources was accepted")
	}
	for rel, want := range map[string]uint32{"11.4": 511, "12.4": 511, "13.5": 479, "14.3": 479, "15.0": 4575} {
		if got := tunable.HarvestDefault(release.MustParse(rel)); got != want {
			t.Errorf("default of %s is %d, want %d", rel, got, want)
		}
	}
}
