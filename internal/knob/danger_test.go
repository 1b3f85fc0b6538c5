package knob

import (
	"math/rand/v2"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"linerate/internal/setting"
)

// TestCuts: changes that may cut off a user who came over the network, and similar harmless ones.
func TestCuts(t *testing.T) {
	for _, c := range []struct {
		k                 Key
		value, management string
		cuts              bool
	}{
		{Key{setting.Route, "", "default"}, "via 192.0.2.1", "eth0", true},
		{Key{setting.Route, "eth1", "198.18.0.0/15"}, "absent", "", true},
		{Key{setting.NFT, "", "filter/input"}, "drop", "", true},
		{Key{setting.NFT, "", "filter/input"}, "accept", "eth0", false},
		{Key{setting.Link, "eth0", "state"}, "down", "eth0", true},
		{Key{setting.Link, "eth1", "state"}, "down", "", true},
		{Key{setting.Link, "eth1", "state"}, "down", "eth0", false},
		{Key{setting.Link, "eth0", "state"}, "up", "eth0", false},
		{Key{setting.Link, "eth0", "mtu"}, "9000", "eth0", true},
		{Key{setting.Link, "eth0", "mtu"}, "9000", "", false},
		{Key{setting.Link, "eth1", "mtu"}, "9000", "eth0", false},
		{Key{setting.Sysctl, "", "net.ipv4.ip_forward"}, "1", "eth0", false},
		{Key{setting.Offload, "eth0", "state"}, "down", "eth0", false},
	} {
		if why := Cuts(c.k, c.value, c.management); (why != "") != c.cuts {
			t.Errorf("%+v to %s, management %q: %q", c.k, c.value, c.management, why)
		}
	}
}

// TestLossy: what a write destroys in addition to the value, by system and value.
func TestLossy(t *testing.T) {
	for _, c := range []struct {
		os    string
		k     Key
		value string
		lossy bool
	}{
		{"linux", Key{setting.Link, "eth0", "mtu"}, "1279", true},
		{"linux", Key{setting.Link, "eth0", "mtu"}, "1280", false},
		{"linux", Key{setting.Sysctl, "", "net.ipv6.conf.eth0.disable_ipv6"}, "1", true},
		{"linux", Key{setting.Sysctl, "", "net.ipv6.conf.eth0.disable_ipv6"}, "0", false},
		{"linux", Key{setting.Sysctl, "", "kernel.modules_disabled"}, "1", true},
		{"linux", Key{setting.Sysctl, "", "kernel.modules_disabled"}, "0", false},
		{"linux", Key{setting.Sysctl, "", "net.core.somaxconn"}, "1", false},
	} {
		if why := Lossy(c.os, c.k, c.value); (why != "") != c.lossy {
			t.Errorf("%s, %+v = %s: %q", c.os, c.k, c.value, why)
		}
	}
	period := Key{Mechanism: setting.Sysctl, Name: "net.inet.ip.random_id_period"}
	if NotWritable("linux", period, "0") != "" || NotWritable("freebsd", period, "8192") != "" || NotWritable("freebsd", Key{Mechanism: setting.Loader, Name: period.Name}, "0") != "" {
		t.Error("what can be written cannot")
	}
}

// TestStarves considers only sysctls with a single number, and reports nothing that it cannot determine.
func TestStarves(t *testing.T) {
	k := Key{Mechanism: setting.Sysctl, Name: "fs.file-max"}
	if Starves(k, "99", "100") == "" || Starves(k, "100", "100") != "" || Starves(k, "101", "100") != "" {
		t.Error("a limit of files: lower starves, equal and higher do not")
	}
	if Starves(k, "many", "100") != "" || Starves(k, "1 2", "100") != "" || Starves(k, "1", "") != "" || Starves(Key{Mechanism: setting.Loader, Name: k.Name}, "1", "100") != "" {
		t.Error("what is no number of a sysctl starves")
	}
	free := Key{Mechanism: setting.Sysctl, Name: "vm.min_free_kbytes"}
	if Starves(free, "400", "100") != "" || Starves(free, "401", "100") == "" || Starves(free, "1", "100") != "" {
		t.Error("memory held back: four times as much may be, less always")
	}
	for _, name := range slices.Concat(needed, reserving) { // FreeBSD's and Linux' names do not mix
		if strings.ContainsAny(name, "/ ") {
			t.Errorf("%q is no name of a sysctl", name)
		}
	}
}

