package audit_test

import (
	"testing"

	"linerate/internal/audit"
)

// said lists "RULE name" of every finding at or above a severity.
func said(r *audit.Report, least audit.Severity) []string {
	var all []string
	for _, f := range r.Findings {
		if least == audit.Info || f.Severity != audit.Info {
			all = append(all, f.Rule()+" "+f.Name)
		}
	}
	return all
}

// stockHosts are configurations as distributions install them; the audit must report nothing on them.
var stockHosts = map[string]struct {
	release string
	files   map[string]string
}{
	"Debian 12": {"6.1.0-25-amd64", map[string]string{
		"/etc/debian_version": "12.7", "/etc/sysctl.conf": "#\n#kernel.printk = 3 4 1 3\n#net.ipv4.ip_forward=1\n", "/etc/sysctl.d/99-sysctl.conf": "#kernel.printk = 3 4 1 3\n",
		"/usr/lib/sysctl.d/50-pid-max.conf": "kernel.pid_max = 4194304", "/usr/lib/sysctl.d/99-protect-links.conf": "fs.protected_fifos = 1\nfs.protected_hardlinks = 1\nfs.protected_regular = 2\nfs.protected_symlinks = 1",
		"/etc/modules": "# /etc/modules: kernel modules to load at boot time.", "/etc/network/interfaces": "source /etc/network/interfaces.d/*\nauto lo\niface lo inet loopback\nallow-hotplug ens3\niface ens3 inet dhcp",
		"/etc/default/grub": "GRUB_DEFAULT=0\nGRUB_CMDLINE_LINUX_DEFAULT=\"quiet\"\nGRUB_CMDLINE_LINUX=\"\"",
	}},
	"Debian 13": {"6.12.43+deb13-amd64", map[string]string{
		"/etc/debian_version": "13.1", "/etc/systemd/system/multi-user.target.wants/ssh.service": "", "/usr/lib/sysctl.d/50-default.conf": "-net.core.default_qdisc = fq_codel\n-net.ipv4.ping_group_range = 0 2147483647\nnet.ipv4.conf.default.rp_filter = 2\nnet.ipv4.conf.*.rp_filter = 2\n-net.ipv4.conf.all.rp_filter\nkernel.sysrq = 0x01b6\nkernel.core_uses_pid = 1",
		"/etc/sysctl.d/README.sysctl": "x", "/etc/modprobe.d/intel-microcode-blacklist.conf": "blacklist microcode",
	}},
	"Ubuntu 24.04": {"6.8.0-45-generic", map[string]string{
		"/etc/debian_version": "trixie/sid", "/etc/sysctl.conf": "#net.ipv4.ip_forward=1", "/etc/sysctl.d/99-sysctl.conf": "#net.ipv4.ip_forward=1",
		"/etc/sysctl.d/10-bufferbloat.conf": "net.core.default_qdisc = fq_codel", "/etc/sysctl.d/10-console-messages.conf": "kernel.printk = 4 4 1 7", "/etc/sysctl.d/10-ipv6-privacy.conf": "net.ipv6.conf.all.use_tempaddr = 2\nnet.ipv6.conf.default.use_tempaddr = 2",
		"/etc/sysctl.d/10-kernel-hardening.conf": "kernel.kptr_restrict = 1", "/etc/sysctl.d/10-magic-sysrq.conf": "kernel.sysrq = 176", "/etc/sysctl.d/10-map-count.conf": "vm.max_map_count=1048576",
		"/etc/sysctl.d/10-network-security.conf": "net.ipv4.conf.default.rp_filter=2\nnet.ipv4.conf.all.rp_filter=2", "/etc/sysctl.d/10-ptrace.conf": "kernel.yama.ptrace_scope = 1", "/etc/sysctl.d/10-zeropage.conf": "vm.mmap_min_addr = 65536",
		"/etc/netplan/50-cloud-init.yaml": "network:\n  version: 2\n  ethernets:\n    ens3:\n      dhcp4: true\n", "/etc/modprobe.d/blacklist.conf": "blacklist eth1394\noptions snd_hda_intel power_save=0",
	}},
	"RHEL 9": {"5.14.0-503.11.1.el9_5.x86_64", map[string]string{
		"/etc/sysctl.conf": "# sysctl settings are defined through files in\n", "/etc/sysctl.d/99-sysctl.conf": "# sysctl settings are defined through files in\n", "/etc/systemd/system/multi-user.target.wants/tuned.service": "", "/etc/systemd/system/multi-user.target.wants/sshd.service": "",
		"/usr/lib/sysctl.d/50-redhat.conf": "net.ipv4.conf.default.rp_filter = 1\nnet.ipv4.conf.*.rp_filter = 1\n-net.ipv4.conf.all.rp_filter", "/usr/lib/sysctl.d/10-default-yama-scope.conf": "kernel.yama.ptrace_scope = 0",
		"/etc/tuned/active_profile": "virtual-guest", "/usr/lib/tuned/virtual-guest/tuned.conf": "[main]\ninclude=throughput-performance\n[sysctl]\nvm.dirty_ratio = 30\nvm.swappiness = 30", "/usr/lib/tuned/throughput-performance/tuned.conf": "[cpu]\ngovernor=performance\n[sysctl]\nvm.dirty_ratio=40\nvm.dirty_background_ratio=10\nvm.swappiness=10\nnet.core.somaxconn=>2048",
		"/etc/default/grub":         "GRUB_CMDLINE_LINUX=\"crashkernel=1G-4G:192M,4G-64G:256M,64G-:512M resume=/dev/mapper/rhel-swap rd.lvm.lv=rhel/root\"",
		"/etc/security/limits.conf": "# nothing",
	}},
}

