package factexpr

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"linerate/internal/fact"
	"linerate/internal/fact/release"
)

func pointer[T any](v T) *T { return &v }

// check evaluates expressions on a host.
func check(t *testing.T, what string, f *fact.Facts, want map[string]string) {
	t.Helper()
	f.Normalise()
	l, h := NewLanguage[Host](), Of(f)
	for code, want := range want {
		v, err := l.Value(code, &h)
		if err != nil || Show(v) != want {
			t.Errorf("%s: %s is %s, want %s (%v)", what, code, Show(v), want, err)
		}
	}
}

// TestNamesOfAHost: each name has its documented value, in base units.
func TestNamesOfAHost(t *testing.T) {
	live, governor := "5", "powersave"
	f := &fact.Facts{
		OS: fact.Linux, Arch: "x86_64", Release: release.MustParse("6.12.4"), Hypervisor: "kvm", Container: "lxc", UptimeSeconds: 50, Product: &fact.Product{Name: "openwrt"},
		CPU:    fact.CPU{Count: 3, Cores: 2, ThreadsPerCore: 2, Domains: make([]fact.Domain, 2), Governor: "powersave", IOMMU: "DMA", Idle: []fact.IdleState{{LatencyUS: 2}, {LatencyUS: 90}, {LatencyUS: 300, Disabled: true}}},
		Memory: fact.Memory{Physical: 1 << 30, Real: 2 << 30, KernelMap: 3 << 20, PageSize: 16384},
		Settings: []fact.Tunable{
			{Name: "net.ipv4.ip_forward", Namespace: fact.Kernel, Live: pointer("1")}, {Name: "x.live", Namespace: fact.Kernel, Live: &live},
			{Name: "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", Namespace: fact.Kernel, Live: &governor}, {Name: "/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", Namespace: fact.Kernel, Live: &governor},
			{Name: "/sys/devices/system/cpu/cpu3/cpufreq/scaling_governor", Namespace: fact.Kernel, Live: &governor},
		},
		Modules: []fact.Module{{Name: "tcp_bbr", InKernel: true}}, Mounts: []fact.Mount{{Type: "zfs"}}, Complaints: []fact.Complaint{{Text: "Out of memory"}},
		Services:  []fact.Service{{Name: "haproxy", Enabled: pointer(true), Details: []fact.Line{{Name: "maxconn", Value: "9"}}}, {Name: "docker", Enabled: pointer(true)}},
		Listeners: []fact.Listener{{Protocol: "tcp4", Port: 8443}, {Protocol: "udp4", Port: 53}},
		Counters:  []fact.Counter{{Name: "ip.forwarded", Value: 100}, {Name: "ip6.forwarded", Value: 20}, {Name: "ip.delivered", Value: 7}, {Name: "ip6.delivered", Value: 1}, {Name: "softnet.cpu0.dropped", Value: 4}, {Name: "softnet.cpu1.dropped", Value: 5}},
		Sources:   []fact.Source{{Name: "/proc/uptime", Status: fact.StatusRead}},
		Firewall:  fact.Firewall{NFT: &fact.NFT{Rules: 6, Tracking: pointer(true), Connections: pointer(uint64(8)), Max: pointer(uint64(16))}},
	}
	f.AddLines([]fact.Line{{Name: "y.file", Value: "7", Stage: fact.Sysctl, Effective: true}, {Name: "gateway_enable", Value: "YES", Stage: fact.RCConf, Effective: true}, {Name: "a/b", Value: "on", Stage: fact.Field, Effective: true}})
	check(t, "a host", f, map[string]string{
		"os": "linux", "arch": "x86_64", "major": "6", "minor": "12", "hypervisor": "kvm", "vm": "true", "tree": "false", "uptime": "50", "product": "openwrt", "container": "lxc",
		"cpus": "3", "cores": "2", "threads_per_core": "2", "domains": "2", "memory": "1073741824", "kmem": "3145728", "page": "16384", "pages": "65536",
		"governor": "powersave", "cpu_names": "cpu0, cpu2", "idle_latency": "90", "iommu": "DMA", "at_least(6, 12)": "true", "at_least(6, 13)": "false",
		"forwarding": "true", "forwarding_ipv4": "true", "forwarding_ipv6": "false", "forwarded": "120", "delivered": "8", "nft": "true", "nft_rules": "6", "conntrack_on": "true", "conntrack": "8", "conntrack_max": "16", "bridge_nf": "false",
		`field("a/b")`: "on", `field_is("a/b", "on")`: "true", `field_is("a/b", "off")`: "false", `is_set("y.file")`: "true", `is_set("x.live")`: "false", `rc("gateway_enable")`: "true", `rc_text("gateway_enable")`: "YES", `rc_text("x")`: "",
		`running("x.live")`: "5", `running("y.file")`: "", `module("tcp_bbr")`: "true", `module("x")`: "false", `service("docker")`: "true", `listens(8443)`: "true", `listens(53)`: "false", `listens_udp(53)`: "true",
		`serves("haproxy", 443, 8443)`: "true", `serves("haproxy", 443)`: "false", `mounted("zfs")`: "true", `details("haproxy", "maxconn")`: "9", "webserver": "true", "serves_web": "true", "container_host": "true",
		`counter("ip.forwarded")`: "100", `counter("x")`: "0", `has_counter("ip.forwarded")`: "true", `has_counter("x")`: "false", `sum_of("softnet.*.dropped")`: "9",
		`complained("memory")`: "true", `was_read("/proc/uptime")`: "true", `was_read("/etc/x")`: "false",
	})
	check(t, "nothing", &fact.Facts{}, map[string]string{
		"tree": "true", "page": "4096", "pages": "0", "vm": "false", "product": "", "cpu_names": "", "forwarding": "false", "conntrack": "0", "webserver": "false", "serves_web": "false", "pf_file": "false", `pf_limit_set("states")`: "false",
		`counter("x")`: "0", "link": "0", "ports": "0", `details("a", "b")`: "", "idle_latency": "0",
	})
	check(t, "a table without its limit", &fact.Facts{Firewall: fact.Firewall{NFT: &fact.NFT{Connections: pointer(uint64(8))}}}, map[string]string{"conntrack": "0", "conntrack_max": "0"})
	check(t, "more memory than a number holds", &fact.Facts{Memory: fact.Memory{Physical: math.MaxUint64}}, map[string]string{"memory": "9223372036854775807"})
}

