package audit_test

import "testing"

// TestPublicFalseAlarms: what was a false alarm of a public configuration, in
// lines of our own.
func TestPublicFalseAlarms(t *testing.T) {
	x := func(text string) map[string]string { return map[string]string{"/etc/sysctl.d/x.conf": text} }
	arch := func(text string) map[string]string {
		files := x(text)
		files["/etc/os-release"] = "ID=arch"
		return files
	}
	holdAll(t, "6.12", []reading{
		{note: "a vendor's name, of a kernel of which only the number is known", files: x("kernel.unprivileged_userns_clone=1"), want: []string{"info LR-REMOVED:kernel.unprivileged_userns_clone", "!error", "!warning"}},
		{note: "of a vendor that has it", files: arch("kernel.unprivileged_userns_clone=1"), want: []string{"info LR-REMOVED:kernel.unprivileged_userns_clone"}},
		{note: "of one that has not", files: map[string]string{"/etc/os-release": "ID=fedora", "/etc/sysctl.d/x.conf": "kernel.unprivileged_userns_clone=1"}, want: []string{"error LR-REMOVED:kernel.unprivileged_userns_clone"}},
		{note: "IPv6 off on one interface", files: x("net.ipv6.conf.wlan0.disable_ipv6=1"), want: []string{"!error", "!warning"}},
		{note: "IPv6 off for interfaces to come", files: x("net.ipv6.conf.default.disable_ipv6=1"), want: []string{"!error", "!warning"}},
		{note: "IPv6 off everywhere", files: x("net.ipv6.conf.all.disable_ipv6=1"), want: []string{"warning LR-LINUX-IPV6-LOOPBACK:net.ipv6.conf.all.disable_ipv6"}},
		{note: "and on lo: said once", files: x("net.ipv6.conf.all.disable_ipv6=1\nnet.ipv6.conf.lo.disable_ipv6=1"), want: []string{"warning LR-LINUX-IPV6-LOOPBACK:net.ipv6.conf.lo.disable_ipv6", "!LR-LINUX-IPV6-LOOPBACK:net.ipv6.conf.all"}},
		{note: "IPv6 off but on lo", files: x("net.ipv6.conf.all.disable_ipv6=1\nnet.ipv6.conf.lo.disable_ipv6=0"), want: []string{"!LR-LINUX-IPV6-LOOPBACK"}},
		{note: "a short FIN_WAIT_2 harms nobody", role: "web", files: x("net.ipv4.tcp_fin_timeout=10"), want: []string{"!warning"}},
		{note: "wrong advice without effect", role: "web", files: x("net.ipv4.tcp_fin_timeout=15"), want: []string{"info LR-FOLKLORE:net.ipv4.tcp_fin_timeout | FIN_WAIT_2"}},
		{note: "wrong advice with one", role: "router", files: x("net.ipv4.tcp_syncookies=0"), want: []string{"warning LR-FOLKLORE:net.ipv4.tcp_syncookies"}},
		{note: "a limit beyond memory", role: "database", files: x("kernel.shmmax=4398046511104\nkernel.shmall=1073741824"), want: []string{"info LR-LOWERS:kernel.shmmax", "info LR-LOWERS:kernel.shmall"}},
		{note: "a limit that binds", role: "database", files: x("kernel.shmmax=2147483648\nkernel.shmall=2097152"), want: []string{"warning LR-LOWERS:kernel.shmmax", "warning LR-LOWERS:kernel.shmall"}},
		{note: "a small router's numbers", role: "router", files: x("net.netfilter.nf_conntrack_max=16384\nvm.min_free_kbytes=8192"), want: []string{"!warning LR-LOWERS"}},
		{note: "a server has a GiB", role: "web", files: x("net.ipv4.tcp_wmem=4096 16384 1048576"), want: []string{"warning LR-LOWERS:net.ipv4.tcp_wmem | or more"}},
		{note: "below the smallest router's own", role: "router", files: x("net.ipv4.tcp_max_orphans=128"), want: []string{"warning LR-LOWERS:net.ipv4.tcp_max_orphans | on any machine"}},
		{note: "strict checks with one way out", role: "vpn", files: x("net.ipv4.conf.all.rp_filter=1"), want: []string{"info LR-LINUX-VPN-STRICT", "!warning"}},
	})
}