func TestStockLinuxIsWell(t *testing.T) {
	for name, h := range stockHosts {
		t.Run(name, func(t *testing.T) {
			r := run(t, tree(t, h.release, h.files), "endpoint")
			for _, s := range said(r, audit.Info) {
				t.Errorf("unwanted finding %s", s)
			}
		})
	}
}

func TestLinuxPlaces(t *testing.T) {
	for _, c := range []struct {
		name, release string
		files         map[string]string
		rule, about   string
		want          bool
	}{
		{"a file that systemd does not read", "6.12", map[string]string{"/etc/os-release": "ID=fedora", "/etc/sysctl.conf": "net.core.somaxconn=8192", "/etc/systemd/system/multi-user.target.wants/x": ""}, "LR-UNREAD", "", true},
		{"the same with the link", "6.12", map[string]string{"/etc/sysctl.conf": "net.core.somaxconn=8192", "/etc/sysctl.d/99-sysctl.conf": "net.core.somaxconn=8192", "/etc/systemd/system/multi-user.target.wants/x": ""}, "LR-UNREAD", "", false},
		{"Debian 13 by os-release", "6.12", map[string]string{"/etc/sysctl.conf": "net.core.somaxconn=8192", "/etc/os-release": "PRETTY_NAME=\"Debian GNU/Linux 13 (trixie)\"\nVERSION_ID=\"13\"\nID=debian\n"}, "LR-UNREAD", "", true},
		{"Debian 12 by os-release", "6.1", map[string]string{"/etc/sysctl.conf": "net.core.somaxconn=8192", "/etc/os-release": "VERSION_ID=\"12\"\nID=debian\n"}, "LR-UNREAD", "", false},
		{"a list alone", "6.12", map[string]string{"/etc/sysctl.d/x.conf": "net.core.somaxconn=8192"}, "LR-UNREAD", "", false},
		{"a .link file that comes too late", "6.12", map[string]string{"/etc/systemd/network/99-rings.link": "[Match]\nDriver=ixgbe\n[Link]\nRxBufferSize=max", "/usr/lib/systemd/network/99-default.link": "[Match]\nOriginalName=*\n[Link]\nNamePolicy=keep"}, "LR-UNREAD", "99-rings.link", true},
		{"a sysctl before its module", "6.12", map[string]string{"/etc/sysctl.d/x.conf": "sunrpc.tcp_slot_table_entries=64"}, "LR-ORDER", "sunrpc.tcp_slot_table_entries", true},
		{"with a module that captures know from the catalogue", "6.12", map[string]string{"/etc/sysctl.d/x.conf": "net.mpls.platform_labels=100000", "/etc/modules-load.d/mpls.conf": "mpls_router\nmpls_iptunnel\n"}, "LR-ORDER", "", false},
		{"a later value that the kernel refuses", "6.12", map[string]string{"/etc/sysctl.d/x.conf": "net.ipv4.ip_forward=1\nnet.ipv4.ip_forward=yes"}, "LR-DUPLICATE", "", false},
		{"a later queueing discipline that no kernel has", "6.12", map[string]string{"/etc/sysctl.d/x.conf": "net.core.default_qdisc=fq\nnet.core.default_qdisc=fqq"}, "LR-DUPLICATE", "", false},
		{"with its module", "6.12", map[string]string{"/etc/sysctl.d/x.conf": "sunrpc.tcp_slot_table_entries=64", "/etc/modules-load.d/nfs.conf": "sunrpc"}, "LR-ORDER", "", false},
		{"words for GRUB that a drop-in takes away", "6.8", map[string]string{"/etc/default/grub": "GRUB_CMDLINE_LINUX_DEFAULT=\"quiet splash mitigations=off\"", "/etc/default/grub.d/50-cloudimg-settings.cfg": "GRUB_CMDLINE_LINUX_DEFAULT=\"console=tty1 console=ttyS0\""}, "LR-UNREAD", "grub", true},
		{"cosmetic words alone", "6.8", map[string]string{"/etc/default/grub": "GRUB_CMDLINE_LINUX_DEFAULT=\"quiet splash\"", "/etc/default/grub.d/50-cloudimg-settings.cfg": "GRUB_CMDLINE_LINUX_DEFAULT=\"console=tty1 console=ttyS0\""}, "LR-UNREAD", "", false},
		{"a drop-in that keeps what is there", "6.8", map[string]string{"/etc/default/grub": "GRUB_CMDLINE_LINUX_DEFAULT=\"mitigations=off\"", "/etc/default/grub.d/50-x.cfg": "GRUB_CMDLINE_LINUX_DEFAULT=\"$GRUB_CMDLINE_LINUX_DEFAULT console=ttyS0\""}, "LR-UNREAD", "", false},
		{"a drop-in of GRUB on Red Hat", "5.14", map[string]string{"/etc/os-release": "ID=\"rhel\"\nID_LIKE=\"fedora\"", "/etc/default/grub.d/50-x.cfg": "GRUB_CMDLINE_LINUX=\"mitigations=off\""}, "LR-UNREAD", "50-x.cfg", true},
		{"a drop-in of GRUB on a derivative of Debian", "6.8", map[string]string{"/etc/os-release": "ID=linuxmint\nID_LIKE=\"ubuntu debian\"", "/etc/default/grub.d/50-x.cfg": "GRUB_CMDLINE_LINUX=\"mitigations=off\""}, "LR-UNREAD", "", false},
		{"conntrack before its module", "6.12", map[string]string{"/etc/sysctl.d/x.conf": "net.netfilter.nf_conntrack_max=1000000"}, "LR-ORDER", "net.netfilter.nf_conntrack_max", true},
		{"with a leading dash, errors are ignored", "6.12", map[string]string{"/etc/sysctl.d/x.conf": "-net.netfilter.nf_conntrack_max=1000000"}, "LR-ORDER", "", false},
		{"more entries than buckets", "6.12", map[string]string{"/etc/sysctl.d/x.conf": "net.netfilter.nf_conntrack_max=9000000\nnet.netfilter.nf_conntrack_buckets=65536"}, "LR-COUPLED", "", true},
		{"more entries than hashsize allows for", "6.12", map[string]string{"/etc/sysctl.d/x.conf": "net.netfilter.nf_conntrack_max=9000000", "/etc/modprobe.d/x.conf": "options nf_conntrack hashsize=65536"}, "LR-COUPLED", "", true},
		{"as many entries as hashsize asks for", "6.12", map[string]string{"/etc/sysctl.d/x.conf": "net.netfilter.nf_conntrack_max=9000000", "/etc/modprobe.d/x.conf": "options nf_conntrack hashsize=2250000"}, "LR-COUPLED", "", false},
		{"buckets set over hashsize", "6.12", map[string]string{"/etc/sysctl.d/x.conf": "net.netfilter.nf_conntrack_max=9000000\nnet.netfilter.nf_conntrack_buckets=65536", "/etc/modprobe.d/x.conf": "options nf_conntrack hashsize=2250000"}, "LR-COUPLED", "", true},
		{"a file without .conf", "6.12", map[string]string{"/etc/sysctl.d/90-net": "net.core.somaxconn=8192"}, "LR-UNREAD", "90-net", true},
		{"a backup file", "6.12", map[string]string{"/etc/sysctl.d/90-net.conf.rpmsave": "net.core.somaxconn=8192", "/etc/sysctl.d/README": "Put settings here.\nnet.core.somaxconn=8192"}, "LR-UNREAD", "", false},
		{"an interface's dot written as a separator", "6.12", map[string]string{"/etc/sysctl.d/x.conf": "net.ipv4.conf.eth0.100.rp_filter=0"}, "LR-UNKNOWN", "net.ipv4.conf.eth0.100.rp_filter", true},
		{"an interface's dot as a slash", "6.12", map[string]string{"/etc/sysctl.d/x.conf": "net.ipv4.conf.eth0/100.rp_filter=0\nnet/ipv4/conf/eth0.200/rp_filter=0"}, "LR-UNKNOWN", "", false},
		{"redirects on a host: all or interface", "6.12", map[string]string{"/etc/sysctl.d/x.conf": "net.ipv4.conf.all.accept_redirects=0"}, "LR-PERDEVICE", "", true},
		{"redirects on a router: all and interface", "6.12", map[string]string{"/etc/sysctl.d/x.conf": "net.ipv4.conf.all.accept_redirects=0\nnet.ipv4.ip_forward=1"}, "LR-PERDEVICE", "", false},
		{"or: default enables it", "6.12", map[string]string{"/etc/sysctl.d/x.conf": "net.ipv4.conf.all.send_redirects=0"}, "LR-PERDEVICE", "", true},
		{"or: default disables it too", "6.12", map[string]string{"/etc/sysctl.d/x.conf": "net.ipv4.conf.all.send_redirects=0\nnet.ipv4.conf.default.send_redirects=0"}, "LR-PERDEVICE", "", false},
		{"and: conf.all alone", "6.12", map[string]string{"/etc/sysctl.d/x.conf": "net.ipv4.conf.all.bc_forwarding=1"}, "LR-PERDEVICE", "", true},
		{"ignored: conf.all has no effect", "6.12", map[string]string{"/etc/sysctl.d/x.conf": "net.ipv6.conf.all.accept_ra=0"}, "LR-PERDEVICE", "net.ipv6.conf.all.accept_ra", true},
		{"or: a glob sets all too", "6.12", map[string]string{"/etc/sysctl.d/x.conf": "net.ipv4.conf.*.send_redirects=0"}, "LR-PERDEVICE", "", false},
		{"or: all is on by default", "6.12", map[string]string{"/etc/sysctl.d/x.conf": "net.ipv4.conf.eth0.send_redirects=0"}, "LR-PERDEVICE", "net.ipv4.conf.eth0.send_redirects", true},
		{"max: all is greater", "6.12", map[string]string{"/etc/sysctl.d/x.conf": "net.ipv4.conf.all.rp_filter=2\nnet.ipv4.conf.eth0.rp_filter=1"}, "LR-PERDEVICE", "net.ipv4.conf.eth0.rp_filter", true},
		{"max: the interface is greater", "6.12", map[string]string{"/etc/sysctl.d/x.conf": "net.ipv4.conf.all.rp_filter=0\nnet.ipv4.conf.eth0.rp_filter=2"}, "LR-PERDEVICE", "", false},
		{"sets: all written after", "6.12", map[string]string{"/etc/sysctl.d/x.conf": "net.ipv4.conf.eth0.forwarding=0\nnet.ipv4.ip_forward=1"}, "LR-UNDONE", "net.ipv4.conf.eth0.forwarding", true},
		{"sets: all written before", "6.12", map[string]string{"/etc/sysctl.d/x.conf": "net.ipv4.ip_forward=1\nnet.ipv4.conf.eth0.forwarding=0"}, "LR-UNDONE", "", false},
		{"a default that the distribution changes", "6.12", map[string]string{"/etc/sysctl.d/x.conf": "net.ipv4.conf.default.rp_filter=0"}, "LR-DEFAULT", "", false},
		{"a slip in conf.all", "6.12", map[string]string{"/etc/sysctl.d/x.conf": "net.ipv4.conf.al.rp_filter=2"}, "LR-UNKNOWN", "net.ipv4.conf.al.rp_filter", true},
		{"a report", "6.12", map[string]string{"/etc/sysctl.d/x.conf": "fs.file-nr=1 2 3"}, "LR-MISPLACED", "fs.file-nr", true},
		{"removed with CFS", "6.12", map[string]string{"/etc/sysctl.d/x.conf": "kernel.sched_latency_ns=1"}, "LR-REMOVED", "kernel.sched_latency_ns", true},
		{"present on an old kernel", "5.10", map[string]string{"/etc/sysctl.d/x.conf": "kernel.sched_latency_ns=18000000"}, "LR-REMOVED", "", false},
		{"above what any machine computes", "6.12", map[string]string{"/etc/sysctl.d/x.conf": "net.ipv4.tcp_max_tw_buckets=1440000"}, "LR-LOWERS", "net.ipv4.tcp_max_tw_buckets", false},
		{"below what some machines compute", "6.12", map[string]string{"/etc/sysctl.d/x.conf": "net.ipv4.tcp_max_tw_buckets=5000"}, "LR-LOWERS", "net.ipv4.tcp_max_tw_buckets", true},
		{"a limit in pages below what some machines compute", "6.12", map[string]string{"/etc/sysctl.d/x.conf": "net.ipv4.tcp_mem=65536 131072 262144"}, "LR-LOWERS", "net.ipv4.tcp_mem", true},
		{"not obsolete yet", "6.12", map[string]string{"/etc/sysctl.d/x.conf": "net.core.rmem_max=2097152"}, "LR-FOLKLORE", "net.core.rmem_max", false},
		{"obsolete", "6.18", map[string]string{"/etc/sysctl.d/x.conf": "net.core.rmem_max=2097152"}, "LR-LOWERS", "net.core.rmem_max", true},
		{"enabling forwarding is not a mistake", "6.12", map[string]string{"/etc/sysctl.d/x.conf": "net.ipv6.conf.all.forwarding=1"}, "LR-ORDER", "net.ipv6.conf.all.forwarding", false},
		{"an unknown name in a completely known family", "6.12", map[string]string{"/etc/sysctl.d/x.conf": "net.ipv4.tcp_delack_min=5"}, "LR-UNKNOWN", "net.ipv4.tcp_delack_min", true},
		{"below the kernel's default", "6.12", map[string]string{"/etc/sysctl.d/x.conf": "kernel.shmmax=4294967296"}, "LR-LOWERS", "kernel.shmmax", true},
		{"the other driver's parameter", "6.12", map[string]string{"/etc/modprobe.d/x.conf": "options ixgbe InterruptThrottleRate=1"}, "LR-REMOVED", "module.ixgbe.InterruptThrottleRate", true},
		{"off does not disable it", "6.12", map[string]string{"/etc/default/grub": "GRUB_CMDLINE_LINUX=\"pcie_aspm=off\""}, "LR-INEFFECTIVE", "cmdline.pcie_aspm", true},
		{"GRO off on a router", "6.12", map[string]string{"/etc/network/interfaces": "iface eth0 inet static\n post-up ethtool -K eth0 gro off"}, "LR-LINUX-GRO-OFF", "eth0", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, tree(t, c.release, c.files), "router")
			if found := find(r, c.rule, c.about); (len(found) > 0) != c.want {
				t.Errorf("%s: want %v; said %v", c.rule, c.want, said(r, audit.Info))
			}
		})
	}
}