// TestNamesOfFilters covers the names of pf and ipfw.
func TestNamesOfFilters(t *testing.T) {
	f := &fact.Facts{Firewall: fact.Firewall{
		PF: &fact.PF{Enabled: pointer(true), Rules: 1, SourceTracking: 2, Translations: 3, File: "/etc/pf.conf", States: pointer(uint64(9)),
			Scrub: []fact.Scrub{{MaxMSS: 1452}, {MaxMSS: 1400}, {MaxMSS: 1460}}, FileLimits: []fact.Limit{{Name: "states"}}},
		IPFW: &fact.IPFW{Configured: true, Rules: 4, Stateful: 5, NAT: 6, Pipes: 7}, IPF: true,
	}}
	check(t, "filters", f, map[string]string{
		"pf": "true", "pf_rules": "1", "pf_source_tracking": "2", "pf_nat": "3", "pf_file": "true", "pf_states": "9", "pf_max_mss": "1400", `pf_limit_set("states")`: "true", `pf_limit_set("frags")`: "false",
		"ipfw": "true", "ipfw_rules": "4", "ipfw_stateful": "5", "ipfw_nat": "6", "ipfw_pipes": "7", "ipf": "true", "nft": "false",
	})
}

// TestBlankNamesAreThoseOfNothing: every function exists for a host of which nothing is known, and
// returns a zero value; calling a nil function would panic.
func TestBlankNamesAreThoseOfNothing(t *testing.T) {
	var visit func(v reflect.Value)
	visit = func(v reflect.Value) {
		for i := range v.NumField() {
			field, value := v.Type().Field(i), v.Field(i)
			switch value.Kind() {
			case reflect.Struct:
				visit(value)
			case reflect.Func:
				if value.IsNil() {
					t.Errorf("function %s is nil", field.Name)
					continue
				}
				args := make([]reflect.Value, 0, value.Type().NumIn())
				for k := range value.Type().NumIn() - map[bool]int{true: 1, false: 0}[value.Type().IsVariadic()] {
					of := value.Type().In(k)
					if of.Kind() == reflect.Interface {
						args = append(args, reflect.ValueOf(0))
						continue
					}
					args = append(args, reflect.Zero(of))
				}
				if field.Name == "Reaches" || field.Name == "AtLeast" { // true for an unknown host: an address may exist, and 0.0 is at least 0.0
					continue
				}
				if out := value.Call(args)[0]; out.Kind() != reflect.Slice && !out.IsZero() || out.Kind() == reflect.Slice && out.Len() > 0 {
					t.Errorf("%s of an unknown host is %v", field.Name, out)
				}
			case reflect.Slice:
				if value.Len() > 0 {
					t.Errorf("%s of an unknown host is %v", field.Name, value)
				}
			}
		}
	}
	visit(reflect.ValueOf(Of(&fact.Facts{})))
}

