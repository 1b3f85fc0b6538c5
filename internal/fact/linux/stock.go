package linux

import (
	"path"
	"strings"
)

// stockLines are what distributions themselves put below /etc/sysctl.d
// (Ubuntu's procps, cloud images, Fedora's and openSUSE's packages, Alpine,
// Proxmox): the owner of a host did not write them. A line that was changed is theirs.
var stockLines = map[string][]string{
	"10-bufferbloat.conf":          {"net.core.default_qdisc=fq_codel"},
	"10-console-messages.conf":     {"kernel.printk=4 4 1 7"},
	"10-ipv6-privacy.conf":         {"net.ipv6.conf.all.use_tempaddr=2", "net.ipv6.conf.default.use_tempaddr=2"},
	"10-kernel-hardening.conf":     {"kernel.kptr_restrict=1"},
	"10-link-restrictions.conf":    {"fs.protected_hardlinks=1", "fs.protected_symlinks=1"},
	"10-lxd-inotify.conf":          {"fs.inotify.max_user_instances=1024"},
	"10-magic-sysrq.conf":          {"kernel.sysrq=176"},
	"10-map-count.conf":            {"vm.max_map_count=1048576"},
	"10-network-security.conf":     {"net.ipv4.conf.default.rp_filter=2", "net.ipv4.conf.all.rp_filter=2", "net.ipv4.conf.default.rp_filter=1", "net.ipv4.conf.all.rp_filter=1", "net.ipv4.tcp_syncookies=1"},
	"10-ptrace.conf":               {"kernel.yama.ptrace_scope=1"},
	"10-zeropage.conf":             {"vm.mmap_min_addr=65536", "vm.mmap_min_addr=32768"},
	"20-apparmor-donotremove.conf": {"kernel.apparmor_restrict_unprivileged_userns=1"},
	"50-cloudimg-settings.conf":    {"net.ipv4.neigh.default.gc_thresh2=15360", "net.ipv4.neigh.default.gc_thresh3=16384", "net.netfilter.nf_conntrack_max=1048576"},
	"55-console-messages.conf":     {"kernel.printk=4 4 1 7"},
	"55-kernel-hardening.conf":     {"kernel.kptr_restrict=1"},
	"55-magic-sysrq.conf":          {"kernel.sysrq=176"},
	"55-network-security.conf":     {"net.ipv4.conf.default.rp_filter=2", "net.ipv4.conf.all.rp_filter=2"},
	"55-ptrace.conf":               {"kernel.yama.ptrace_scope=1"},
	"55-zeropage.conf":             {"vm.mmap_min_addr=65536"},
	"70-yast.conf":                 {"net.ipv4.ip_forward=0", "net.ipv6.conf.all.forwarding=0", "net.ipv6.conf.all.disable_ipv6=0"},
	"99-cloudimg-ipv6.conf":        {"net.ipv6.conf.all.use_tempaddr=0", "net.ipv6.conf.default.use_tempaddr=0"},
	"60-libvirtd.conf":             {"fs.aio-max-nr=1048576"},
	"10-default-yama-scope.conf":   {"kernel.yama.ptrace_scope=0"},
	"50-libkcapi-optmem_max.conf":  {"net.core.optmem_max=81920"},
	"99-protect-links.conf":        {"fs.protected_fifos=1", "fs.protected_hardlinks=1", "fs.protected_regular=2", "fs.protected_symlinks=1"},
	"50-bubblewrap.conf":           {"kernel.unprivileged_userns_clone=1"},
	"60-gce-network-security.conf": googleLines,
	"11-gce-network-security.conf": googleLines,
	"00-alpine.conf": {
		"net.ipv4.ip_forward=0", "net.ipv4.tcp_syncookies=1", "net.ipv4.conf.default.rp_filter=1", "net.ipv4.conf.all.rp_filter=1", "kernel.panic=120",
		"net.ipv4.ping_group_range=999 59999", "kernel.unprivileged_bpf_disabled=1", "kernel.kexec_load_disabled=1",
	},
	"pve.conf": {
		"net.bridge.bridge-nf-call-arptables=0", "net.bridge.bridge-nf-call-ip6tables=0", "net.bridge.bridge-nf-call-iptables=0", "net.bridge.bridge-nf-filter-vlan-tagged=0",
		"fs.aio-max-nr=1048576",
	},
	"30-ceph-osd.conf":    {"fs.aio-max-nr=1048576", "kernel.pid_max=4194304"},
	"30-lxc-inotify.conf": {"fs.inotify.max_user_instances=1024"},
	"50-pid-max.conf":     {"kernel.pid_max=4194304"},
	"50-redhat.conf":      {"net.ipv4.conf.all.rp_filter=1", "net.ipv4.conf.default.rp_filter=1"},
}

