package audit_test

import "testing"

// TestOwnHosts: false alarms and misses of earlier audits on hosts made for this test: routers,
// VPNs, bridges, databases, with typical mistakes.
func TestOwnHosts(t *testing.T) {
	x := func(text string) map[string]string { return map[string]string{"/etc/sysctl.d/x.conf": text} }
	s := func(text string) map[string]string { return map[string]string{"/etc/sysctl.conf": text} }
	holdAll(t, "6.12", []reading{
		{note: "advertisements on a router: one fix", role: "router", files: x("net.ipv6.conf.all.forwarding=1\nnet.ipv6.conf.wan0.accept_ra=1"), want: []string{"warning LR-LINUX-RA-FORWARDING | Set it to 2", "!LR-HARMFUL"}},
		{note: "coupled values, of which one is the default", role: "router", files: x("net.ipv4.neigh.default.gc_thresh2=2048\nnet.ipv4.neigh.default.gc_thresh3=1024"), want: []string{"warning LR-COUPLED", "!LR-DEFAULT:net.ipv4.neigh.default.gc_thresh3"}},
		{note: "strict reverse-path filter on a router", role: "router", files: x("net.ipv4.conf.all.rp_filter=1"), want: []string{"info LR-HARMFUL | Set it to 2"}},
		{note: "strict reverse-path filter with src_valid_mark", role: "vpn", files: x("net.ipv4.conf.all.src_valid_mark=1\nnet.ipv4.conf.all.rp_filter=1"), want: []string{"!warning"}},
		{note: "dead after five seconds of silence", role: "mail", files: x("net.ipv4.tcp_keepalive_time=60\nnet.ipv4.tcp_keepalive_intvl=5\nnet.ipv4.tcp_keepalive_probes=1"), want: []string{"warning LR-LINUX-KEEPALIVE-HASTE | after 5 s"}},
		{note: "dead after half a minute of silence", role: "mail", files: x("net.ipv4.tcp_keepalive_intvl=10\nnet.ipv4.tcp_keepalive_probes=3"), want: []string{"!LR-LINUX-KEEPALIVE-HASTE"}},
		{note: "caches that are never reclaimed", role: "storage", files: x("vm.vfs_cache_pressure=0"), want: []string{"warning LR-HARMFUL:vm.vfs_cache_pressure | 50"}},
		{note: "much memory kept free, on an unknown size", role: "storage", files: x("vm.min_free_kbytes=4194304"), want: []string{"info LR-LINUX-FREE-VAST | 80 GiB"}},
		{note: "swappiness 200 without zram", role: "mail", files: x("vm.swappiness=200"), want: []string{"info LR-LINUX-SWAPPINESS"}},
		{note: "swappiness for zram", files: x("vm.swappiness=180\nvm.page-cluster=0"), want: []string{"!LR-LINUX-SWAPPINESS"}},
		{note: "zone reclaim on a database", role: "database", files: x("vm.zone_reclaim_mode=1"), want: []string{"warning LR-HARMFUL:vm.zone_reclaim_mode"}},
		{note: "an overcommit limit of a tenth", role: "database", files: x("vm.overcommit_memory=2\nvm.overcommit_ratio=10"), want: []string{"warning LR-HARMFUL:vm.overcommit_ratio"}},
		{note: "an overcommit limit of most memory", role: "database", files: x("vm.overcommit_memory=2\nvm.overcommit_ratio=90"), want: []string{"!warning"}},
		{note: "proxy ARP everywhere", role: "vpn", files: x("net.ipv4.conf.all.proxy_arp=1"), want: []string{"info LR-LINUX-PROXY-ARP-ALL"}},
		{note: "no ARP replies at all", role: "bridge", files: x("net.ipv4.conf.all.arp_ignore=8"), want: []string{"warning LR-HARMFUL:net.ipv4.conf.all.arp_ignore"}},
		{note: "the old name next to the new one", role: "firewall", files: x("net.netfilter.nf_conntrack_max=2000000\nnet.ipv4.netfilter.ip_conntrack_max=65536"), want: []string{"error LR-RENAMED | Remove the line: /etc/sysctl.d/x.conf line 1"}},
		{note: "the old name alone", role: "firewall", files: x("net.ipv4.netfilter.ip_conntrack_max=65530"), want: []string{"error LR-RENAMED | is below what the kernel computes"}},
		{note: "the old name with a higher value", role: "firewall", files: x("net.ipv4.netfilter.ip_conntrack_max=2000000"), want: []string{"error LR-RENAMED | Set net.netfilter.nf_conntrack_max=2000000"}},
		{note: "idle states of acpi_idle, held too", files: map[string]string{"/etc/default/grub": `GRUB_CMDLINE_LINUX_DEFAULT="intel_idle.max_cstate=0 processor.max_cstate=1"`}, want: []string{"!intel_idle.max_cstate"}},
	})
	holdAll(t, "14.3", []reading{
		{note: "a port's variable is not a typo", role: "router", files: map[string]string{"/etc/rc.conf": `mpd_enable="YES"`}, want: []string{"!LR-UNKNOWN"}},
		{note: "bridged frames, twice or not", role: "bridge", files: s("net.link.bridge.pfil_bridge=1\nnet.link.bridge.ipfw=1"), want: []string{"warning LR-BRIDGE-IPFW"}},
		{note: "superpages off", role: "database", files: map[string]string{"/boot/loader.conf": `vm.pmap.pg_ps_enabled="0"`}, want: []string{"warning LR-HARMFUL:vm.pmap.pg_ps_enabled"}},
		{note: "a guest with periodic timer interrupts", role: "web", files: s("kern.eventtimer.periodic=1"), want: []string{"warning LR-HARMFUL:kern.eventtimer.periodic"}},
		{note: "a member with an address", release: "15.0", files: map[string]string{"/etc/rc.conf": "cloned_interfaces=\"bridge0\"\nifconfig_bridge0=\"addm em0 addm tap0 up\"\nifconfig_em0=\"inet 192.0.2.5/24\""}, want: []string{"error LR-BRIDGE-ADDRESS:ifconfig_em0"}},
		{note: "allowed for a time", release: "15.0", files: map[string]string{"/etc/sysctl.conf": "net.link.bridge.member_ifaddrs=1", "/etc/rc.conf": "cloned_interfaces=\"bridge0\"\nifconfig_bridge0=\"addm em0 up\"\nifconfig_em0=\"inet 192.0.2.5/24\""}, want: []string{"!LR-BRIDGE-ADDRESS"}},
		{note: "before 15", files: map[string]string{"/etc/rc.conf": "cloned_interfaces=\"bridge0\"\nifconfig_bridge0=\"addm em0 up\"\nifconfig_em0=\"inet 192.0.2.5/24\""}, want: []string{"!LR-BRIDGE-ADDRESS"}},
	})
}