// TestLinuxValues: numbers are parsed as by the kernel (tried on 6.18 in a namespace).
func TestLinuxValues(t *testing.T) {
	for line, want := range map[string]string{
		"net.core.rmem_max = 16M":                           "error",
		"net.ipv4.tcp_rmem = 4096 131072 16M":               "error",
		"net.ipv4.tcp_rmem = 4096,131072,16777216":          "error",
		"net.ipv4.tcp_rmem = \"4096 131072 16777216\"":      "error",
		"net.ipv4.tcp_rmem = 4096 131072 16777216 33554432": "warning",
		"net.ipv4.tcp_rmem = 4096 131072 16777216 # bigger": "",
		"net.ipv4.tcp_keepalive_time = 600 # ten minutes":   "",
		"net.ipv4.tcp_keepalive_time = 600s":                "error",
		"net.core.rmem_max = 0x1000000":                     "",
	} {
		r := run(t, tree(t, "6.12", map[string]string{"/etc/sysctl.d/x.conf": line}), "web")
		got := ""
		for _, f := range r.Findings {
			if f.Rule() == "LR-RANGE" {
				got = string(f.Severity)
			}
		}
		if got != want {
			t.Errorf("%s: LR-RANGE %q, want %q", line, got, want)
		}
	}
	f := tree(t, "6.12", map[string]string{"/etc/sysctl.d/x.conf": "net.ipv4.tcp_syncookies = 1 # on\n"})
	if v, _ := f.Value("net.ipv4.tcp_syncookies"); v != "1" {
		t.Errorf("a number with a comment is %q", v)
	}
}