// TestNamesOfInterfaces: ports only, their offloads, and the CPUs of their interrupts.
func TestNamesOfInterfaces(t *testing.T) {
	f := &fact.Facts{
		CPU: fact.CPU{Domains: []fact.Domain{{ID: 0, CPUs: []int{0, 1, 2, 3}}, {ID: 1, CPUs: []int{4, 5, 6, 7}}}},
		NICs: []fact.NIC{
			{Name: "lo0", Kind: fact.KindLoopback, IPv4: 1, IPv6: 1, CARP: true},
			{Name: "ix0", Driver: "ix", Kind: fact.KindEthernet, SpeedBits: 1e10, RXQueues: 2, Options: []string{"LRO", "TSO4"}, IPv6: 3, Domain: pointer(1), MTU: 9000, FlowControl: "full",
				RXDescriptors: 1, MaxRXDescriptors: 3, MaxQueues: 5},
			{Name: "ix1", Driver: "ix", Kind: fact.KindEthernet, SpeedBits: 1e9, RXQueues: 8, Options: []string{}, Domain: pointer(7), Up: pointer(false)},
			{Name: "v5", Driver: "vlan", Kind: fact.KindVLAN, IPv4: 2, Options: []string{"TSO6"}, SpeedBits: 4e10, RXQueues: 99},
			{Name: "br0", Driver: "bridge", Kind: fact.KindBridge, Members: []string{"ix0", "ix1", "v5"}},
		},
		Interrupts: []fact.Interrupt{
			{Name: "irq30: ix0:q0", Device: "ix0", Queue: "q0", Rate: 10, CPU: pointer(0), CPUs: []int{0}}, {Name: "irq31: ix0:q1", Device: "ix0", Queue: "q1", Rate: 30, CPUs: []int{3, 4}},
			{Name: "irq32: ix0:link", Device: "ix0", Rate: 90, CPUs: []int{1}}, {Name: "cpu0:timer", Device: "cpu0", Rate: 1000}, {Name: "irq33: ix1", Device: "ix1", Queue: "q", CPUs: []int{1}},
		},
	}
	check(t, "interfaces", f, map[string]string{
		"ports": "2", "drivers": "ix", "link": "10000000000", "nic_queues": "8", "addressed_ports": "1", "bridged_ports": "2", "ipv4_links": "1", "ipv6_links": "1", "carp": "false",
		`driver("ix")`: "true", `driver("vlan")`: "false", `enabled("TSO4")`: "true", `enabled("TSO6")`: "false", `lro_of("ix")`: "true", `lro_of("igb")`: "false", `has_nic("bridge")`: "true", `has_nic("ix")`: "true", `has_nic("em")`: "false",
		"nics[1].domain": "1", "nics[0].domain": "-1", "nics[1].mtu": "9000", "nics[1].flow_control": "full", "nics[1].speed": "10000000000", "nics[1].rx_ring": "1", "nics[1].max_rx_ring": "3",
		"nics[1].max_queues": "5", "nics[1].rx_queues": "2", "nics[1].live": "true", "nics[4].live": "false", "nics[1].ether": "true", "nics[3].ether": "false", "nics[4].members": "ix0, ix1, v5", "nics[3].kind": "vlan",
		"nics[1].busiest_rate": "30", "nics[1].busy_queues": "2", "nics[2].busiest_rate": "0", "nics[2].busy_queues": "0",
		"interrupts[0].number": "30", "interrupts[0].local": "4-7", "interrupts[0].remote": "true", "interrupts[1].remote": "false", "interrupts[2].remote": "true", "interrupts[3].number": "", "interrupts[3].remote": "false",
		"interrupts[4].local": "", "interrupts[4].remote": "false", "interrupts[3].rate": "1000", "interrupts[0].device": "ix0",
	})
	f.CPU.Domains = f.CPU.Domains[1:]
	check(t, "one domain", f, map[string]string{"interrupts[0].local": "", "interrupts[0].remote": "false"})
	for name, n := range map[string]fact.NIC{"it runs": {CARP: true}, "rc.conf says so": {Configured: []fact.Line{{Value: "inet vhid 1 alias 192.0.2.1/32"}}}} {
		check(t, name, &fact.Facts{NICs: []fact.NIC{n}}, map[string]string{"carp": "true"})
	}
}

