package audit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"linerate/internal/audit"
)

// reading is a small tree and what the audit must or must not report on it.
type reading struct {
	note, release, role string
	files               map[string]string
	// want lists findings as "severity RULE:name", with words of the message, reason or fix after a
	// bar; "!RULE:name" or "!severity" must not be reported.
	want []string
}

// hold compares a report with what is wanted.
func (c reading) hold(t *testing.T, r *audit.Report) {
	t.Helper()
	for _, want := range c.want {
		if never, ok := strings.CutPrefix(want, "!"); ok {
			if slices.ContainsFunc(r.Findings, func(f audit.Finding) bool {
				return strings.HasPrefix(f.ID, never) || strings.HasPrefix(fmt.Sprintf("%s %s", f.Severity, f.ID), never)
			}) {
				t.Errorf("%s: false alarm %s in %s", c.note, never, texts(r.Findings))
			}
			continue
		}
		head, says, _ := strings.Cut(want, " | ")
		if !slices.ContainsFunc(r.Findings, func(f audit.Finding) bool {
			return strings.HasPrefix(fmt.Sprintf("%s %s", f.Severity, f.ID), head) && strings.Contains(f.Message+" "+f.Why+" "+f.Fix, says)
		}) {
			t.Errorf("%s: want %s in %s", c.note, want, texts(r.Findings))
		}
	}
}

func holdAll(t *testing.T, release string, all []reading) {
	t.Helper()
	for _, c := range all {
		rel, role := c.release, c.role
		if rel == "" {
			rel = release
		}
		if role == "" {
			role = "endpoint"
		}
		t.Run(c.note, func(t *testing.T) { c.hold(t, run(t, tree(t, rel, c.files), role)) })
	}
}

// TestNearNames: a name similar to a known one is an error only if the system is known not to have
// it.
func TestNearNames(t *testing.T) {
	holdAll(t, "14.3", []reading{
		{note: "modules of a stock kernel", files: map[string]string{"/boot/loader.conf": "if_vlan_load=\"YES\"\nif_ure_load=\"YES\"\nif_axge_load=\"YES\"\nif_me_load=\"YES\"\nng_ipfw_load=\"YES\"\nif_ixv_load=\"YES\"\nif_cxl_load=\"YES\"\n"}, want: []string{"!LR-UNKNOWN"}},
		{note: "an unknown module", files: map[string]string{"/boot/loader.conf": "if_vlam_load=\"YES\"\n"}, want: []string{"!LR-REMOVED"}},
		{note: "a loader variable that exists", files: map[string]string{"/boot/loader.conf": "kern.geom.label.gpt.enable=\"0\"\n"}, want: []string{"!error", "!warning"}},
		{note: "a typo in a completely known family", files: map[string]string{"/etc/sysctl.conf": "net.inet.tcp.sendspase=65536"}, want: []string{"error LR-UNKNOWN:net.inet.tcp.sendspase | did you mean net.inet.tcp.sendspace"}},
		{note: "variables of a stock rc.conf", files: map[string]string{"/etc/rc.conf": "kld_list=\"nullfs\"\nrc_conf_files=\"/etc/rc.conf\"\nntpd_enable=\"YES\"\n"}, want: []string{"!LR-UNKNOWN"}},
		{note: "a typo in an rc variable", files: map[string]string{"/etc/rc.conf": "ntpd_enabel=\"YES\"\n"}, want: []string{"info LR-UNKNOWN:ntpd_enabel | did you mean ntpd_enable"}},
		{note: "a typo in a module's name", files: map[string]string{"/boot/loader.conf": "accf_htttp_load=\"YES\"\n"}, want: []string{"warning LR-UNKNOWN:accf_htttp_load | did you mean accf_http_load"}},
	})
	holdAll(t, "6.12", []reading{
		{note: "words of the command line", files: map[string]string{"/etc/default/grub": `GRUB_CMDLINE_LINUX="kpti=1 ssbd=force-on slab_debug=FZ ds=nocloud text nofb noefi"`}, want: []string{"!error", "!warning"}},
		{note: "intel_idle off, and acpi_idle limited", files: map[string]string{"/etc/default/grub": `GRUB_CMDLINE_LINUX="intel_idle.max_cstate=0 processor.max_cstate=1"`}, want: []string{"!LR-INEFFECTIVE"}},
		{note: "intel_idle off alone", files: map[string]string{"/etc/default/grub": `GRUB_CMDLINE_LINUX="intel_idle.max_cstate=0"`}, want: []string{"info LR-INEFFECTIVE:cmdline.intel_idle.max_cstate"}},
		{note: "the lowest of three thresholds above the others", files: map[string]string{"/etc/sysctl.d/x.conf": "net.ipv4.neigh.default.gc_thresh1=80000"}, want: []string{"warning LR-COUPLED:net.ipv4.neigh.default.gc_thresh1"}},
		{note: "a typo in a word", files: map[string]string{"/etc/default/grub": `GRUB_CMDLINE_LINUX="mitigatons=off"`}, want: []string{"warning LR-UNKNOWN:cmdline.mitigatons | did you mean"}},
		{note: "a slip in a word that is no record", files: map[string]string{"/etc/default/grub": `GRUB_CMDLINE_LINUX="clocksourse=tsc"`}, want: []string{"warning LR-UNKNOWN:cmdline.clocksourse | did you mean"}},
		{note: "words that only newer kernels have", files: map[string]string{"/etc/default/grub": `GRUB_CMDLINE_LINUX="slab_nomerge slab_debug=FZ gather_data_sampling=off"`}, want: []string{"!LR-UNKNOWN"}},
		{note: "of a whole family", files: map[string]string{"/etc/sysctl.d/x.conf": "net.core.somaxcon=4096"}, want: []string{"error LR-UNKNOWN:net.core.somaxcon | did you mean net.core.somaxconn"}},
	})
}

