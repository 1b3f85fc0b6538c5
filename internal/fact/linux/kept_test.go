package linux

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/fact/redact"
)

// kept returns a machine's files as a capture keeps them.
func kept(files tree) tree {
	all := tree{}
	for p, text := range files {
		all[p], _ = redact.Text(redact.KindOf(p, redact.Whole), text)
	}
	return all
}

// TestUdevRulesOfCaptures: a rule's attributes and commands are read the same from a capture, also under
// the names that udev(7) has for its device.
func TestUdevRulesOfCaptures(t *testing.T) {
	for _, rule := range []string{
		`SUBSYSTEM=="net", KERNEL=="eth0", ATTR{tx_queue_len}="10000", ATTR{mtu}="9000", ATTR{gro_flush_timeout}="20000"`, `SUBSYSTEM=="net", KERNEL=="eth0", ATTR{queues/rx-0/rps_cpus}="ff,0f", ATTR{queues/rx-0/rps_flow_cnt}="4096"`,
		`SUBSYSTEM=="net", KERNEL=="eth0", RUN+="/usr/sbin/ethtool -K %k gro off tso off"`, `SUBSYSTEM=="net", NAME=="lan0", RUN+="/sbin/ip link set dev $name txqueuelen 5000"`, `SUBSYSTEM=="net", RUN+="/sbin/ip link set %E{INTERFACE} mtu 9000"`,
		`SUBSYSTEM=="module", KERNEL=="nf_conntrack", RUN+="/lib/systemd/systemd-sysctl --prefix=/net/netfilter"`,
	} {
		text, _ := redact.Text(redact.Udev, rule)
		if want, got := udevRule(rule), udevRule(text); len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s: %q, but from a capture (%s) %q", rule, want, text, got)
		}
	}
}

// TestCommandsOfCaptures: what a command sets is read the same from a capture.
func TestCommandsOfCaptures(t *testing.T) {
	for _, line := range []string{
		"sysctl -w net.ipv4.ip_forward=1 vm.swappiness=5", "/sbin/sysctl -q -w net.core.somaxconn=4096", "if true; then sysctl -w vm.swappiness=1; fi", "sysctl -w 'net.ipv4.tcp_rmem=4096 131072 6291456'",
		"sysctl -w net.ipv4.ip_local_reserved_ports=8080,9148-9150", "- [ sysctl, -w, net.core.somaxconn=1024 ]",
		"echo 1 > /proc/sys/net/ipv4/ip_forward", "echo 1 >> /proc/sys/net/ipv4/ip_forward", "echo -n 1 > /proc/sys/net/ipv4/ip_forward", "echo 4096 1 2 > /proc/sys/net/ipv4/tcp_rmem", "echo f,f > /sys/class/net/e0/queues/rx-0/rps_cpus",
		"echo 1 | sudo tee /proc/sys/vm/swappiness >/dev/null", "echo 1 | tee -a /proc/sys/vm/swappiness", "printf 3 > /proc/irq/24/smp_affinity", "echo 9000 > /sys/class/net/eth0/mtu",
		"ethtool -K eth0 gro off lro on", "ethtool --set-ring eth0 rx 4096", "ethtool -C eth0 adaptive-rx on rx-usecs 50", "ip link set dev eth0 mtu 9000 txqueuelen 5000", "ip link set mtu 9000 dev eth0", "ip link set up mtu 9000 dev eth0", "ifconfig eth0 mtu 1500",
		"for i in 1 2; do sysctl -w vm.swappiness=1; done", "true && sysctl -w vm.swappiness=1 || sysctl -w vm.swappiness=2",
	} {
		kind := redact.Script
		if strings.HasPrefix(line, "- [") {
			kind = redact.Cloud
		}
		text, _ := redact.Text(kind, line)
		if want, got := commands(line), commands(text); len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s: %q, but from a capture (%s) %q", line, want, text, got)
		}
	}
}