// openWrtLines are what OpenWrt puts there, in files with names that anybody
// may choose.
var openWrtLines = map[string][]string{
	"10-default.conf": {
		"kernel.panic=3", "kernel.core_pattern=/tmp/%e.%t.%p.%s.core", "fs.suid_dumpable=2", "net.ipv4.conf.default.arp_ignore=1", "net.ipv4.conf.all.arp_ignore=1",
		"net.ipv4.ip_forward=1", "net.ipv4.icmp_echo_ignore_broadcasts=1", "net.ipv4.icmp_ignore_bogus_error_responses=1", "net.ipv4.igmp_max_memberships=100",
		"net.ipv4.tcp_fin_timeout=30", "net.ipv4.tcp_keepalive_time=120", "net.ipv4.tcp_syncookies=1", "net.ipv4.tcp_timestamps=1", "net.ipv4.tcp_sack=1",
		"net.ipv4.tcp_dsack=1", "net.ipv6.conf.default.forwarding=1", "net.ipv6.conf.all.forwarding=1",
	},
	"11-nf-conntrack.conf": {
		"net.netfilter.nf_conntrack_acct=1", "net.netfilter.nf_conntrack_checksum=0", "net.netfilter.nf_conntrack_max=16384", "net.netfilter.nf_conntrack_tcp_max_retrans=5",
		"net.netfilter.nf_conntrack_tcp_timeout_established=7440", "net.netfilter.nf_conntrack_udp_timeout=60", "net.netfilter.nf_conntrack_udp_timeout_stream=180",
	},
	"11-br-netfilter.conf": {
		"net.bridge.bridge-nf-call-arptables=0", "net.bridge.bridge-nf-call-ip6tables=0", "net.bridge.bridge-nf-call-iptables=0", "net.bridge.bridge-nf-call-arptables=1",
		"net.bridge.bridge-nf-call-ip6tables=1", "net.bridge.bridge-nf-call-iptables=1",
	},
	"12-tcp-bbr.conf": {
		"net.ipv4.tcp_congestion_control=bbr", "net.core.default_qdisc=fq",
	},
}

// googleLines are those of Google's images.
var googleLines = []string{
	"net.ipv4.conf.all.accept_source_route=0", "net.ipv4.conf.default.accept_source_route=0", "net.ipv4.conf.all.accept_redirects=0",
	"net.ipv4.conf.default.accept_redirects=0", "net.ipv4.conf.all.secure_redirects=1", "net.ipv4.conf.default.secure_redirects=1", "net.ipv4.conf.all.send_redirects=0",
	"net.ipv4.conf.default.send_redirects=0", "net.ipv4.conf.all.rp_filter=1", "net.ipv4.conf.default.rp_filter=1", "net.ipv4.conf.all.log_martians=1",
	"net.ipv4.conf.default.log_martians=1", "net.ipv4.tcp_syncookies=1", "net.ipv4.ip_forward=0", "net.ipv4.icmp_echo_ignore_broadcasts=1",
	"net.ipv4.icmp_ignore_bogus_error_responses=1", "kernel.randomize_va_space=2", "kernel.panic=10",
}

// stockWords are words that installers put on the command line, and that say
// what is so anyway.
var stockWords = []string{"mitigations=auto", "selinux=1"}

// stock is what a distribution put into a file below /etc: name=value, a space
// between words.
func stock(files Files, p string) []string {
	if path.Dir(p) != "/etc/sysctl.d" {
		return nil
	}
	name := path.Base(p)
	if lines := openWrtLines[name]; lines != nil {
		if like, _ := likeAny(files, "openwrt"); like {
			return lines
		}
	}
	return stockLines[name]
}

// stockForm is a line as stock has it.
func stockForm(name, value string) string {
	return name + "=" + strings.Join(strings.Fields(value), " ")
}
