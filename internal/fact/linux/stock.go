package linux

import (
	"path"
	"slices"
	"strings"
)

// stockLines are what distributions themselves put below /etc/sysctl.d
// (Ubuntu's procps, cloud images, Fedora's and openSUSE's packages): the
// owner of a host did not write them. A line that was changed is theirs.
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
	"60-gce-network-security.conf": {"net.ipv4.conf.all.rp_filter=1", "net.ipv4.conf.default.rp_filter=1", "net.ipv4.tcp_syncookies=1", "kernel.randomize_va_space=2", "kernel.panic=10"},
	"11-gce-network-security.conf": {"net.ipv4.conf.all.rp_filter=1", "net.ipv4.conf.default.rp_filter=1", "net.ipv4.tcp_syncookies=1", "kernel.randomize_va_space=2", "kernel.panic=10"},
	"50-pid-max.conf":              {"kernel.pid_max=4194304"},
	"50-redhat.conf":               {"net.ipv4.conf.all.rp_filter=1", "net.ipv4.conf.default.rp_filter=1"},
}

// stock reports a line that a distribution put below /etc.
func stock(p, name, value string) bool {
	if !strings.HasPrefix(p, "/etc/sysctl.d/") {
		return false
	}
	return slices.Contains(stockLines[path.Base(p)], name+"="+strings.Join(strings.Fields(value), " "))
}