// TestRCConfAsShReadsIt: assignments that append to a variable are not duplicates, and errors that
// make sh exit stop the boot.
func TestRCConfAsShReadsIt(t *testing.T) {
	rc := func(text string) map[string]string { return map[string]string{"/etc/rc.conf": text} }
	holdAll(t, "14.3", []reading{
		{note: "accumulates", files: rc("a_profiles=\"x y\"\na_profiles=\"${a_profiles} z\"\nkld_list=\"nullfs\"\nkld_list=\"$kld_list fusefs\"\nifconfig_em0=\"inet 198.18.0.1/24\"\nifconfig_em0=\"${ifconfig_em0} -lro\"\n"), want: []string{"!LR-DUPLICATE"}},
		{note: "a module by its old name", files: rc("kld_list=\"coretemp fuse\"\nkld_list=\"${kld_list} atapicam.ko nosuchname\"\n"), want: []string{"warning LR-RENAMED:fuse | Write fusefs for fuse", "warning LR-REMOVED:atapicam", "!LR-REMOVED:nosuchname", "!LR-REMOVED:coretemp"}},
		{note: "accumulates, from nothing too", files: rc("kld_list=\"nullfs\"\nkld_list=\"${kld_list-} fusefs\"\nkld_list=\"${kld_list:+$kld_list }tcp_rack\"\nkld_list=\"${kld_list:-nobodyknows} if_bridge\"\nifconfig_em0=\"inet 198.18.0.1/24\"\nifconfig_em0=\"${ifconfig_em0:-} -lro\"\n"), want: []string{"!LR-DUPLICATE"}},
		{note: "a firewall by a name that rc does not read", files: rc("ipfw_enable=\"YES\"\n"), want: []string{"error LR-RC-FIREWALL-NAME:ipfw_enable | Write firewall_enable", "!LR-UNKNOWN"}},
		{note: "beside the right one", files: rc("ipfw_enable=\"YES\"\nfirewall_enable=\"YES\"\nfirewall_type=\"open\"\n"), want: []string{"warning LR-RC-FIREWALL-NAME:ipfw_enable | Remove the line", "!error"}},
		{note: "accumulates, then starts anew", files: rc("kld_list=\"x\"\nkld_list=\"$kld_list y\"\nkld_list=\"z\"\n"), want: []string{"warning LR-DUPLICATE:kld_list"}},
		{note: "does not hold itself", files: rc("kld_list=\"x\"\nab_enable=\"1\"\nkld_list=\"$ab_enable y\"\n"), want: []string{"warning LR-DUPLICATE:kld_list"}},
		{note: "in the loader", files: map[string]string{"/boot/loader.conf": "loader_conf_dirs=\"/boot/loader.conf.d\"\nnet.x=\"1\"\nnet.x=\"${net.x} 2\"\n"}, want: []string{"!LR-DUPLICATE"}},
		{note: "a quote without its end", files: rc("sshd_enable=\"YES\"\nbackground_fsck=\"NO\nhostname=\"a.example\"\n"), want: []string{"error LR-SYNTAX:/etc/rc.conf:background_fsck | single-user mode"}},
		{note: "two of them", files: rc("a_enable=\"NO\nb_enable=\"YES\"\nc_enable=\"NO\nd_enable=\"YES\"\n"), want: []string{"error LR-SYNTAX:/etc/rc.conf:a_enable | set nothing"}},
		{note: "a value of several lines", files: rc("a=\"one\n two\"\n"), want: []string{"!LR-SYNTAX"}},
		{note: "an if without its end", files: rc("if true; then\na=1\n"), want: []string{"error LR-SYNTAX | expecting \"fi\""}},
		{note: "a whole if, a case, a loop and a function", files: rc("if [ -f /x ]; then\n a=1\nelse\n b=2\nfi\ncase $h in\na) c=1 ;;\n*) d=1 ;;\nesac\nfor i in 1 2; do e=$i; done\nf() {\n g=1\n}\n"), want: []string{"!LR-SYNTAX"}},
		{note: "exit", files: rc("a=1\nexit 0\nb=2\n"), want: []string{"error LR-SYNTAX | exit ends rc(8)"}},
		{note: "exit with a redacted status", files: rc("a=1\nexit $x\nb=2\n"), want: []string{"error LR-SYNTAX | With a status other than 0 it stops in single-user mode"}},
		{note: "a sourced file that a complete system lacks", files: map[string]string{"/etc/defaults/rc.conf": "rc_conf_files=\"/etc/rc.conf\"", "/etc/rc.conf": ". /etc/none.conf\n"}, want: []string{"error LR-SYNTAX | cannot open /etc/none.conf"}},
		{note: "a sourced file that a partial copy lacks", files: rc(". /etc/none.conf\n"), want: []string{"warning LR-SYNTAX | not among the files here"}},
	})
}