// TestDistributionsOwn: what a distribution adds to its kernel is not an error there.
func TestDistributionsOwn(t *testing.T) {
	for _, c := range []struct {
		release, name string
		want          audit.Severity
	}{
		{"6.12.43+deb13-amd64", "kernel.unprivileged_userns_clone", audit.Info},
		{"6.12", "kernel.unprivileged_userns_clone", audit.Info},
		{"5.14.0-503.11.1.el9_5.x86_64", "net.ipv4.tcp_plb_enabled", audit.Info},
		{"5.15.0-119-generic", "net.ipv4.tcp_plb_enabled", audit.Warning},
	} {
		r := run(t, tree(t, c.release, map[string]string{"/etc/sysctl.d/x.conf": c.name + "=0"}), "web")
		if len(r.Findings) == 0 || r.Findings[0].Severity != c.want {
			t.Errorf("%s on %s: %+v, want %s", c.name, c.release, r.Findings, c.want)
		}
	}
}

// TestOlderThanTheFamilies: a name is reported as nonexistent only on releases that the catalogue covers
// completely.
func TestOlderThanTheFamilies(t *testing.T) {
	for rel, want := range map[string]audit.Severity{"5.10": audit.Warning, "5.14.0-503.el9_5.x86_64": audit.Warning, "4.18.0-553.el8_10.x86_64": audit.Info} {
		r := run(t, tree(t, rel, map[string]string{"/etc/sysctl.d/x.conf": "net.ipv4.vendor_fast_path=1"}), "endpoint")
		if len(r.Findings) != 1 || r.Findings[0].Severity != want {
			t.Errorf("%s: %+v, want one %s", rel, r.Findings, want)
		}
	}
}

// TestUndoneInAnotherCase: a script that enables forwarding in one branch and disables it in the other
// does not undo its own setting.
func TestUndoneInAnotherCase(t *testing.T) {
	for _, branches := range []bool{false, true} {
		f := tree(t, "6.12", map[string]string{"/etc/sysctl.d/x.conf": "net.ipv4.ip_forward=0\nnet.ipv4.ip_forward=1\nnet.ipv4.conf.all.forwarding=0"})
		for _, s := range f.Settings {
			for i := range s.Lines {
				s.Lines[i].Effective = s.Lines[i].Effective || branches
			}
		}
		r := run(t, f, "router")
		if found := find(r, "LR-UNDONE", "net.ipv4.ip_forward"); (len(found) > 0) == branches {
			t.Errorf("branches %v: %v", branches, said(r, audit.Info))
		}
	}
}