// TestSameIsReflexive: a value is the same as itself in any notation, so a read-back is never taken for another
// value.
func TestSameIsReflexive(t *testing.T) {
	mechanisms := []setting.Mechanism{setting.Sysctl, setting.RPS, setting.XPS, setting.RFS, setting.IRQ, setting.NAPI, setting.Route, setting.Offload, setting.Link, setting.PFLimit}
	r := rand.New(rand.NewPCG(1, 2))
	for _, m := range mechanisms {
		k := Key{Mechanism: m, Name: "x"}
		for range 200 {
			n := r.Uint64N(1 << (1 + r.IntN(40)))
			dec := strconv.FormatUint(n, 10)
			if !Same(k, dec, " "+dec+"\n") || m == setting.Sysctl && !Same(k, "0x"+strconv.FormatUint(n, 16), dec) {
				t.Fatalf("%s: %s is not itself", m, dec)
			}
			if other := strconv.FormatUint(n+1+r.Uint64N(1000), 10); m == setting.Sysctl && Same(k, dec, other) {
				t.Fatalf("%s: %s is the same as %s", m, dec, other)
			}
		}
	}
	for _, c := range []struct {
		m         setting.Mechanism
		want, got string
		same      bool
	}{
		{setting.Sysctl, "-1", "-1", true}, {setting.Sysctl, "1", "", false}, {setting.Sysctl, "", "", true}, {setting.Sysctl, "1 2", "2 1", false},
		{setting.Route, "absent", "absent", true}, {setting.Route, "absent", "absent metric 1", false}, {setting.Route, "via 192.0.2.1", "via 192.0.2.1 metric 100", true}, {setting.Route, "via 192.0.2.1", "via 192.0.2.10", false},
		{setting.RPS, "0", "00000000,00000000", true}, {setting.RPS, "10", "1,0", false}, {setting.RPS, "100000000", "1,0", true}, {setting.RPS, "0xF", "f", true},
		{setting.IRQ, "0-2,5", "0,1,2,5", true}, {setting.IRQ, "x", "x", true}, {setting.IRQ, "x", "y", false}, {setting.IRQ, "3-1", "1-3", false},
		{setting.NAPI, "1", "1", true}, {setting.NAPI, "on", "0", false},
	} {
		if got := Same(Key{Mechanism: c.m, Name: "threaded"}, c.want, c.got); got != c.same {
			t.Errorf("%s: %q and %q are the same: %v", c.m, c.want, c.got, got)
		}
	}
	buckets := Key{Mechanism: setting.Sysctl, Name: "net.netfilter.nf_conntrack_buckets"}
	for want, got := range map[string]string{"1": "1", "3": "4", "1024": "1024", "1025": "2048"} {
		if !Same(buckets, want, got) {
			t.Errorf("%s buckets are not %s", want, got)
		}
	}
}

// TestCPULists: lists are bounded, so a range from a file cannot make a list of millions.
func TestCPULists(t *testing.T) {
	for in, want := range map[string]string{"0": "0", "0-3": "0,1,2,3", "7,1-2": "7,1,2", "": "", "a": "", "-1": "", "5-3": "", "0-99999999": "", "1-": "", "8191": "8191", "8192": ""} {
		if got := cpuList(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

// TestCompanionsOf: what a setting changes with it is put back with it: patterns that match a name,
// and never the setting's own alone.
func TestCompanionsOf(t *testing.T) {
	for name, with := range sysctlCompanions {
		for _, pattern := range strings.Fields(with) {
			if _, err := path.Match(pattern, name); err != nil || pattern == name || strings.ContainsAny(pattern, " /") {
				t.Errorf("%s has the companion %q (%v)", name, pattern, err)
			}
		}
	}
	for _, c := range []struct {
		k    Key
		want []string
	}{
		{Key{setting.Sysctl, "", "net.ipv4.ip_forward"}, []string{"sysctl  net.ipv4.conf.*.forwarding", "sysctl  net.ipv4.conf.all.accept_redirects"}},
		{Key{setting.Offload, "eth0", "gro"}, []string{"offload eth0 *"}},
		{Key{setting.Link, "eth0", "state"}, []string{"address eth0 *", "route eth0 *"}},
		{Key{setting.Link, "eth0", "mtu"}, nil},
		{Key{setting.PFLimit, "", "states"}, []string{"pf-timeout  adaptive.start", "pf-timeout  adaptive.end"}},
		{Key{setting.PFLimit, "", "frags"}, nil},
		{Key{setting.Channels, "eth0", "combined"}, []string{"rps eth0 *", "rfs eth0 *", "xps eth0 *"}},
		{Key{setting.Sysctl, "", "net.core.somaxconn"}, nil},
	} {
		var got []string
		for _, k := range Companions(c.k) {
			got = append(got, string(k.Mechanism)+" "+k.Device+" "+k.Name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.k, got, c.want)
		}
	}
	if AtRuntime(setting.Loader) || AtRuntime(setting.RC) || !AtRuntime(setting.Sysctl) || !AtRuntime(setting.PFLimit) {
		t.Error("what has a running value")
	}
}

// TestOrderIsSteady: settings of the same rank keep their order, and ordering is idempotent.
func TestOrderIsSteady(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		var keys []Key
		for i := range 20 {
			m := mechanismRank[r.IntN(len(mechanismRank))]
			name := []string{"net.ipv4.ip_forward", "net.ipv4.conf.all.x", "net.ipv4.conf.default.x", "net.core.x", "net.ipv4.conf.eth0.x"}[r.IntN(5)]
			keys = append(keys, Key{m, strconv.Itoa(i), name})
		}
		got := Order(keys)
		if len(got) != len(keys) || !slices.Equal(Order(got), got) {
			t.Fatalf("ordered twice: %v", got)
		}
		for i := 1; i < len(got); i++ {
			a, _ := strconv.Atoi(got[i-1].Device)
			b, _ := strconv.Atoi(got[i].Device)
			if rank(got[i-1]) > rank(got[i]) || rank(got[i-1]) == rank(got[i]) && a > b {
				t.Fatalf("%+v before %+v", got[i-1], got[i])
			}
		}
	}
}