// TestWritesInOrder: lines take effect in order, and side effects of a line on other tunables count
// for the lines after it.
func TestWritesInOrder(t *testing.T) {
	x := func(lines ...string) map[string]string {
		return map[string]string{"/etc/sysctl.d/x.conf": strings.Join(lines, "\n")}
	}
	holdAll(t, "6.12", []reading{
		{note: "forwarding resets redirects", files: x("net.ipv4.conf.all.accept_redirects=0", "net.ipv4.ip_forward=1", "net.ipv4.ip_forward=0"), want: []string{"!LR-UNDONE"}},
		{note: "forwarding on and off again", files: x("net.ipv4.conf.all.accept_redirects=0", "net.ipv4.ip_forward=1", "net.ipv4.conf.all.forwarding=0"), want: []string{"warning LR-UNDONE:net.ipv4.conf.all.accept_redirects | makes it 1", "warning LR-UNDONE:net.ipv4.ip_forward | one variable"}},
		{note: "default values that change something", files: x("net.ipv4.ip_forward=1", "net.ipv4.conf.eth0.forwarding=0", "net.ipv4.conf.all.accept_redirects=1"), want: []string{"!LR-DEFAULT"}},
		{note: "setting the same value again does not count as a write", files: x("net.ipv4.ip_forward=1", "net.ipv4.conf.eth0.forwarding=0", "net.ipv4.ip_forward=1"), want: []string{"!LR-UNDONE"}},
		{note: "the greater of all and the interface applies", files: x("net.ipv4.conf.all.rp_filter=2", "net.ipv4.conf.eth0.rp_filter=1"), want: []string{"warning LR-PERDEVICE:net.ipv4.conf.eth0.rp_filter | does nothing", "!LR-HARMFUL:net.ipv4.conf.eth0.rp_filter"}},
		{note: "all or the interface is enough", files: x("net.ipv4.conf.all.proxy_arp=1", "net.ipv4.conf.eth0.proxy_arp=0"), want: []string{"warning LR-PERDEVICE:net.ipv4.conf.eth0.proxy_arp | does nothing", "!LR-DEFAULT:net.ipv4.conf.eth0.proxy_arp"}},
		{note: "port range in reverse order", files: x("net.ipv4.ip_local_port_range=65535 1024"), want: []string{"error LR-RANGE:net.ipv4.ip_local_port_range | above the last"}},
		{note: "a port range that includes privileged ports", files: x("net.ipv4.ip_local_port_range=1000 65535"), want: []string{"error LR-RANGE:net.ipv4.ip_local_port_range | below net.ipv4.ip_unprivileged_port_start, 1024"}},
		{note: "a port range after privileged ports were lowered", files: x("net.ipv4.ip_unprivileged_port_start=1000", "net.ipv4.ip_local_port_range=1000 65535"), want: []string{"!LR-RANGE", "!LR-FOLKLORE:net.ipv4.ip_local_port_range"}},
		{note: "privileged ports above the range", files: x("net.ipv4.ip_unprivileged_port_start=40000"), want: []string{"error LR-RANGE:net.ipv4.ip_unprivileged_port_start | begins below it, at 32768"}},
		{note: "low threshold set before the high one", files: x("net.ipv4.ipfrag_low_thresh=8000000", "net.ipv4.ipfrag_high_thresh=9000000"), want: []string{"error LR-RANGE:net.ipv4.ipfrag_low_thresh | 4194304", "!LR-COUPLED"}},
		{note: "high threshold set before the low one", files: x("net.ipv4.ipfrag_high_thresh=9000000", "net.ipv4.ipfrag_low_thresh=8000000"), want: []string{"!LR-RANGE", "!LR-COUPLED"}},
		{note: "a ratio and then bytes", files: x("vm.dirty_ratio=10", "vm.dirty_bytes=100000000"), want: []string{"warning LR-UNDONE:vm.dirty_ratio | makes it 0", "!LR-COUPLED"}},
		{note: "reordering below its maximum", files: x("net.ipv4.tcp_max_reordering=1000", "net.ipv4.tcp_reordering=500"), want: []string{"!LR-RANGE"}},
		{note: "a maximum that exists only in later releases", files: x("net.ipv4.tcp_reordering=500"), want: []string{"!LR-RANGE"}},
		{note: "the maximum on that release", release: "6.18.44", files: x("net.ipv4.tcp_reordering=500"), want: []string{"error LR-RANGE:net.ipv4.tcp_reordering | 300"}},
		{note: "IPv6: all writes every interface", files: x("net.ipv6.conf.eth0.disable_ipv6=0", "net.ipv6.conf.all.disable_ipv6=1"), want: []string{"warning LR-UNDONE:net.ipv6.conf.eth0.disable_ipv6"}},
		{note: "IPv6: the exception after it", files: x("net.ipv6.conf.all.disable_ipv6=1", "net.ipv6.conf.eth0.disable_ipv6=0"), want: []string{"!LR-UNDONE", "!LR-DEFAULT"}},
	})
}