// TestOffloadOf: the running state takes precedence over rc.conf, of whose words the last one counts,
// and tso covers both address families.
func TestOffloadOf(t *testing.T) {
	for _, c := range []struct {
		n      fact.NIC
		option string
		want   string
	}{
		{fact.NIC{}, "LRO", "default"}, {fact.NIC{Options: []string{}}, "LRO", "off"}, {fact.NIC{Options: []string{"lro"}}, "LRO", "on"}, {fact.NIC{Options: []string{}, ConfigFlags: []string{"lro"}}, "LRO", "off"},
		{fact.NIC{ConfigFlags: []string{"LRO"}}, "lro", "on"}, {fact.NIC{ConfigFlags: []string{"lro", "-lro"}}, "LRO", "off"}, {fact.NIC{ConfigFlags: []string{"-lro", "lro"}}, "LRO", "on"},
		{fact.NIC{ConfigFlags: []string{"-tso"}}, "TSO4", "off"}, {fact.NIC{ConfigFlags: []string{"-tso"}}, "TSO6", "off"}, {fact.NIC{ConfigFlags: []string{"-tso4"}}, "TSO6", "default"}, {fact.NIC{ConfigFlags: []string{"-tso", "tso4"}}, "TSO4", "on"},
		{fact.NIC{ConfigFlags: []string{"-tso"}}, "LRO", "default"},
	} {
		if got := Offload(&c.n, c.option); got != c.want {
			t.Errorf("%+v: %s is %s, want %s", c.n, c.option, got, c.want)
		}
	}
	for _, c := range []struct {
		flags    []string
		on, said bool
	}{{nil, false, false}, {[]string{"lro"}, true, true}, {[]string{"-LRO"}, false, true}, {[]string{"lro", "-lro", "x"}, false, true}, {[]string{"-lro", "lro"}, true, true}} {
		if on, said := configured(&fact.NIC{ConfigFlags: c.flags}, "LRO"); on != c.on || said != c.said {
			t.Errorf("%q: on %v, said %v", c.flags, on, said)
		}
	}
}

// TestArithmetic: division truncates as in C, and every kind of number is accepted.
func TestArithmetic(t *testing.T) {
	for _, c := range []struct {
		a, b any
		want float64
	}{{7, 2, 3}, {-7, 2, -3}, {7.9, 2.9, 3}, {1, 0, 0}, {uint64(9), int64(4), 2}, {"x", 1, 0}, {1, 0.5, 0}, {1 << 62, 1, 1 << 62}} {
		if got := div(c.a, c.b); got != c.want {
			t.Errorf("%v / %v is %v, want %v", c.a, c.b, got, c.want)
		}
	}
	for want, v := range map[string]any{"1500": 1500.0, "-2": -2.0, "0.3333": 1.0 / 3, "1e+15": 1e15, "999999999999999": 999999999999999.0, "a, b": []string{"a", "b"}, "1, 2.5, x": []any{1, 2.5, "x"}, "": []any{}, "true": true, "7": uint64(7)} {
		if got := Show(v); got != want {
			t.Errorf("%v is written %q, want %q", v, got, want)
		}
	}
	for _, v := range []any{5, 5.0, int64(5), uint64(5)} {
		if Number(v) != 5 {
			t.Errorf("%T is not 5", v)
		}
	}
	if Number("5") != 0 || Number(nil) != 0 {
		t.Error("a value that is not a number was counted")
	}
}

// TestExpressionsThatFail: errors name the expression and the mistake.
func TestExpressionsThatFail(t *testing.T) {
	l, h := NewLanguage[Host](), Of(&fact.Facts{})
	for code, want := range map[string]string{"nics[3].mtu > 0": `expression "nics[3].mtu > 0"`, "cpus + 1": "want true or false, have 1", "nosuch": "unknown name nosuch"} {
		if yes, err := l.Holds(code, &h); err == nil || yes || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, want %q", code, yes, err, want)
		}
	}
	for text, want := range map[string]string{"a ${nosuch} b": "unknown name", "a ${cpus": "${ without }", "${nics[9].mtu}": "expression"} {
		if got, err := l.Fill(text, &h); err == nil || got != "" || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v, want %q", text, got, err, want)
		}
	}
	if got, err := l.Fill("no expression {} $x }", &h); err != nil || got != "no expression {} $x }" {
		t.Errorf("%q, %v", got, err)
	}
	if err := l.CheckText("${cpus} and ${memory / 2}"); err != nil {
		t.Error(err)
	}
	for _, code := range []string{"", "cpus > 1", "pf && !ipfw"} {
		if err := l.CheckCondition(code); err != nil {
			t.Errorf("%s: %v", code, err)
		}
	}
	names, calls := l.Reads(`counter("a" + os) > 0 && serves("x", 80) && module("pf")`)
	if !slices.Contains(names, "os") || !slices.Equal(calls, []Call{{"counter", ""}, {"module", "pf"}}) {
		t.Errorf("reads %q, calls %q", names, calls)
	}
}
