package knob

import (
	"testing"

	"linerate/internal/setting"
)

func TestSame(t *testing.T) {
	for _, c := range []struct {
		m          setting.Mechanism
		name, want string
		got        string
		same       bool
	}{
		{setting.Sysctl, "net.ipv4.tcp_rmem", "4096 1 2", "4096\t1\t2", true},
		{setting.Sysctl, "net.ipv4.tcp_rmem", "4096 1 2", "4096 1", false},
		{setting.Sysctl, "net.ipv4.tcp_rmem", "4096 1 2", "4096 1 3", false},
		{setting.Sysctl, "net.core.somaxconn", "0x1000", "4096", true},
		{setting.Sysctl, "net.core.somaxconn", "010", "8", true},
		{setting.Sysctl, "net.core.somaxconn", "4096", "4097", false},
		{setting.Sysctl, "net.core.default_qdisc", "fq", "fq_codel", false},
		{setting.Sysctl, "net.ipv4.icmp_ratelimit", "1", "4", true},     // HZ=250
		{setting.Sysctl, "net.ipv4.icmp_ratelimit", "1", "10", true},    // HZ=100
		{setting.Sysctl, "net.ipv4.icmp_ratelimit", "0", "4", false},    // 0 is off
		{setting.Sysctl, "net.ipv4.icmp_ratelimit", "100", "96", false}, // never rounded down
		{setting.RFS, "rx-0", "100", "128", true},
		{setting.RFS, "rx-0", "100", "256", false},
		{setting.RPS, "rx-0", "f", "00000000,0000000f", true},
		{setting.RPS, "rx-0", "1,0", "00000001,00000000", true},
		{setting.RPS, "rx-0", "f", "0000000e", false},
		{setting.IRQ, "30", "0-3", "0,1,2,3", true},
		{setting.IRQ, "30", "0-3", "0-2", false},
		{setting.NAPI, "threaded", "on", "1", true},
		{setting.NAPI, "threaded", "off", "1", false},
	} {
		if got := Same(Key{Mechanism: c.m, Name: c.name}, c.want, c.got); got != c.same {
			t.Errorf("Same(%s %s, %q, %q) = %v", c.m, c.name, c.want, c.got, got)
		}
	}
}

func TestOrder(t *testing.T) {
	keys := []Key{
		{setting.IRQ, "", "30"}, {setting.Sysctl, "", "net.ipv4.conf.eth0.forwarding"}, {setting.Sysctl, "", "net.core.rmem_max"},
		{setting.Sysctl, "", "net.ipv4.ip_forward"}, {setting.RPS, "eth0", "rx-0"}, {setting.Channels, "eth0", "combined"}, {setting.Module, "", "tcp_bbr"},
	}
	want := []string{"tcp_bbr", "combined", "net.ipv4.ip_forward", "net.core.rmem_max", "net.ipv4.conf.eth0.forwarding", "rx-0", "30"}
	for i, k := range Order(keys) {
		if k.Name != want[i] {
			t.Errorf("%d is %s, want %s", i, k.Name, want[i])
		}
	}
}

func TestPutBack(t *testing.T) {
	for name, other := range exclusive {
		if exclusive[other] != name || sysctlCompanions[name] != other {
			t.Errorf("%s and %s are no pair, or not each other's companions", name, other)
		}
	}
	ratio := Key{Mechanism: setting.Sysctl, Name: "vm.dirty_ratio"}
	bytes, forward := Key{Mechanism: setting.Sysctl, Name: "vm.dirty_bytes"}, Key{Mechanism: setting.Sysctl, Name: "net.ipv4.ip_forward"}
	for name, c := range map[string]struct {
		k      Key
		before map[Key]string
		writes bool
	}{
		"a ratio":                           {ratio, map[Key]string{ratio: "20", bytes: "0"}, true},
		"bytes that come with the ratio":    {bytes, map[Key]string{ratio: "20", bytes: "0"}, false},
		"a ratio that comes with the bytes": {ratio, map[Key]string{ratio: "0", bytes: "9000"}, false},
		"a ratio of 0":                      {ratio, map[Key]string{ratio: "0", bytes: "0"}, true},
		"bytes beside it":                   {bytes, map[Key]string{ratio: "0", bytes: "0"}, false},
		"another 0":                         {forward, map[Key]string{forward: "0"}, true},
	} {
		if got := PutBack(c.k, c.before); got != c.writes {
			t.Errorf("%s is written back: %v", name, got)
		}
	}
	for both, refused := range map[string]bool{"0": true, "20": false} {
		if why := NoReturn(bytes, map[Key]string{ratio: both, bytes: "0"}); (why != "") != refused {
			t.Errorf("bytes beside a ratio of %s: %q", both, why)
		}
	}
	if NotWritable("freebsd", Key{Mechanism: setting.Sysctl, Name: "net.inet.ip.random_id_period"}, "0") == "" {
		t.Error("net.inet.ip.random_id_period=0 cannot be written back")
	}
}

// TestWhatASwitchNeeds: values that cannot be reverted, and values that could leave a host's switch without the
// resources to revert.
func TestWhatASwitchNeeds(t *testing.T) {
	for _, c := range []struct {
		name, now, value string
		locks, starves   bool
	}{
		{"kernel.threads-max", "190000", "5", false, true},
		{"kernel.threads-max", "190000", "200000", false, false},
		{"vm.max_map_count", "65530", "1", false, true},
		{"vm.overcommit_memory", "0", "2", false, true},
		{"vm.overcommit_memory", "0", "1", false, false},
		{"vm.overcommit_kbytes", "0", "1", false, true},
		{"vm.overcommit_ratio", "50", "60", false, false},
		{"vm.overcommit", "0", "1", false, true},
		{"kern.maxfiles", "1000", "999", false, true},
		{"kernel.yama.ptrace_scope", "1", "3", true, false},
		{"kernel.yama.ptrace_scope", "1", "2", false, false},
		{"kernel.unprivileged_bpf_disabled", "2", "1", true, false},
		{"net.ipv4.tcp_fin_timeout", "60", "1", false, false},
		{"vm.min_free_kbytes", "67584", "8000000", false, true},
		{"vm.min_free_kbytes", "67584", "262144", false, false},
		{"vm.nr_hugepages", "0", "512", false, true},
		{"vm.v_free_reserved", "1000", "500000", false, true},
	} {
		k := Key{Mechanism: setting.Sysctl, Name: c.name}
		if locks, starves := Lossy("linux", k, c.value) != "", Starves(k, c.value, c.now) != ""; locks != c.locks || starves != c.starves {
			t.Errorf("%s %s → %s: locks %v, starves %v", c.name, c.now, c.value, locks, starves)
		}
	}
}