// TestLinuxNumbers: how the kernel parses numbers, and which accepted ones are harmful.
func TestLinuxNumbers(t *testing.T) {
	x := func(lines ...string) map[string]string {
		return map[string]string{"/etc/sysctl.d/x.conf": strings.Join(lines, "\n")}
	}
	holdAll(t, "6.12", []reading{
		{note: "bytes for pages", files: x("net.ipv4.tcp_mem=4096 87380 16777216"), want: []string{"warning LR-LINUX-PAGES:net.ipv4.tcp_mem | 64 GiB", "!LR-LOWERS"}},
		{note: "only the first number of a vector", files: x("net.ipv4.tcp_wmem=8192"), want: []string{"!LR-LOWERS", "!LR-RANGE"}},
		{note: "a fix changes only the number that it names", files: x("net.ipv4.tcp_rmem=4096 87380 2147483647"), want: []string{"info LR-LINUX-RECEIVE-START | tcp_rmem = 4096 131072 2147483647"}},
		{note: "a fix within the kernel's bounds", files: x("net.ipv4.tcp_rmem=4096 87380 4294967296"), want: []string{"error LR-RANGE:net.ipv4.tcp_rmem | it stores 4096 87380", "!LR-LINUX-RECEIVE-START"}},
		{note: "a range is stored whole or not at all", files: x("net.ipv4.ip_local_port_range=1024 70000", "net.ipv4.ip_unprivileged_port_start=2000"), want: []string{"error LR-RANGE:net.ipv4.ip_local_port_range | keeps all of its numbers", "!LR-RANGE:net.ipv4.ip_unprivileged_port_start"}},
		{note: "numbers stored before a vector is refused", files: x("net.ipv4.udp_mem=1 2 3x"), want: []string{"error LR-RANGE:net.ipv4.udp_mem | it stores 1 2,"}},
		{note: "two numbers for a scalar", files: x("net.ipv4.tcp_keepalive_time=15 20"), want: []string{"warning LR-RANGE:net.ipv4.tcp_keepalive_time | the kernel takes 15 and ignores the rest"}},
		{note: "beyond eight bits", files: x("net.ipv4.tcp_retries2=256", "net.ipv4.tcp_keepalive_probes=1000"), want: []string{"error LR-RANGE:net.ipv4.tcp_retries2", "error LR-RANGE:net.ipv4.tcp_keepalive_probes"}},
		{note: "32 bits in older releases", release: "5.10", files: x("net.ipv4.tcp_retries2=256", "net.ipv4.tcp_keepalive_probes=1000"), want: []string{"!LR-RANGE"}},
		{note: "switches as words", files: map[string]string{"/etc/default/grub": `GRUB_CMDLINE_LINUX="random.trust_cpu=off apparmor=0"`}, want: []string{"!LR-RANGE"}},
		{note: "values that nothing reads", files: x("net.ipv4.udp_wmem_min=8192", "net.core.warnings=1", "net.ipv4.ipfrag_secret_interval=600", "net.ipv4.xfrm4_gc_thresh=65536"),
			want: []string{"info LR-INEFFECTIVE:net.ipv4.udp_wmem_min", "info LR-INEFFECTIVE:net.core.warnings", "info LR-INEFFECTIVE:net.ipv4.ipfrag_secret_interval", "info LR-INEFFECTIVE:net.ipv4.xfrm4_gc_thresh"}},
		{note: "too little and too much", files: x("net.core.netdev_max_backlog=1", "net.ipv4.tcp_keepalive_time=3", "vm.dirty_ratio=80", "vm.dirty_background_ratio=50", "net.netfilter.nf_conntrack_max=4194304", "net.ipv4.conf.all.accept_source_route=1"),
			want: []string{"warning LR-LINUX-SHORT-BACKLOG", "warning LR-LINUX-KEEPALIVE-FLOOD", "warning LR-LINUX-DIRTY-SHARE:vm.dirty_ratio", "warning LR-LINUX-DIRTY-SHARE:vm.dirty_background_ratio", "warning LR-CONNTRACK-BUCKETS", "warning LR-LINUX-SOURCE-ROUTE"}},
		{note: "the module's parameter on the command line", files: map[string]string{"/etc/sysctl.d/x.conf": "net.netfilter.nf_conntrack_max=1048576", "/etc/default/grub": `GRUB_CMDLINE_LINUX="nf_conntrack.hashsize=16384"`}, want: []string{"warning LR-COUPLED:net.netfilter.nf_conntrack_max~module.nf_conntrack.hashsize"}},
		{note: "a vendor's own name", files: map[string]string{"/etc/os-release": "ID=openwrt", "/etc/sysctl.d/x.conf": "net.netfilter.nf_conntrack_tcp_no_window_check=1"}, want: []string{"info LR-REMOVED:net.netfilter.nf_conntrack_tcp_no_window_check"}},
		{note: "a name of a later release", files: x("net.ipv4.tcp_comp_sack_rtt_percent=33"), want: []string{"warning LR-NOTYET:net.ipv4.tcp_comp_sack_rtt_percent"}},
	})
}

