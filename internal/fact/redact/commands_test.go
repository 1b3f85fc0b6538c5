package redact

import (
	"strings"
	"testing"
)

// TestWhatOfCommandsStays: of a script's commands, those that the reader understands as settings are
// kept in every form; the rest of a line is redacted.
func TestWhatOfCommandsStays(t *testing.T) {
	const same = "\x00"
	for line, want := range map[string]string{
		"sysctl -w net.ipv4.ip_forward=1":                                 same,
		"sysctl -w net.ipv4.ip_local_reserved_ports=8080,9148-9150":       same,
		"sysctl -w net.ipv4.ip_local_reserved_ports=8080,mine":            "sysctl -w net.ipv4.ip_local_reserved_ports=8080," + Mark,
		"/sbin/sysctl -q -w vm.swappiness=1; reboot":                      "/sbin/sysctl -q -w vm.swappiness=1; " + Mark,
		"echo 1 > /proc/sys/net/ipv4/ip_forward":                          same,
		"echo 1 >> /proc/sys/net/ipv4/ip_forward":                         same,
		"echo -n 1 > /proc/sys/net/ipv4/ip_forward":                       same,
		"echo 1 | tee /proc/sys/net/ipv4/ip_forward":                      same,
		"echo 1 | sudo tee -a /proc/sys/vm/swappiness":                    same,
		"echo ff,ff > /sys/class/net/eth0/queues/rx-0/rps_cpus":           same,
		"echo bbr > /proc/sys/net/ipv4/tcp_congestion_control":            same,
		"ip link set dev eth0 mtu 9000":                                   same,
		"ip link set mtu 9000 dev eth0":                                   same,
		"ip link set up mtu 9000 txqueuelen 500 dev eth0":                 same,
		"/sbin/ip link set eth0 mtu 9000; ip addr add 192.0.2.1 dev eth0": "/sbin/ip link set eth0 mtu 9000; " + Mark,
		"ifconfig eth0 192.0.2.1 mtu 1400":                                "ifconfig eth0 " + Mark + " mtu 1400",
		"ethtool -K eth0 gro off tso off":                                 same,
		"ethtool --set-ring eth0 rx 4096":                                 same,
	} {
		if want == same {
			want = line
		}
		got, left := Text(Script, line)
		if got != want || left.Any() != strings.Contains(want, Mark) {
			t.Errorf("%s\n got %s (left out: %s)\nwant %s", line, got, left, want)
		}
	}
}

// TestOtherCommandsGo: no word of a command that sets nothing is kept.
func TestOtherCommandsGo(t *testing.T) {
	for line, word := range map[string]string{
		"echo 1 > /root/x": "root", "echo 1 | mail root": "mail", "curl -d x=1 http://192.0.2.1/": "192", "if /opt/mine; then sysctl -w vm.swappiness=1; fi": "mine", "ip route add 192.0.2.0/24 dev eth0": "eth0",
	} {
		if got, left := Text(Script, line); strings.Contains(got, word) || !left.Any() {
			t.Errorf("%s becomes %s, left out: %s", line, got, left)
		}
	}
}

// TestWhatOfSectionsStays: keys that are read are kept, in the sections that have them.
func TestWhatOfSectionsStays(t *testing.T) {
	for _, c := range []struct{ kind, in, want string }{
		{Tuned, "[sysctl]\ndrop=vm.swappiness, net.core.somaxconn\nvm.swappiness=5\n", "[sysctl]\ndrop=vm.swappiness, net.core.somaxconn\nvm.swappiness=5\n"},
		{Tuned, "reapply_sysctl_exclude = vm.*; mine\nreapply_sysctl=0\n", "reapply_sysctl_exclude = vm.*; " + Mark + "\nreapply_sysctl=0\n"},
		{Tuned, "[sysctl]\ndrop=mine\n", "[sysctl]\ndrop=" + Mark + "\n"},
		{Networks, "[802-3-ethernet]\nmtu=9000\n", "[802-3-ethernet]\nmtu=9000\n"},
		{Networks, "[ethernet]\nmtu=9000\ncloned-mac-address=02:00:00:00:00:01\n", "[ethernet]\nmtu=9000\ncloned-mac-address=" + Mark + "\n"},
		{Systemd, "[Match]\nOriginalName=e0\n[Link]\nRxBufferSize=4096\nAlias=mine\n", "[Match]\nOriginalName=e0\n[Link]\nRxBufferSize=4096\nAlias=" + Mark + "\n"},
		{Ifconfig, "vm-public: flags=8843<UP> metric 0 mtu 1500\n\tmember: tap0\n\tdescription: mine\n", "vm-public: flags=8843<UP> metric 0 mtu 1500\n\tmember: tap0\n\tdescription: " + Mark + "\n"},
		{"nosuch", "net.core.somaxconn=1\n", Mark + "\n"},
		{Whole, "anything # at all\n", "anything # at all\n"},
	} {
		if got, _ := Text(c.kind, c.in); got != c.want {
			t.Errorf("%s: %q becomes %q, want %q", c.kind, c.in, got, c.want)
		}
	}
}
