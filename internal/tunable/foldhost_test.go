package tunable_test

import (
	"testing"

	"linerate/catalogue"
	"linerate/internal/tunable"
)

// TestHostSpellings: the names of Linux settings in facts, and as people type them, are found under
// the catalogue's names.
func TestHostSpellings(t *testing.T) {
	c, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	for as, want := range map[string]string{
		"link.eth0.threaded":                                               "/sys/class/net/IF/threaded",
		"link.eth0.100.mtu":                                                "/sys/class/net/IF/mtu",
		"/sys/class/net/ens1f0/queues/rx-12/rps_cpus":                      "/sys/class/net/IF/queues/rx-N/rps_cpus",
		"/sys/class/net/bond0/bonding/miimon":                              "/sys/class/net/BOND/bonding/miimon",
		"/proc/irq/47/smp_affinity_list":                                   "/proc/irq/N/smp_affinity_list",
		"/sys/devices/system/cpu/cpu3/cpufreq/scaling_governor":            "/sys/devices/system/cpu/cpufreq/policyN/scaling_governor",
		"/sys/devices/system/cpu/cpu0/cpuidle/state3/disable":              "/sys/devices/system/cpu/cpuN/cpuidle/stateM/disable",
		"/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages":           "/sys/kernel/mm/hugepages/hugepages-NkB/nr_hugepages",
		"module.nf_conntrack.hashsize":                                     "module nf_conntrack hashsize=",
		"/sys/module/nf_conntrack/parameters/hashsize":                     "module nf_conntrack hashsize=",
		"module nf_conntrack hashsize=65536":                               "module nf_conntrack hashsize=",
		"cmdline.mitigations":                                              "kernel: mitigations=",
		"cmdline.nosmt":                                                    "kernel: nosmt",
		"kernel: mitigations=off":                                          "kernel: mitigations=",
		"cmdline.sysctl.vm.swappiness":                                     "vm.swappiness",
		"ethtool -K eth0 gro off":                                          "ethtool -K IF gro",
		"ethtool --offload eth0 tso off":                                   "ethtool -K IF tso",
		"ethtool -G eth0 rx 4096":                                          "ethtool -G IF rx N",
		"ethtool -C eth0 rx-usecs 50":                                      "ethtool -C IF rx-usecs N",
		"ethtool -A eth0 rx off tx off":                                    "ethtool -A IF",
		"ethtool -N eth0 rx-flow-hash udp4 sdfn":                           "ethtool -N IF rx-flow-hash",
		"ethtool --set-priv-flags IF rx_striding_rq on":                    "ethtool --set-priv-flags IF rx_striding_rq",
		"tc qdisc fq_codel flows 4096":                                     "tc qdisc fq_codel flows N",
		"LimitNOFILE=":                                                     "systemd LimitNOFILE=",
		"txqueuelen":                                                       "/sys/class/net/IF/tx_queue_len",
		"/sys/class/net/IF/napi_defer_hard_irqs + gro_flush_timeout":       "/sys/class/net/IF/napi_defer_hard_irqs",
		"ethtool -s IF speed 1000 duplex full autoneg off":                 "ethtool -s IF speed",
		"/sys/class/net/eth0/queues/tx-0/byte_queue_limits/limit_max":      "/sys/class/net/IF/queues/tx-N/byte_queue_limits/limit_max",
		"congestion control bbr2 / bbrplus":                                "congestion control bbr2",
		"/sys/class/net/br0/bridge/multicast_snooping":                     "/sys/class/net/BR/bridge/multicast_snooping",
		"/sys/devices/system/clocksource/clocksource0/current_clocksource": "/sys/devices/system/clocksource/clocksource0/current_clocksource",
	} {
		r, ok := c.Lookup(tunable.Linux, as)
		if !ok {
			t.Errorf("%s: not found", as)
			continue
		}
		if r.Name != want {
			t.Errorf("%s is %s, want %s", as, r.Name, want)
		}
	}
}