// TestTunedProfiles: tuned merges its profiles, removes quotes, and raises only where told to; the
// profiles of packages are judged, too.
func TestTunedProfiles(t *testing.T) {
	const active, own, base = "/etc/tuned/active_profile", "/etc/tuned/mine/tuned.conf", "/usr/lib/tuned/network-throughput/tuned.conf"
	holdAll(t, "6.18", []reading{
		{note: "a value that only raises", files: map[string]string{active: "mine\n", own: "[sysctl]\nnet.core.somaxconn=>2048\n"}, want: []string{"!LR-LOWERS", "!LR-RANGE", "!LR-DEFAULT"}},
		{note: "a quoted value", files: map[string]string{active: "mine\n", own: "[sysctl]\nnet.ipv4.tcp_wmem=\"4096 131072 16777216\"\n"}, want: []string{"!LR-RANGE"}},
		{note: "overrides what it includes", files: map[string]string{active: "mine\n", own: "[main]\ninclude=network-throughput\n[sysctl]\nvm.dirty_ratio=35\n", base: "[sysctl]\nvm.dirty_ratio=40\n"}, want: []string{"!LR-DUPLICATE"}},
		{note: "a package's profile", files: map[string]string{active: "network-throughput\n", base: "[sysctl]\nnet.ipv4.tcp_rmem=4096 131072 16777216\n"}, want: []string{"info LR-LOWERS:net.ipv4.tcp_rmem | a profile of your own"}},
		{note: "a profile that is not active", files: map[string]string{active: "mine\n", own: "[sysctl]\nvm.dirty_ratio=35\n", base: "[sysctl]\nnet.ipv4.tcp_rmem=4096 131072 16777216\n"}, want: []string{"!LR-LOWERS"}},
	})
}

