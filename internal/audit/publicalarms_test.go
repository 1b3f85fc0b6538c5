package audit_test

import "testing"

// TestPublicFalseAlarms: false alarms on public configurations, reproduced in rewritten lines.
func TestPublicFalseAlarms(t *testing.T) {
	x := func(text string) map[string]string { return map[string]string{"/etc/sysctl.d/x.conf": text} }
	arch := func(text string) map[string]string {
		files := x(text)
		files["/etc/os-release"] = "ID=arch"
		return files
	}
	holdAll(t, "6.12", []reading{
		{note: "a vendor's name on an unknown vendor's kernel", files: x("kernel.unprivileged_userns_clone=1"), want: []string{"info LR-REMOVED:kernel.unprivileged_userns_clone", "!error", "!warning"}},
		{note: "a vendor's name on its own kernel", files: arch("kernel.unprivileged_userns_clone=1"), want: []string{"info LR-REMOVED:kernel.unprivileged_userns_clone"}},
		{note: "a vendor's name on another vendor's kernel", files: map[string]string{"/etc/os-release": "ID=fedora", "/etc/sysctl.d/x.conf": "kernel.unprivileged_userns_clone=1"}, want: []string{"error LR-REMOVED:kernel.unprivileged_userns_clone"}},
		{note: "IPv6 off on one interface", files: x("net.ipv6.conf.wlan0.disable_ipv6=1"), want: []string{"!error", "!warning"}},
		{note: "IPv6 off for future interfaces", files: x("net.ipv6.conf.default.disable_ipv6=1"), want: []string{"!error", "!warning"}},
		{note: "IPv6 off everywhere", files: x("net.ipv6.conf.all.disable_ipv6=1"), want: []string{"warning LR-LINUX-IPV6-LOOPBACK:net.ipv6.conf.all.disable_ipv6"}},
		{note: "IPv6 off everywhere, and lo named: meant so", files: x("net.ipv6.conf.all.disable_ipv6=1\nnet.ipv6.conf.lo.disable_ipv6=1"), want: []string{"!LR-LINUX-IPV6-LOOPBACK"}},
		{note: "IPv6 off except on lo", files: x("net.ipv6.conf.all.disable_ipv6=1\nnet.ipv6.conf.lo.disable_ipv6=0"), want: []string{"!LR-LINUX-IPV6-LOOPBACK"}},
		{note: "conntrack's limit without buckets: said once", role: "firewall", files: x("net.netfilter.nf_conntrack_max=2097152\nnet.nf_conntrack_max=2097152"), want: []string{"warning LR-CONNTRACK-BUCKETS:net.netfilter.nf_conntrack_max", "!LR-CONNTRACK-BUCKETS:net.nf_conntrack_max", "!LR-COUPLED"}},
		{note: "conntrack's limit and buckets that are too few", role: "firewall", files: x("net.netfilter.nf_conntrack_max=2097152\nnet.netfilter.nf_conntrack_buckets=65536"), want: []string{"warning LR-COUPLED", "!LR-CONNTRACK-BUCKETS"}},
		{note: "the kernel has it since 6.10", files: x("vm.mem_profiling=0"), want: []string{"!LR-UNKNOWN", "!warning"}},
		{note: "a word of the command line is no sysctl's misspelling", files: map[string]string{"/etc/default/grub": "GRUB_CMDLINE_LINUX=\"modprobe=tcp_bbr\"\n"}, want: []string{"!LR-UNKNOWN | kernel.modprobe"}},
		{note: "a short FIN_WAIT_2 is harmless", role: "web", files: x("net.ipv4.tcp_fin_timeout=10"), want: []string{"!warning"}},
		{note: "wrong advice without effect", role: "web", files: x("net.ipv4.tcp_fin_timeout=15"), want: []string{"info LR-FOLKLORE:net.ipv4.tcp_fin_timeout | FIN_WAIT_2"}},
		{note: "wrong advice with an effect", role: "router", files: x("net.ipv4.tcp_syncookies=0"), want: []string{"warning LR-FOLKLORE:net.ipv4.tcp_syncookies"}},
		{note: "a limit beyond memory", role: "database", files: x("kernel.shmmax=4398046511104\nkernel.shmall=1073741824"), want: []string{"info LR-LOWERS:kernel.shmmax", "info LR-LOWERS:kernel.shmall"}},
		{note: "a limit within memory", role: "database", files: x("kernel.shmmax=2147483648\nkernel.shmall=2097152"), want: []string{"warning LR-LOWERS:kernel.shmmax", "warning LR-LOWERS:kernel.shmall"}},
		{note: "a small router's numbers", role: "router", files: x("net.netfilter.nf_conntrack_max=16384\nvm.min_free_kbytes=8192"), want: []string{"!warning LR-LOWERS"}},
		{note: "a server has at least 1 GiB", role: "web", files: x("net.ipv4.tcp_wmem=4096 16384 1048576"), want: []string{"warning LR-LOWERS:net.ipv4.tcp_wmem | or more"}},
		{note: "below the default of the smallest router", role: "router", files: x("net.ipv4.tcp_max_orphans=128"), want: []string{"warning LR-LOWERS:net.ipv4.tcp_max_orphans | on any machine"}},
		{note: "strict reverse-path filter with one uplink", role: "vpn", files: x("net.ipv4.conf.all.rp_filter=1"), want: []string{"info LR-LINUX-VPN-STRICT", "!warning"}},
	})
}

