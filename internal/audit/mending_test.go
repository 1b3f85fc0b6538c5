package audit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"linerate/internal/audit"
)

// TestAgainstTheSource audits single lines, with the shipped catalogue and rules, for which reading
// the kernel's handlers and trying them on a running FreeBSD showed what must be reported, with a
// word of it, or that nothing must be ("").
func TestAgainstTheSource(t *testing.T) {
	const loader, sysctl, rc = "/boot/loader.conf", "/etc/sysctl.conf", "/etc/rc.conf"
	for _, c := range []struct {
		note, release, role string
		files               map[string]string
		want                string // rule:name, "!rule" for one that must not report, "" for no finding at all
		says                string // words of the message, reason or fix
	}{
		{note: "512 to 32768, else EINVAL", files: map[string]string{sysctl: "net.inet.ip.random_id_period=100"}, want: "LR-RANGE:net.inet.ip.random_id_period", says: "Invalid argument"},
		{note: "256 and less is EINVAL", files: map[string]string{sysctl: "net.inet.ip.fw.dyn_buckets=256", loader: `ipfw_load="YES"`}, want: "LR-RANGE:net.inet.ip.fw.dyn_buckets", says: "Invalid argument"},
		{note: "refused: the default remains, and is enough", role: "firewall", files: map[string]string{sysctl: "net.inet.ip.fw.dyn_buckets=256\nnet.inet.ip.fw.dyn_max=65536", rc: `firewall_enable="YES"`}, want: "!LR-IPFW-HASH"},
		{note: "refused: the default remains, and is too few", role: "firewall", files: map[string]string{sysctl: "net.inet.ip.fw.dyn_buckets=256\nnet.inet.ip.fw.dyn_max=400000", rc: `firewall_enable="YES"`}, want: "LR-IPFW-HASH:net.inet.ip.fw.dyn_buckets", says: "8192 buckets"},
		{note: "no upper bound", files: map[string]string{sysctl: "net.inet.ip.fw.dyn_buckets=131072", loader: `ipfw_load="YES"`}},
		{note: "never lowered", files: map[string]string{sysctl: "net.inet.ip.fw.tables_max=64", loader: `ipfw_load="YES"`}, want: "LR-RANGE:net.inet.ip.fw.tables_max", says: "only be raised"},
		{note: "rounded up", files: map[string]string{sysctl: "net.inet.ip.fw.tables_max=200", loader: `ipfw_load="YES"`}, want: "LR-RANGE:net.inet.ip.fw.tables_max", says: "rounds"},
		{note: "bounded by pid_max", files: map[string]string{loader: `kern.maxproc="200000"`}, want: "LR-RANGE:kern.maxproc", says: "nearest"},
		{note: "stored unchecked", files: map[string]string{sysctl: "net.inet.tcp.syncookies=2"}, want: "LR-RANGE:net.inet.tcp.syncookies", says: "without a check"},
		{note: "an unsigned variable", files: map[string]string{sysctl: "vm.v_free_target=-5"}, want: "LR-RANGE:vm.v_free_target", says: "low bits"},
		{note: "taken and ignored", files: map[string]string{sysctl: "dev.em.0.fc=9"}, want: "LR-RANGE:dev.em.0.fc", says: "without a check"},
		{note: "refused by ix", files: map[string]string{sysctl: "dev.ix.0.fc=9"}, want: "LR-RANGE:dev.ix.0.fc", says: "Invalid argument"},
		{note: "clamped to a port", files: map[string]string{sysctl: "net.inet.ip.portrange.first=70000"}, want: "LR-RANGE:net.inet.ip.portrange.first", says: "nearest"},
		{note: "0 is not-set to the driver since 12.0", role: "router", files: map[string]string{sysctl: "dev.igb.0.fc=0"}, want: "LR-INEFFECTIVE:dev.igb.0.fc", says: "not set"},
		{note: "0 was effective before", release: "11.4", role: "router", files: map[string]string{sysctl: "dev.igb.0.fc=0"}},
		{note: "kld_list is early enough", role: "cdn", files: map[string]string{sysctl: "net.inet.tcp.functions_default=rack", rc: `kld_list="tcp_rack"`}, want: "!LR-COUPLED"},
		{note: "several threads need deferred", role: "router", files: map[string]string{loader: "net.isr.maxthreads=\"-1\"\nnet.isr.dispatch=\"deferred\"\n", rc: `ppp_enable="YES"`},
			want: "LR-NETISR-DEFERRED:net.isr.maxthreads", says: "Keep the two together"},
		{note: "a macro of pf.conf that nothing defines", role: "firewall", files: map[string]string{rc: `pf_enable="YES"`, "/etc/pf.conf": "e = \"igb0\"\nblock in on $e label \"$nr:$if\"\npass out on $ee\n"}, want: "LR-SYNTAX:/etc/pf.conf:pass_out_on", says: "macro 'ee' not defined"},
		{note: "more files per process than any kernel allows", role: "web", files: map[string]string{"/etc/sysctl.conf": "kern.maxfilesperproc=99999999\n"}, want: "LR-COUPLED:kern.maxfilesperproc~kern.maxfiles", says: "its default with 1 TiB of memory"},
		{note: "pf.conf out of order", role: "firewall", files: map[string]string{rc: `pf_enable="YES"`, "/etc/pf.conf": "pass in all\nscrub in all\n"}, want: "LR-SYNTAX:/etc/pf.conf:scrub_in_all", says: "refuses the file"},
		{note: "pf.conf in order", role: "firewall", files: map[string]string{rc: `pf_enable="YES"`, "/etc/pf.conf": "set limit states 200000\nscrub in all\nnat on em0 from any to any -> (em0)\nanchor \"a\" {\n pass\n}\nset skip on lo0\npass\n"}, want: "!LR-SYNTAX"},
		{note: "set require-order no", role: "firewall", files: map[string]string{rc: `pf_enable="YES"`, "/etc/pf.conf": "set require-order no\npass in all\nscrub in all\n"}, want: "!LR-SYNTAX"},
		{note: "adaptive.start above the state limit", role: "firewall", files: map[string]string{rc: `pf_enable="YES"`, "/etc/pf.conf": "set limit states 200000\nset timeout { adaptive.start 300000, adaptive.end 400000 }\npass\n"}, want: "LR-PF-ADAPTIVE:adaptive.start", says: "never shrink"},
		{note: "in no stock kernel", files: map[string]string{loader: `hw.ixl.enable_tx_fc_filter="1"`}, want: "LR-NOOPTION:hw.ixl.enable_tx_fc_filter", says: "IXL_DEBUG_FC"},
		{note: "an option GENERIC lacks", files: map[string]string{sysctl: "net.inet.ip.stealth=1"}, want: "LR-NOOPTION:net.inet.ip.stealth", says: "IPSTEALTH"},
		{note: "a module that GENERIC contains", files: map[string]string{loader: "autoboot_delay=\"3\"", sysctl: "net.link.gif.max_nesting=2\nnet.link.tap.user_open=1\n"}, want: "!LR-NOMODULE"},
		{note: "a module that GENERIC does not contain", files: map[string]string{loader: "autoboot_delay=\"3\"", sysctl: "net.inet.carp.preempt=1"}, want: "LR-NOMODULE:net.inet.carp.preempt", says: "module carp"},
		{note: "in the loader.conf of images", release: "13.2", files: map[string]string{loader: `hw.memtest.tests="0"`}, want: "!LR-UNKNOWN"},
		{note: "a default that 13 did not have yet", release: "13.0", files: map[string]string{sysctl: "net.local.dgram.recvspace=16384"}, want: "!LR-DEFAULT"},
		{note: "Linux's name", files: map[string]string{loader: `hw.ix.allow_unsupported_sfp="1"`}, want: "LR-UNKNOWN:hw.ix.allow_unsupported_sfp", says: "did you mean hw.ix.unsupported_sfp"},
		{note: "two equally similar names", files: map[string]string{sysctl: "net.inet.ip6.redirect=0"}, want: "LR-UNKNOWN:net.inet.ip6.redirect", says: "net.inet.ip.redirect or net.inet6.ip6.redirect"},
		{note: "lowering may be refused", files: map[string]string{sysctl: "kern.ipc.nmbclusters=1000"}, want: "LR-LOWERS:kern.ipc.nmbclusters", says: "Invalid argument"},
		{note: "two names of one variable (ZFS)", files: map[string]string{loader: "zfs_load=\"YES\"\nvfs.zfs.arc.max=\"1073741824\"\nvfs.zfs.arc_max=\"2147483648\"\n"}, want: "LR-DUPLICATE:vfs.zfs.arc_max", says: "one variable"},
		{note: "two names of one variable (somaxconn)", role: "web", files: map[string]string{sysctl: "kern.ipc.somaxconn=4096\nkern.ipc.soacceptqueue=2048\n"}, want: "LR-DUPLICATE:kern.ipc.somaxconn", says: "one variable"},
		{note: "fetched by TUNABLE_*", files: map[string]string{loader: "kern.corefile=\"/var/%N.core\"\nnet.inet.tcp.sack.enable=\"0\"\nkern.eventtimer.periodic=\"1\"\n"}, want: "!LR-MISPLACED"},
		{note: "a VIMAGE kernel does not read it at boot", release: "14.0", files: map[string]string{loader: `net.bpf.optimize_writers="1"`}, want: "LR-MISPLACED:net.bpf.optimize_writers", says: "running system only"},
		{note: "later VIMAGE kernels do", release: "14.3", files: map[string]string{loader: `net.bpf.optimize_writers="1"`}, want: "!LR-MISPLACED"},
		{note: "vlans_IF", files: map[string]string{rc: `vlans_vtnet0="101 102"`}},
		{note: "removed, with a successor", files: map[string]string{loader: `hw.em.rx_process_limit="-1"`}, want: "LR-REMOVED:hw.em.rx_process_limit", says: "iflib.rx_budget"},
		{note: "351 is the recommended mask", role: "router", files: map[string]string{rc: `harvest_mask="351"`}},
		{note: "SMT where there may be none", role: "router", files: map[string]string{loader: `machdep.hyperthreading_allowed="0"`}, want: "LR-SMT-OFF:machdep.hyperthreading_allowed", says: "if the CPU has two"},
		{note: "panics at boot", files: map[string]string{loader: `kern.ipc.msgssz="9"`}, want: "LR-RANGE:kern.ipc.msgssz", says: "The kernel cannot run with it"},
		{note: "no suffixes in sysctl.conf", files: map[string]string{sysctl: "kern.ipc.maxsockbuf=16m"}, want: "LR-RANGE:kern.ipc.maxsockbuf", says: "invalid integer"},
		{note: "no TCP socket can be created", files: map[string]string{sysctl: "net.inet.tcp.sendspace=4194304"}, want: "LR-NO-SOCKETS:net.inet.tcp.sendspace", says: "ENOBUFS"},
		{note: "no UDP socket can be created", role: "router", files: map[string]string{sysctl: "net.inet.udp.recvspace=4194304"}, want: "LR-NO-SOCKETS:net.inet.udp.recvspace", says: "ENOBUFS"},
		{note: "maxsockbuf raised as well", files: map[string]string{sysctl: "kern.ipc.maxsockbuf=16777216\nnet.inet.tcp.sendspace=4194304\n"}, want: "!LR-NO-SOCKETS"},
		{note: "14.0 does not have value 3", release: "14.0", files: map[string]string{sysctl: "net.inet.tcp.blackhole=3"}, want: "LR-INEFFECTIVE:net.inet.tcp.blackhole", says: "closed ports answer"},
		{note: "14.3 has value 3", files: map[string]string{sysctl: "net.inet.tcp.blackhole=3"}},
		{note: "only newreno has ABE", files: map[string]string{sysctl: "net.inet.tcp.cc.abe=1"}, want: "LR-INEFFECTIVE:net.inet.tcp.cc.abe", says: "newreno"},
		{note: "newreno is the default before 14", release: "13.2", files: map[string]string{sysctl: "net.inet.tcp.cc.abe=1"}, want: "!LR-INEFFECTIVE"},
		{note: "not above the jitter", files: map[string]string{sysctl: "net.inet.icmp.icmplim=16"}, want: "LR-COUPLED:net.inet.icmp.icmplim", says: "EINVAL"},
		{note: "no such check before 14.3", release: "14.0", files: map[string]string{sysctl: "net.inet.icmp.icmplim=16"}, want: "!LR-COUPLED"},
		{note: "0 suppresses all errors", release: "14.0", role: "router", files: map[string]string{sysctl: "net.inet6.icmp6.errppslimit=0"}, want: "LR-HARMFUL:net.inet6.icmp6.errppslimit", says: "path MTU"},
		{note: "0 means no limit", role: "router", files: map[string]string{sysctl: "net.inet6.icmp6.errppslimit=0"}, want: "!LR-HARMFUL"},
		{note: "the interface's hop limit applies", files: map[string]string{sysctl: "net.inet6.ip6.hlim=128"}, want: "LR-INEFFECTIVE:net.inet6.ip6.hlim", says: "interface"},
		{note: "536 bytes, not fragments", files: map[string]string{sysctl: "net.inet.tcp.path_mtu_discovery=0"}, want: "LR-PMTUD-OFF:net.inet.tcp.path_mtu_discovery", says: "mssdflt"},
		{note: "a router ignores them", role: "router", files: map[string]string{sysctl: "net.inet6.icmp6.rediraccept=0", rc: `ipv6_gateway_enable="YES"`}, want: "LR-INEFFECTIVE:net.inet6.icmp6.rediraccept", says: "in any case"},
		{note: "bbr's count, a switch to others", files: map[string]string{sysctl: "net.inet.tcp.delayed_ack=2"}, want: "LR-RANGE:net.inet.tcp.delayed_ack", says: "without a check"},
		{note: "mssdflt replaces pmtud_blackhole_mss", role: "web", files: map[string]string{sysctl: "net.inet.tcp.pmtud_blackhole_detection=1\nnet.inet.tcp.mssdflt=1460\n"}, want: "LR-COUPLED:net.inet.tcp.pmtud_blackhole_detection", says: "ignores pmtud_blackhole_mss"},
		{note: "the default of 1200 is smaller", role: "web", files: map[string]string{sysctl: "net.inet.tcp.pmtud_blackhole_detection=1"}, want: "!LR-COUPLED"},
		{note: "at every tick", files: map[string]string{sysctl: "net.inet.tcp.hostcache.prune=0"}, want: "LR-HARMFUL:net.inet.tcp.hostcache.prune", says: "every clock tick"},
		{note: "only with cookies", files: map[string]string{sysctl: "net.inet.tcp.syncookies=0\nnet.inet.tcp.syncookies_only=1\n"}, want: "LR-COUPLED:net.inet.tcp.syncookies_only", says: "No effect"},
		{note: "UNIX sockets too", files: map[string]string{sysctl: "net.local.stream.recvspace=4194304"}, want: "LR-NO-SOCKETS:net.local.stream.recvspace", says: "ENOBUFS"},
		{note: "an explicit value is not bounded", role: "storage", files: map[string]string{loader: "zfs_load=\"YES\"\nvfs.zfs.dirty_data_max=\"6442450944\"\n"}, want: "!LR-COUPLED"},
		{note: "equal bounds divide by zero", role: "storage", files: map[string]string{loader: `zfs_load="YES"`, sysctl: "vfs.zfs.vdev.async_write_active_min_dirty_percent=60"}, want: "LR-COUPLED:vfs.zfs.vdev.async_write_active_min_dirty_percent", says: "divide by zero"},
		{note: "a scrub divides by it", role: "storage", files: map[string]string{loader: `zfs_load="YES"`, sysctl: "vfs.zfs.scan_mem_lim_fact=0"}, want: "LR-HARMFUL:vfs.zfs.scan_mem_lim_fact", says: "panics"},
		{note: "0 is replaced by the default", role: "storage", files: map[string]string{loader: `zfs_load="YES"`, sysctl: "vfs.zfs.l2arc.write_max=0"}, want: "LR-RANGE:vfs.zfs.l2arc.write_max", says: "own default"},
		{note: "six bits", files: map[string]string{loader: `hw.ix.advertise_speed="64"`}, want: "LR-RANGE:hw.ix.advertise_speed", says: "own default"},
		{note: "only four sizes are valid", files: map[string]string{loader: "if_cxgbe_load=\"YES\"\nhw.cxgbe.largest_rx_cluster=\"8192\"\n"}, want: "LR-RANGE:hw.cxgbe.largest_rx_cluster", says: "own default"},
		{note: "-1 is valid", role: "router", files: map[string]string{loader: "if_cxgbe_load=\"YES\"\nhw.cxgbe.cong_drop=\"-1\"\n"}, want: "!LR-RANGE"},
		{note: "eight at least", files: map[string]string{loader: `hw.vtnet.lro_entry_count="4"`}, want: "LR-RANGE:hw.vtnet.lro_entry_count", says: "nearest"},
		{note: "not below zero", files: map[string]string{sysctl: "kern.ipc.sooverinterval=-1"}, want: "LR-RANGE:kern.ipc.sooverinterval", says: "Invalid argument"},
		{note: "a write of PIPE_BUF is atomic", files: map[string]string{sysctl: "kern.ipc.pipe_mindirect=512"}, want: "LR-RANGE:kern.ipc.pipe_mindirect", says: "Invalid argument"},
		{note: "twelve bits", role: "router", files: map[string]string{loader: "mlx5en_load=\"YES\"\n", sysctl: "dev.mce.0.conf.rx_coalesce_usecs=5000"}, want: "LR-RANGE:dev.mce.0.conf.rx_coalesce_usecs", says: "nearest"},
		{note: "key sockets too", role: "vpn", files: map[string]string{loader: `ipsec_load="YES"`, sysctl: "net.key.recvspace=4194304"}, want: "LR-NO-SOCKETS:net.key.recvspace", says: "ENOBUFS"},
		{note: "too late for the first process", files: map[string]string{sysctl: "kern.dflssiz=16777216"}, want: "LR-MISPLACED:kern.dflssiz", says: "too late"},
		{note: "early enough in loader.conf", files: map[string]string{loader: `kern.dflssiz="16777216"`}, want: "!LR-MISPLACED"},
		{note: "the page daemon does not read it", files: map[string]string{sysctl: "vm.v_free_target=100000"}, want: "LR-INEFFECTIVE:vm.v_free_target", says: "page daemon"},
		{note: "stacks grow by it", files: map[string]string{sysctl: "kern.sgrowsiz=0"}, want: "LR-RANGE:kern.sgrowsiz", says: "kernel cannot run with it"},
		{note: "prefetch divides by it", role: "storage", files: map[string]string{loader: `zfs_load="YES"`, sysctl: "vfs.zfs.prefetch.max_distance=0"}, want: "LR-RANGE:vfs.zfs.prefetch.max_distance", says: "kernel cannot run with it"},
		{note: "the minimum goes first", role: "storage", files: map[string]string{loader: `zfs_load="YES"`, sysctl: "vfs.zfs.vdev.sync_read_max_active=5"}, want: "LR-COUPLED:vfs.zfs.vdev.sync_read_max_active", says: "has no effect"},
		{note: "routing sockets too", role: "router", files: map[string]string{sysctl: "net.rtsock.recvspace=4194304"}, want: "LR-NO-SOCKETS:net.rtsock.recvspace", says: "ENOBUFS"},
		{note: "rack, once its module is loaded", role: "cdn", files: map[string]string{sysctl: "net.inet.tcp.functions_default=rack", rc: `kld_list="tcp_rack"`}},
		{note: "the default before 12.2", files: map[string]string{sysctl: "net.inet.tcp.delacktime=100"}, want: "LR-OLD-DEFAULT:net.inet.tcp.delacktime", says: "it is 40"},
		{note: "the default of 11.4", release: "11.4", files: map[string]string{sysctl: "net.inet.tcp.delacktime=100"}, want: "!LR-OLD-DEFAULT"},
		{note: "a deliberate number", files: map[string]string{sysctl: "net.inet.tcp.delacktime=60"}, want: "!LR-OLD-DEFAULT"},
		{note: "removed in the next major release", release: "15.0", files: map[string]string{sysctl: "net.inet.tcp.nolocaltimewait=1"}, want: "LR-LEAVING:net.inet.tcp.nolocaltimewait", says: "gone from FreeBSD 16.0"},
		{note: "removed only two major releases later", release: "13.2", files: map[string]string{sysctl: "net.inet.tcp.nolocaltimewait=1"}, want: "!LR-LEAVING"},
		{note: "leaving, with a successor", release: "15.1", role: "storage", files: map[string]string{loader: `zfs_load="YES"`, sysctl: "vfs.zfs.min_auto_ashift=12"}, want: "LR-LEAVING:vfs.zfs.min_auto_ashift", says: "Use vfs.zfs.vdev.min_auto_ashift"},
		{note: "the successor itself", release: "15.1", role: "storage", files: map[string]string{loader: `zfs_load="YES"`, sysctl: "vfs.zfs.vdev.min_auto_ashift=12"}, want: "!LR-LEAVING"},
		{note: "a loader line and a sysctl.conf line are no duplicates", role: "web", files: map[string]string{loader: `kern.ipc.somaxconn="1024"`, sysctl: "kern.ipc.somaxconn=4096"}, want: "!LR-DUPLICATE"},
		{note: "nor are two names of one variable", role: "web", files: map[string]string{loader: `kern.ipc.somaxconn="1024"`, sysctl: "kern.ipc.soacceptqueue=4096"}, want: "!LR-DUPLICATE"},
		{note: "misplaced, but also set in the right file", role: "web", files: map[string]string{loader: `kern.ipc.somaxconn="1024"`, sysctl: "kern.ipc.soacceptqueue=4096"}, want: "LR-MISPLACED:kern.ipc.somaxconn", says: "sysctl.conf line 1 sets kern.ipc.soacceptqueue=4096"},
		{note: "em's successor", files: map[string]string{loader: `hw.em.rx_process_limit="-1"`}, want: "LR-REMOVED:hw.em.rx_process_limit", says: "dev.em.N.iflib.rx_budget"},
		{note: "igb's successor", files: map[string]string{loader: `hw.igb.rx_process_limit="-1"`}, want: "LR-RENAMED:hw.igb.rx_process_limit", says: "dev.igb.N.iflib.rx_budget"},
		{note: "with CARP's addresses", role: "firewall", files: map[string]string{loader: `carp_load="YES"`, sysctl: "net.inet.carp.allow=0",
			rc: "ifconfig_em0=\"inet 198.18.0.2/24\"\nifconfig_em0_alias0=\"inet vhid 1 advskew 100 pass x alias 198.18.0.5/32\"\n"}, want: "LR-HARMFUL:net.inet.carp.allow", says: "INIT"},
		{note: "without CARP addresses", role: "firewall", files: map[string]string{loader: `carp_load="YES"`, sysctl: "net.inet.carp.allow=0", rc: `ifconfig_em0="inet 198.18.0.2/24"`}, want: "!LR-HARMFUL"},
		{note: "pfctl does not have optimization default", role: "firewall", files: map[string]string{rc: `pf_enable="YES"`, "/etc/pf.conf": "set optimization default\npass\n"}, want: "LR-RANGE:pf.conf:set.optimization", says: "loads nothing"},
		{note: "a valid optimization", role: "firewall", files: map[string]string{rc: `pf_enable="YES"`, "/etc/pf.conf": "set optimization conservative\npass\n"}, want: "!LR-RANGE"},
		{note: "variables of rc itself", files: map[string]string{rc: "kld_list=\"if_bridge\"\nrc_conf_files=\"/etc/rc.conf /etc/rc.conf.d/x\"\n"}, want: "!LR-UNKNOWN"},
		{note: "two letters exchanged", files: map[string]string{rc: `ntpd_enabel="YES"`}, want: "LR-UNKNOWN:ntpd_enabel", says: "ntpd_enable"},
		{note: "-lro for what asks for it", role: "router", files: map[string]string{rc: "gateway_enable=\"YES\"\nifconfig_ix0=\"inet 198.18.0.1/24 lro\"\n"}, want: "LR-LRO-FORWARDING:ix0", says: "Write -lro for lro in ifconfig_ix0"},
		{note: "lro on a router", role: "firewall", files: map[string]string{sysctl: "net.inet.ip.forwarding=1", rc: "gateway_enable=\"YES\"\nifconfig_ix0=\"inet 198.18.0.1/24 lro\"\n"}, want: "LR-LRO-FORWARDING:ix0", says: "-lro"},
	} {
		release, as := c.release, c.role
		if release == "" {
			release = "14.3"
		}
		if as == "" {
			as = "endpoint"
		}
		r := run(t, tree(t, release, c.files), as)
		about := slices.DeleteFunc(slices.Clone(r.Findings), func(f audit.Finding) bool { return f.Kind == audit.Default || f.Rule() == "LR-ENDPOINT-TCP" })
		i := slices.IndexFunc(about, func(f audit.Finding) bool { return strings.HasPrefix(f.ID, c.want) })
		switch {
		case c.want == "" && len(about) > 0:
			t.Errorf("%s: %v: want no finding, have %s", c.note, c.files, texts(about))
		case c.want == "":
		case c.want[0] == '!':
			if slices.ContainsFunc(about, func(f audit.Finding) bool { return strings.HasPrefix(f.ID, c.want[1:]) }) {
				t.Errorf("%s: %v: false alarm: %s", c.note, c.files, texts(about))
			}
		case i < 0:
			t.Errorf("%s: %v: want %s, have %s", c.note, c.files, c.want, texts(about))
		case !strings.Contains(about[i].Message+about[i].Why+about[i].Fix, c.says):
			t.Errorf("%s: %v: want %q in %+v", c.note, c.files, c.says, about[i])
		}
	}
}

// TestAFloodOfUnknownNames: in a file of thousands of unknown names the search for similar ones stops
// at a bound; each name is still reported.
func TestAFloodOfUnknownNames(t *testing.T) {
	const first, last = "net.inet.tcp.sendspase", "net.inet.tcp.recvspase"
	var lines strings.Builder
	lines.WriteString(first + "=65536\n")
	for i := range 2100 {
		fmt.Fprintf(&lines, "net.inet.%dqz%dx=1\n", i, i)
	}
	lines.WriteString(last + "=65536\n")
	r := run(t, tree(t, "14.0", map[string]string{"/etc/sysctl.conf": lines.String()}), "router")
	for name, near := range map[string]bool{first: true, last: false} {
		if f := find(r, "LR-UNKNOWN", name); near != (len(f) == 1 && strings.Contains(f[0].Message, "did you mean")) {
			t.Errorf("%s: %+v, want a near name: %v", name, f, near)
		}
	}
	if n := len(r.Coverage.Unjudged) + r.Coverage.Unlisted["not in the catalogue"]; n < 2100 {
		t.Errorf("%d names are reported as not judged", n)
	}
}