// TestLimitsOfUnits: what systemd ignores, and which limit applies.
func TestLimitsOfUnits(t *testing.T) {
	unit := func(text string) map[string]string {
		return map[string]string{"/etc/systemd/system/x.service": text, "/etc/sysctl.d/x.conf": "vm.swappiness=10"}
	}
	holdAll(t, "6.12", []reading{
		{note: "a limit below [Install]", files: unit("[Service]\nExecStart=/bin/x\n[Install]\nWantedBy=multi-user.target\nLimitNOFILE=65536\n"), want: []string{"error LR-UNIT-IGNORED:systemd/x.service/LimitNOFILE | to the section [Service]"}},
		{note: "a section in lower case", files: unit("[service]\nTasksMax=9\n"), want: []string{"error LR-UNIT-IGNORED:systemd/x.service/TasksMax | under [service]"}},
		{note: "a wrong section in system.conf", files: map[string]string{"/etc/systemd/system.conf": "[Service]\nDefaultLimitNOFILE=65536\n"}, want: []string{"error LR-UNIT-IGNORED:systemd/system.conf/DefaultLimitNOFILE | to the section [Manager]"}},
		{note: "a word of limits.conf", files: unit("[Service]\nLimitMEMLOCK=unlimited\n"), want: []string{"error LR-UNIT-IGNORED:systemd/x.service/LimitMEMLOCK | infinity"}},
		{note: "a suffix on a number of files", files: unit("[Service]\nLimitNOFILE=64k\n"), want: []string{"error LR-UNIT-IGNORED:systemd/x.service/LimitNOFILE"}},
		{note: "hexadecimal numbers, and an X- section", files: unit("[Service]\nLimitNOFILE=0x10000\nTasksMax=0x100\n[X-Other]\nLimitNPROC=many\n"), want: []string{"!LR-UNIT-IGNORED"}},
		{note: "valid limits", files: unit("[Service]\nLimitNOFILE=1024:65536\nLimitMEMLOCK=1G\nTasksMax=80%\nLimitNPROC=infinity\n"), want: []string{"!error", "!warning"}},
	})
}

// TestContainers: what a container cannot set, where that belongs, and what its configuration on the
// host can set for it.
func TestContainers(t *testing.T) {
	inside := func(lines string) map[string]string {
		return map[string]string{"/etc/sysctl.d/x.conf": lines, "/run/systemd/container": "lxc\n"}
	}
	holdAll(t, "6.12", []reading{
		{note: "the host's sysctls", files: inside("net.core.netdev_max_backlog=5000\nvm.swappiness=10\nnet.ipv4.tcp_mem=1 2 3\n"),
			want: []string{"warning LR-CONTAINER:net.core.netdev_max_backlog | on the host", "warning LR-CONTAINER:vm.swappiness", "warning LR-CONTAINER:net.ipv4.tcp_mem"}},
		{note: "the container's own sysctls", files: inside("net.ipv4.ip_forward=1\nnet.core.somaxconn=8192\nnet.ipv4.conf.all.rp_filter=2\n"), want: []string{"!LR-CONTAINER"}},
		{note: "the container's own, but read-only", files: inside("kernel.sem=500 64000 200 256\nkernel.shmmax=68719476736\n"), want: []string{"warning LR-CONTAINER:kernel.sem | lxc.sysctl.kernel.sem = 500 64000 200 256", "warning LR-CONTAINER:kernel.shmmax"}},
		{note: "a sysctl that Proxmox VE does not pass on", files: inside("fs.mqueue.msg_max=100\n"), want: []string{"warning LR-CONTAINER:fs.mqueue.msg_max | common.conf.d"}},
		{note: "sysctls of other namespaces", files: inside("kernel.hostname=a\nkernel.domainname=b\nuser.max_user_namespaces=100\n"), want: []string{"!LR-CONTAINER"}},
		{note: "a sysctl that is global until 6.14", files: inside("kernel.pid_max=65536\n"), want: []string{"warning LR-CONTAINER:kernel.pid_max | on the host"}},
		{note: "a pod", files: map[string]string{"/etc/sysctl.d/x.conf": "vm.swappiness=10\nnet.core.rmem_max=8388608\nnet.core.somaxconn=8192\nnet.ipv4.tcp_keepalive_time=600\n", "/run/systemd/container": "kubernetes-pod"},
			want: []string{"error LR-POD-SYSCTL:vm.swappiness | on the node", "error LR-POD-SYSCTL:net.core.rmem_max | on the node", "info LR-POD-UNSAFE:net.core.somaxconn | allowedUnsafeSysctls", "!LR-POD-UNSAFE:net.ipv4.tcp_keepalive_time"}},
		{note: "a compose service", files: map[string]string{"/etc/sysctl.d/x.conf": "vm.swappiness=10\nnet.core.somaxconn=8192\n", "/run/systemd/container": "compose"},
			want: []string{"error LR-POD-SYSCTL:vm.swappiness | on the host", "!LR-POD-SYSCTL:net.core.somaxconn"}},
		{note: "a DaemonSet", files: map[string]string{"/etc/sysctl.d/x.conf": "vm.swappiness=10\nnet.core.somaxconn=8192\n", "/run/systemd/container": "kubernetes-daemonset"},
			want: []string{"warning LR-POD-OWN:net.core.somaxconn | hostNetwork", "!LR-POD-OWN:vm.swappiness"}},
		{note: "an application's container applies no sysctl.d", files: map[string]string{"/etc/sysctl.d/x.conf": "vm.swappiness=10", "/run/systemd/container": "docker"}, want: []string{"!LR-CONTAINER"}},
		{note: "configuration of a Proxmox VE container", files: map[string]string{"/etc/pve/lxc/101.conf": "arch: amd64\nlxc.sysctl.net.ipv4.ip_forward: 1\nlxc.sysctl.kernel.sem: 500 64000 200 256\nlxc.sysctl.net.core.rmem_max = 1\nlxc.sysctl.fs.inotify.max_user_watches: 1\nlxc.sysctl.fs.mqueue.msg_max: 100\nlxc.sysctl.kernel.hostname: a\n[snap]\nlxc.sysctl.net.core.somaxconn: 1\n"},
			want: []string{"error LR-LXC-SYSCTL:lxc/101/net.ipv4.ip_forward | within the container", "error LR-LXC-SYSCTL:lxc/101/fs.inotify.max_user_watches | on this host", "error LR-LXC-SYSCTL:lxc/101/fs.mqueue.msg_max | common.conf.d", "error LR-LXC-SYSCTL:lxc/101/kernel.hostname", "!LR-LXC-SYSCTL:lxc/101/kernel.sem", "!LR-LXC-SYSCTL:lxc/101/net.core.somaxconn"}},
		{note: "configuration of an LXC container", files: map[string]string{"/var/lib/lxc/web/config": "lxc.sysctl.net.ipv4.ip_forward = 1\nlxc.sysctl.net.ipv4.tcp_tw_recycle = 1\nlxc.sysctl.net.ipv4.tcp_rmem = 4096 87380 4294967296\nlxc.sysctl.vm.swappiness = 1\nlxc.sysctl.kernel.hostname = a\n"},
			want: []string{"!LR-LXC-SYSCTL:lxc/web/net.ipv4.ip_forward", "!LR-LXC-SYSCTL:lxc/web/kernel.hostname", "error LR-LXC-SYSCTL:lxc/web/net.ipv4.tcp_tw_recycle | does not start", "error LR-LXC-SYSCTL:lxc/web/net.ipv4.tcp_rmem | refuses", "warning LR-LXC-SYSCTL:lxc/web/vm.swappiness | does not belong to a container"}},
	})
}