// TestPublicMisses: mistakes that the audit missed in public configurations, in rewritten lines.
func TestPublicMisses(t *testing.T) {
	x := func(text string) map[string]string { return map[string]string{"/etc/sysctl.d/x.conf": text} }
	s := func(text string) map[string]string { return map[string]string{"/etc/sysctl.conf": text} }
	l := func(text string) map[string]string { return map[string]string{"/boot/loader.conf": text} }
	holdAll(t, "6.12", []reading{
		{note: "all off beside default on", files: x("net.ipv4.conf.all.send_redirects=0\nnet.ipv4.conf.default.send_redirects=1"), want: []string{"warning LR-PERDEVICE:net.ipv4.conf.all.send_redirects | switches nothing off"}},
		{note: "all off and default off", files: x("net.ipv4.conf.all.send_redirects=0\nnet.ipv4.conf.default.send_redirects=0"), want: []string{"!LR-PERDEVICE"}},
		{note: "one interface on, on purpose", files: x("net.ipv4.conf.all.send_redirects=0\nnet.ipv4.conf.default.send_redirects=1\nnet.ipv4.conf.eth1.send_redirects=0"), want: []string{"!LR-PERDEVICE"}},
		{note: "allowed by all, switched on by interface", role: "router", files: x("net.ipv4.conf.all.bc_forwarding=1\nnet.ipv4.conf.default.bc_forwarding=0"), want: []string{"!LR-PERDEVICE"}},
		{note: "a minimum above every buffer", role: "router", files: x("net.ipv4.udp_rmem_min=8388608"), want: []string{"info LR-LINUX-UDP-FLOOR:net.ipv4.udp_rmem_min"}},
		{note: "an unbounded backlog poll", role: "router", files: x("net.core.dev_weight=65535"), want: []string{"warning LR-LINUX-DEV-WEIGHT:net.core.dev_weight"}},
	})
	holdAll(t, "6.12", []reading{
		{note: "one fix for one line: an old maximum", role: "web", files: x("net.ipv4.tcp_rmem=4096 2097152 4194304"), want: []string{"warning LR-LINUX-TCP-START | Remove the line", "!LR-LOWERS"}},
		{note: "one fix: whole numbers", role: "web", files: x("net.ipv4.tcp_wmem=8388608 8388608 8388608"), want: []string{"warning LR-LINUX-TCP-START | 4096 16384 8388608"}},
		{note: "one fix: the limit, not the start", role: "web", files: x("net.ipv4.tcp_rmem=4096 87380 4194304"), want: []string{"warning LR-LOWERS | Remove the line", "!LR-LINUX-RECEIVE-START"}},
		{note: "the start, where the limit is fine", role: "web", files: x("net.ipv4.tcp_rmem=4096 87380 16777216"), want: []string{"info LR-LINUX-RECEIVE-START | 4096 131072 16777216", "!LR-LOWERS"}},
		{note: "a name of other architectures", files: x("kernel.panic_on_stackoverflow=0"), want: []string{"!error", "!warning"}},
	})
	holdAll(t, "14.3", []reading{
		{note: "the loader's value ends at the last quote of the line", files: l(`pf_load="YES" # was "NO"`), want: []string{"error LR-SYNTAX | its comment"}},
		{note: "before 13 the value ends at the first quote", release: "12.4", files: l(`pf_load="YES" # was "NO"`), want: []string{"!LR-SYNTAX"}},
		{note: "a number sign within quotes", files: l(`hw.ix.num_queues="4 # of 8"`), want: []string{"!LR-SYNTAX"}},
		{note: "a low state limit", role: "firewall", files: map[string]string{"/etc/rc.conf": `pf_enable="YES"`, "/etc/pf.conf": "set limit states 10000\npass"}, want: []string{"warning LR-PF-STATES-LOW"}},
		{note: "a very high state limit", role: "web", files: map[string]string{"/etc/rc.conf": `pf_enable="YES"`, "/etc/pf.conf": "set limit states 16000000\npass"}, want: []string{"warning LR-PF-STATES-VAST"}},
		{note: "a timecounter that is a slow device", files: s("kern.timecounter.hardware=HPET"), want: []string{"warning LR-TIMECOUNTER-SLOW"}},
		{note: "a maximum from 2009", files: s("kern.ipc.maxsockbuf=262144"), want: []string{"warning LR-MAXSOCKBUF-LOW"}},
		{note: "a small initial buffer", files: s("net.inet.tcp.sendspace=16384"), want: []string{"info LR-SPACE-LOW"}},
		{note: "a module without _load", files: l(`acpi_video="YES"`), want: []string{"error LR-LOADER-WORD:acpi_video | acpi_video_load"}},
		{note: "a variable of rc.conf", files: l(`ntpd_enable="YES"`), want: []string{"error LR-LOADER-WORD:ntpd_enable | rc.conf"}},
		{note: "rc.conf's variable that the catalogue knows too: reported once", files: l(`sshd_enable="YES"` + "\n" + `hostname="a.example.org"`), want: []string{"error LR-MISPLACED:hostname", "!LR-LOADER-WORD"}},
		{note: "a module removed long ago", files: l(`atapicam_load="YES"`), want: []string{"warning LR-REMOVED:atapicam_load"}},
		{note: "a module under its old name, in the kernel today", files: l(`if_tap_load="YES"`), want: []string{"info LR-REMOVED:if_tap_load | if_tuntap is part of the kernel", "!warning"}},
		{note: "the same on 12", release: "12.1", files: l(`if_tap_load="YES"`), want: []string{"!LR-REMOVED", "!LR-RENAMED"}},
		{note: "a module under its old name", files: l(`fuse_load="YES"`), want: []string{"warning LR-RENAMED:fuse_load | fusefs_load"}},
		{note: "a redacted value is not judged", files: map[string]string{"/etc/rc.conf": `autoboot_delay="3x7"`}, want: []string{"error LR-MISPLACED:autoboot_delay", "!LR-MISPLACED:autoboot_delay | REDACTED\" is not a number"}},
	})
}