// TestModulesBeforeSysctls: what loads a module early enough, also indirectly, and what applies
// sysctl.d once it is loaded.
func TestModulesBeforeSysctls(t *testing.T) {
	with := func(path, text string) map[string]string {
		return map[string]string{"/etc/sysctl.d/x.conf": "net.netfilter.nf_conntrack_max=1000000", path: text}
	}
	const order = "info LR-ORDER:net.netfilter.nf_conntrack_max"
	holdAll(t, "6.12", []reading{
		{note: "a module that loads conntrack", files: with("/etc/modules-load.d/x.conf", "nft_ct\n"), want: []string{"!LR-ORDER"}},
		{note: "a module that does not load conntrack", files: with("/etc/modules-load.d/x.conf", "nft_log\n"), want: []string{"warning LR-ORDER"}},
		{note: "the udev rule of sysctl.d(5)", files: with("/etc/udev/rules.d/99-x.rules", `ACTION=="add", SUBSYSTEM=="module", KERNEL=="nf_conntrack", RUN+="/usr/lib/systemd/systemd-sysctl --prefix=/net/netfilter"`), want: []string{"!LR-ORDER", "!LR-UNKNOWN"}},
		{note: "a udev rule for another prefix", files: with("/etc/udev/rules.d/99-x.rules", `ACTION=="add", SUBSYSTEM=="module", KERNEL=="nf_conntrack", RUN+="/usr/lib/systemd/systemd-sysctl --prefix=/net/bridge"`), want: []string{order}},
		{note: "an install line of modprobe", files: with("/etc/modprobe.d/x.conf", "install nf_conntrack /sbin/modprobe --ignore-install nf_conntrack && /sbin/sysctl --system\n"), want: []string{"!LR-ORDER"}},
	})
}

// TestTextsOfOtherSystems: byte order marks and encodings of other editors are reported, and text
// that the system does not read is not judged.
func TestTextsOfOtherSystems(t *testing.T) {
	const mark = "\xef\xbb\xbf"
	holdAll(t, "6.12", []reading{
		{note: "a byte order mark before a setting", files: map[string]string{"/etc/sysctl.d/x.conf": mark + "net.core.somaxconn=8192\nnet.ipv4.tcp_sack=1\n"}, want: []string{"error LR-SYNTAX | byte order mark", "!LR-UNKNOWN", "info LR-DEFAULT:net.ipv4.tcp_sack"}},
		{note: "a byte order mark before a comment", files: map[string]string{"/etc/sysctl.d/x.conf": mark + "# mine\nnet.core.somaxconn=8192\n"}, want: []string{"!LR-SYNTAX", "!LR-UNKNOWN"}},
		{note: "UTF-16", files: map[string]string{"/etc/sysctl.d/x.conf": "\xff\xfen\x00e\x00t\x00.\x00c\x00=\x001\x00\n\x00"}, want: []string{"error LR-SYNTAX | UTF-16", "!LR-UNKNOWN"}},
		{note: "UTF-16 without a byte order mark", files: map[string]string{"/etc/sysctl.d/x.conf": "n\x00e\x00t\x00.\x00c\x00=\x001\x00\n\x00"}, want: []string{"error LR-SYNTAX | UTF-16"}},
		{note: "a name as long as a file", files: map[string]string{"/etc/sysctl.d/x.conf": strings.Repeat("n", 40000) + "=1\n"}, want: []string{"error LR-SYNTAX | want name = value"}},
	})
	holdAll(t, "14.3", []reading{
		{note: "a byte order mark in rc.conf", files: map[string]string{"/etc/rc.conf": mark + "hostname=\"a\"\n"}, want: []string{"error LR-SYNTAX | byte order mark"}},
		{note: "a byte order mark in XML, which is valid", files: map[string]string{"/conf/config.xml": mark + "<?xml version=\"1.0\"?>\n<opnsense><system><optimization>aggressive</optimization></system></opnsense>\n"}, want: []string{"!LR-SYNTAX"}},
		{note: "a byte order mark in loader.conf", files: map[string]string{"/boot/loader.conf": mark + "kern.ipc.nmbclusters=\"1\"\n"}, want: []string{"error LR-SYNTAX | byte order mark"}},
	})
}

// TestUnreadConfiguration: an audit that could not read all of the configuration says so, and does
// not pass.
func TestUnreadConfiguration(t *testing.T) {
	lines := strings.Repeat("# filler filler filler filler filler filler filler filler filler\n", 70_000)
	r := run(t, tree(t, "6.12", map[string]string{"/etc/sysctl.d/x.conf": lines + "net.core.somaxconn=8192\n"}), "endpoint")
	if !r.Blind() || len(r.Unread) == 0 || !strings.Contains(r.Unread[0].Reason, "last word") {
		t.Errorf("%+v", r.Unread)
	}
	if r := run(t, tree(t, "6.12", map[string]string{"/etc/sysctl.d/x.conf": "net.core.somaxconn=8192\n"}), "endpoint"); r.Blind() {
		t.Errorf("%+v", r.Unread)
	}
}

// TestOneVoice: bit masks, values that mean the kernel's own choice, and names that no stock kernel
// has.
func TestOneVoice(t *testing.T) {
	holdAll(t, "14.3", []reading{
		{note: "a bit mask is not a size", role: "router", files: map[string]string{"/etc/sysctl.conf": "kern.random.harvest.mask=351"}, want: []string{"!LR-LOWERS"}},
		{note: "a name that no stock kernel has", role: "router", files: map[string]string{"/etc/sysctl.conf": "hw.ixl.enable_tx_fc_filter=1"}, want: []string{"!LR-MISPLACED", "warning LR-NOOPTION:hw.ixl.enable_tx_fc_filter"}},
		{note: "what ipfw nat needs", role: "web", files: map[string]string{"/etc/sysctl.conf": "net.inet.tcp.tso=0", "/etc/rc.conf": "firewall_enable=\"YES\"\nfirewall_nat_enable=\"YES\"\n"}, want: []string{"!LR-HARMFUL:net.inet.tcp.tso"}},
	})
	f := tree(t, "14.3", map[string]string{"/boot/loader.conf": `net.isr.maxthreads="-1"`})
	setLive(f, "net.isr.maxthreads", "2")
	f.Normalise()
	if found := find(run(t, f, "router"), "LR-DRIFT", "net.isr.maxthreads"); len(found) > 0 {
		t.Errorf("-1 is the kernel's own choice: %+v", found)
	}
	f = tree(t, "14.3", map[string]string{"/boot/loader.conf": `vfs.zfs.arc.max="8589934592"`})
	f.Memory.Physical = 2 << 30
	setLive(f, "vfs.zfs.arc.max", "0")
	f.Normalise()
	if r := run(t, f, "storage"); len(find(r, "LR-DRIFT", "vfs.zfs.arc.max")) > 0 || len(find(r, "LR-ARC-MEMORY", "vfs.zfs.arc.max")) != 1 {
		t.Errorf("ZFS ignores what memory cannot hold, which is no drift: %+v", r.Findings)
	}
}
