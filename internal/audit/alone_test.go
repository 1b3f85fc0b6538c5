package audit_test

import (
	"context"
	"testing"

	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/host/filehost"
	"linerate/internal/inspect"
)

// alone returns the facts of a host of which only the given files are known.
func alone(t *testing.T, rel string, files map[string]string) *fact.Facts {
	t.Helper()
	texts := map[string][]byte{}
	for p, text := range files {
		texts[p] = []byte(text)
	}
	f, err := inspect.Host(context.Background(), filehost.New(texts, fact.FreeBSD), inspect.Options{Release: release.MustParse(rel), OS: fact.FreeBSD})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestFilesAlone: a finding that depends on a file that was not given is only informational; with that
// file, or if the file exists without the setting, it has its full severity.
func TestFilesAlone(t *testing.T) {
	const nat, redirects = "LR-TSO-LIBALIAS:ipfw nat", "LR-FASTFWD6:net.inet6.ip6.redirect"
	natRC := "ifconfig_igb0=\"DHCP\"\nfirewall_enable=YES\nfirewall_type=open\nfirewall_nat_enable=YES\n"
	for _, c := range []reading{
		{note: "nat, sysctl.conf not given", files: map[string]string{"/etc/rc.conf": natRC}, want: []string{"info " + nat + " | /etc/sysctl.conf may say otherwise"}},
		{note: "nat, TSO off", files: map[string]string{"/etc/rc.conf": natRC, "/etc/sysctl.conf": "net.inet.tcp.tso=0\n"}, want: []string{"!" + nat}},
		{note: "nat, TSO on", files: map[string]string{"/etc/rc.conf": natRC, "/etc/sysctl.conf": "net.inet.ip.redirect=0\n"}, want: []string{"error " + nat}},
		{note: "IPv6 forwarded, sysctl.conf not given", files: map[string]string{"/etc/rc.conf": "ipv6_gateway_enable=YES\n"}, want: []string{"info " + redirects}},
		{note: "IPv6 forwarded, redirects on", files: map[string]string{"/etc/rc.conf": "ipv6_gateway_enable=YES\n", "/etc/sysctl.conf": "net.inet.ip.redirect=0\n"}, want: []string{"info " + redirects}},
		{note: "a ruleset by itself is in use", files: map[string]string{"/etc/pf.conf": "set limit states 16000000\npass\n"},
			want: []string{"info LR-PF-STATEHASH:states | /boot/loader.conf or /etc/rc.conf may say otherwise"}},
		{note: "a ruleset and what loads it", files: map[string]string{"/etc/pf.conf": "set limit states 16000000\npass\n", "/etc/rc.conf": "pf_enable=YES\n", "/boot/loader.conf": "zfs_load=\"YES\"\n"},
			want: []string{"warning LR-PF-STATEHASH:states"}},
		{note: "a module that loader.conf may load", files: map[string]string{"/etc/sysctl.conf": "net.inet.tcp.functions_default=bbr\n"}, want: []string{"info LR-STACK-MODULE | /boot/loader.conf or /etc/rc.conf may say otherwise"}},
		{note: "a module that nothing loads", files: map[string]string{"/etc/sysctl.conf": "net.inet.tcp.functions_default=bbr\n", "/etc/rc.conf": "sshd_enable=YES\n", "/boot/loader.conf": "zfs_load=\"YES\"\n"}, want: []string{"error LR-STACK-MODULE"}},
		{note: "TSO off where NAT may want it", files: map[string]string{"/etc/sysctl.conf": "net.inet.tcp.tso=0\n"}, want: []string{"!warning LR-FOLKLORE:net.inet.tcp.tso"}},
	} {
		t.Run(c.note, func(t *testing.T) {
			f := alone(t, "14.3", c.files)
			if !f.From.Alone {
				t.Fatal("single files are treated as a whole host")
			}
			c.hold(t, run(t, f, "router"))
		})
	}
}

// TestClaimsThatHang: advice that is wrong on its own can be right together with another line, and
// advice with a valid reason is not folklore.
func TestClaimsThatHang(t *testing.T) {
	holdAll(t, "14.3", []reading{
		{note: "the default MSS by itself", files: map[string]string{"/etc/sysctl.conf": "net.inet.tcp.mssdflt=1460\n"}, want: []string{"warning LR-FOLKLORE:net.inet.tcp.mssdflt"}},
		{note: "the default MSS without discovery", files: map[string]string{"/etc/sysctl.conf": "net.inet.tcp.path_mtu_discovery=0\nnet.inet.tcp.mssdflt=1460\n"}, want: []string{"!LR-FOLKLORE:net.inet.tcp.mssdflt", "warning LR-PMTUD-OFF"}},
		{note: "TSO off", role: "router", files: map[string]string{"/etc/sysctl.conf": "net.inet.tcp.tso=0\n"}, want: []string{"!LR-FOLKLORE"}},
		{note: "a longer queue for a USB card", files: map[string]string{"/boot/loader.conf": "if_ure_load=\"YES\"\nnet.link.ifqmaxlen=\"2048\"\n"}, want: []string{"!warning LR-FOLKLORE:net.link.ifqmaxlen"}},
	})
}

// TestMissingModules: if a module's file does not exist the loader reports it; a module that is built
// into the kernel is harmless.
func TestMissingModules(t *testing.T) {
	holdAll(t, "13.0", []reading{
		{note: "a module that is built in since", files: map[string]string{"/boot/loader.conf": "aio_load=\"YES\"\n"}, want: []string{"info LR-REMOVED:aio_load | part of the kernel"}},
		{note: "a module on a release before that", release: "10.3", files: map[string]string{"/boot/loader.conf": "aio_load=\"YES\"\n"}, want: []string{"!warning", "!error"}},
		{note: "a renamed module", files: map[string]string{"/boot/loader.conf": "if_carp_load=\"YES\"\n"}, want: []string{"warning LR-RENAMED:if_carp_load | says on the console", "!error"}},
	})
}

// TestSlipsOfPublicFiles: mistakes seen in published configurations.
func TestSlipsOfPublicFiles(t *testing.T) {
	holdAll(t, "14.3", []reading{
		{note: "an interface's name for a device's", files: map[string]string{"/etc/sysctl.conf": "dev.igc0.eee_control=0\n"}, want: []string{"error LR-UNKNOWN:dev.igc0.eee_control | Decide what is wanted before correcting the name: dev.igc.0.eee_control=0 follows advice that is wrong: 1 disables it"}},
		{note: "the same, with a value that needs no advice", files: map[string]string{"/etc/sysctl.conf": "dev.igc0.fc=0\n"}, want: []string{"error LR-UNKNOWN:dev.igc0.fc | Write dev.igc.0.fc=0."}},
		{note: "words that the kernel or rc does not accept", files: map[string]string{"/etc/sysctl.conf": "net.isr.dispatch=defered\n", "/etc/rc.conf": "pf_enable=\"TRU\"\ngateway_enable=\"YES\"\nsshd_enable=\"yes \"\nlinux_enable=\"yes \"\nfoo_enable=\"${bar}\"\nsendmail_enable=\"NONE\"\n"},
			want: []string{"error LR-RANGE:sshd_enable", "error LR-RANGE:linux_enable", "!LR-RANGE:foo_enable", "!LR-RANGE:sendmail_enable", "error LR-RANGE:net.isr.dispatch | not one of direct, hybrid, deferred", "error LR-RANGE:pf_enable | not one of YES and NO", "!LR-RANGE:gateway_enable"}},
		{note: "a value that panics the kernel", files: map[string]string{"/etc/sysctl.conf": "kern.maxvnodes=-1\n"}, want: []string{"error LR-RANGE:kern.maxvnodes | The kernel cannot run with it"}},
		{note: "a default pinned for safety", files: map[string]string{"/etc/sysctl.conf": "net.inet.ip.sourceroute=0\nnet.inet.ip.forwarding=0\nnet.inet.tcp.syncookies=1\nnet.inet.tcp.sack.enable=1\n"}, want: []string{"!LR-DEFAULT:net.inet.ip", "!LR-DEFAULT:net.inet.tcp.syncookies", "info LR-DEFAULT:net.inet.tcp.sack.enable"}},
		{note: "a device, and drivers that end in digits", files: map[string]string{"/etc/sysctl.conf": "dev.igc.0.eee_control=0\ndev.ig4.0.debug=1\ndev.p4tcc0.nothing=1\n"}, want: []string{"!error"}},
		{note: "0 for the kernel's default size", files: map[string]string{"/boot/loader.conf": "kern.ipc.nmbclusters=\"0\"\n"}, want: []string{"!warning", "info LR-RANGE:kern.ipc.nmbclusters"}},
		{note: "a word that only rc.conf accepts", files: map[string]string{"/boot/loader.conf": "pf_load=\"ON\"\nif_lagg_load=1\nzfs_load=YES\nccd_load=\"no\"\n"},
			want: []string{"warning LR-SLIP:host-lost", "!LR-RANGE:zfs_load", "!LR-RANGE:ccd_load", "!LR-SYNTAX"}},
		{note: "seconds for milliseconds", files: map[string]string{"/etc/sysctl.conf": "net.inet.tcp.keepidle=3600\nnet.inet.tcp.keepintvl=150\n"}, want: []string{"warning LR-KEEPALIVE-UNIT:net.inet.tcp.keepidle", "warning LR-KEEPALIVE-UNIT:net.inet.tcp.keepintvl"}},
		{note: "deliberately short keepalives", files: map[string]string{"/etc/sysctl.conf": "net.inet.tcp.keepidle=10000\nnet.inet.tcp.keepintvl=5000\n"}, want: []string{"!LR-KEEPALIVE-UNIT"}},
	})
}

// TestPFNumbers: pfctl(8) refuses a file because of one bad limit or timeout, options must be in order,
// and adaptive timeouts have a range.
func TestPFNumbers(t *testing.T) {
	pf := func(text string) map[string]string {
		return map[string]string{"/etc/rc.conf": "pf_enable=YES\n", "/boot/loader.conf": "net.pf.states_hashsize=1048576\n", "/etc/pf.conf": text + "pass\n"}
	}
	holdAll(t, "14.3", []reading{
		{note: "beyond an unsigned int", role: "firewall", files: pf("set limit states 5000000000\nset limit { frags 1000, src-nodes 99999999999999999999999 }\n"),
			want: []string{"error LR-RANGE:pf.conf:limit.states | loads nothing", "error LR-RANGE:pf.conf:limit.src-nodes", "!error LR-RANGE:pf.conf:limit.frags"}},
		{note: "a timeout beyond an unsigned int", role: "firewall", files: pf("set timeout tcp.established 4294967296\n"), want: []string{"error LR-RANGE:pf.conf:timeout.tcp.established"}},
		{note: "misspelt limits and timeouts", role: "firewall", files: pf("set limit state 1000\nset timeout { udp.first 60, interval 10 }\nset limit frags 2000\n"),
			want: []string{"error LR-RANGE:pf.conf:limit.state | states", "!error LR-RANGE:pf.conf:timeout", "!error LR-RANGE:pf.conf:limit.frags"}},
		{note: "all valid names, and a redacted one", role: "firewall", files: pf("set limit { states 200000, src-nodes 20000, frags 6000, table-entries 300000, anchors 600 }\nset timeout { tcp.first 60, tcp.opening 20, tcp.established 600, tcp.closing 60, tcp.finwait 40, tcp.closed 30, tcp.tsdiff 20, sctp.first 60, sctp.opening 20, sctp.established 600, sctp.closing 60, sctp.closed 30, udp.first 30, udp.single 20, udp.multiple 30, icmp.first 10, icmp.error 5, other.first 30, other.single 20, other.multiple 30, frag 20, interval 5, src.track 10 }\n"), want: []string{"!error"}},
		{note: "a redacted name that pfctl does not know", role: "firewall", files: pf("set timeout hunter2 5\n"), want: []string{"error LR-RANGE:pf.conf:timeout.redacted | no timeout"}},
		{note: "the largest valid numbers", role: "firewall", files: pf("set limit table-entries 4294967295\nset timeout src.track 0\n"), want: []string{"!error"}},
		{note: "set optimization after the timeouts", role: "firewall", files: pf("set timeout tcp.established 600\nset timeout udp.first 30\nset optimization aggressive\n"),
			want: []string{"warning LR-SLIP:host-lost | set optimization"}},
		{note: "set optimization before the timeouts", role: "firewall", files: pf("set optimization aggressive\nset timeout tcp.established 600\n"), want: []string{"!LR-SLIP:host-lost"}},
		{note: "adaptive.end below the state limit", role: "firewall", files: pf("set limit states 1000000\nset timeout { adaptive.start 60000, adaptive.end 120000 }\n"), want: []string{"warning LR-PF-ADAPTIVE:adaptive.end | below the limit"}},
		{note: "adaptive.start above adaptive.end", role: "firewall", files: pf("set limit states 1000\nset timeout { adaptive.start 6000, adaptive.end 2000 }\n"), want: []string{"warning LR-PF-ADAPTIVE:adaptive.end | never shrink"}},
		{note: "adaptive timeouts as pfctl's defaults", role: "firewall", files: pf("set limit states 1000000\nset timeout { adaptive.start 600000, adaptive.end 1200000 }\n"), want: []string{"!LR-PF-ADAPTIVE"}},
		{note: "adaptive timeouts off", role: "firewall", files: pf("set timeout { adaptive.start 0, adaptive.end 0 }\n"), want: []string{"!LR-PF-ADAPTIVE"}},
	})
}

// TestTraps: typical mistakes in made-up trees, and, with "!", lines that only look like one.
func TestTraps(t *testing.T) {
	holdAll(t, "6.12", []reading{
		{note: "tuned overrides sysctl.d", role: "web", files: map[string]string{"/etc/tuned/active_profile": "mine\n", "/etc/tuned/mine/tuned.conf": "[sysctl]\nnet.core.somaxconn=65535\nnet.core.somaxcon=1\n", "/etc/tuned/tuned-main.conf": "reapply_sysctl=0\n", "/etc/sysctl.d/a.conf": "net.core.somaxconn=8192\n"},
			want: []string{"warning LR-OVERWRITTEN:net.core.somaxconn | reapply_sysctl=0", "warning LR-UNKNOWN:net.core.somaxcon | somaxconn"}},
		{note: "sysctl.d overrides tuned", role: "web", files: map[string]string{"/etc/tuned/active_profile": "mine\n", "/etc/tuned/mine/tuned.conf": "[sysctl]\nnet.core.somaxconn=65535\n", "/etc/sysctl.d/a.conf": "net.core.somaxconn=8192\n"}, want: []string{"warning LR-OVERWRITTEN:net.core.somaxconn | net.core.somaxconn=65535 does not stick: /etc/sysctl.d/a.conf line 1 sets 8192"}},
		{note: "sysctl.d overrides a package's profile", role: "web", files: map[string]string{"/etc/tuned/active_profile": "theirs\n", "/usr/lib/tuned/theirs/tuned.conf": "[sysctl]\nnet.core.somaxconn=65535\n", "/etc/sysctl.d/a.conf": "net.core.somaxconn=8192\n"}, want: []string{"!LR-OVERWRITTEN"}},
		{note: "tuned does not reapply this name", role: "web", files: map[string]string{"/etc/tuned/active_profile": "mine\n", "/etc/tuned/mine/tuned.conf": "[sysctl]\nnet.core.somaxconn=65535\n", "/etc/tuned/tuned-main.conf": "reapply_sysctl_exclude=vm.*, net.core.*\n", "/etc/sysctl.d/a.conf": "net.core.somaxconn=8192\n"},
			want: []string{"warning LR-OVERWRITTEN:net.core.somaxconn | TuneD (profile mine) writes 65535"}},
		{note: "networkd handles router advertisements itself", role: "endpoint", files: map[string]string{"/etc/systemd/network/1.network": "[Match]\nName=eth0\n[Network]\nIPv6AcceptRA=yes\n", "/etc/sysctl.d/a.conf": "net.ipv6.conf.eth0.accept_ra=1\n"},
			want: []string{"warning LR-OVERWRITTEN:net.ipv6.conf.eth0.accept_ra | systemd-networkd"}},
		{note: "a udev rule that compares instead of assigning", role: "router", files: map[string]string{"/etc/udev/rules.d/1.rules": "SUBSYSTEM==\"net\", ACTION=\"add\", ATTR{tx_queue_len}=\"10000\"\n"}, want: []string{"error LR-SLIP:udev-compared | compared"}},
		{note: "a script that systemd does not start", role: "router", files: map[string]string{"/etc/rc.d/rc.local": "#!/bin/sh\nsysctl -w net.core.somaxconn=8192\n"}, want: []string{"!LR-UNREAD"}},
		{note: "sysctls in modprobe.d", role: "router", files: map[string]string{"/etc/modprobe.d/a.conf": "net.core.somaxconn = 4096\noptions nf_conntrack hashsize=65536\nsoftdep a pre: b\n"}, want: []string{"error LR-SLIP:modprobe-sysctl | belongs in /etc/sysctl.d"}},
		{note: "a VLAN of a jumbo bridge", role: "endpoint", files: map[string]string{"/etc/network/interfaces": "iface vmbr0 inet static\n mtu 9000\niface vmbr0.20 inet static\n mtu 1500\n"}, want: []string{"!LR-DEFAULT", "!LR-LINUX-VLAN-MTU"}},
		{note: "Debian 13 by its os-release alone", role: "web", files: map[string]string{"/etc/os-release": "ID=debian\nVERSION_ID=\"13\"\n", "/etc/sysctl.conf": "net.core.somaxconn=8192\n"}, want: []string{"error LR-UNREAD:sysctl.conf | not read at boot"}},
		{note: "Debian 12 reads sysctl.conf through a link", role: "web", files: map[string]string{"/etc/os-release": "ID=debian\nVERSION_ID=\"12\"\n", "/etc/sysctl.conf": "net.core.somaxconn=8192\n"}, want: []string{"!LR-UNREAD"}},
	})
	holdAll(t, "14.3", []reading{
		{note: "every option of pf", role: "firewall", files: map[string]string{"/etc/rc.conf": "pf_enable=YES\n", "/etc/pf.conf": "set reassemble yes\nset ruleset-optimization basic\nset loginterface em0\nset block-policy drop\nset fail-policy drop\nset require-order yes\nset state-policy if-bound\nset debug urgent\nset syncookies never\nset hostid 1\nset state-defaults no-sync\nset keepcounters\nset fingerprints \"/etc/pf.os\"\nset skip on lo0\next_if = \"em0\"\ntable <a> persist\nscrub in all\nnat on em0 from any to any -> (em0)\nno rdr on em0\nrdr-anchor \"x/*\"\nantispoof for em0\nanchor \"y\" {\n pass\n}\nload anchor y from \"/etc/y\"\nblock all\n"}, want: []string{"!LR-SYNTAX"}},
		{note: "the outside interface is skipped", role: "firewall", files: map[string]string{"/etc/rc.conf": "pf_enable=YES\n", "/etc/pf.conf": "set skip on em0\nnat on em0 from em1:network to any -> (em0)\npass\n"}, want: []string{"error LR-PF-SKIP:em0 | leads outside"}},
		{note: "the outside interface is skipped by a macro in a list", role: "firewall", files: map[string]string{"/etc/rc.conf": "pf_enable=YES\n", "/etc/pf.conf": "e = \"igb0\"\nset skip on { lo $e }\nnat on $e from any to any -> ($e)\npass\n"}, want: []string{"error LR-PF-SKIP:igb0 | leads outside"}},
		{note: "redacted interface names", role: "firewall", files: map[string]string{"/etc/rc.conf": "pf_enable=YES\n", "/etc/pf.conf": "e = \"hunter0\"\ni = \"hunter1\"\nset skip on $i\nnat on $e from $i:network to any -> ($e)\npass\n"}, want: []string{"!LR-PF-SKIP", "!LR-SYNTAX"}},
		{note: "the inside interface is skipped", role: "firewall", files: map[string]string{"/etc/rc.conf": "pf_enable=YES\n", "/etc/pf.conf": "set skip on { lo0 em1 }\nnat on em0 from em1:network to any -> (em0)\npass\n"}, want: []string{"!LR-PF-SKIP"}},
		{note: "a lagg of jumbo ports", role: "endpoint", files: map[string]string{"/etc/rc.conf": "ifconfig_ix0=\"up mtu 9000\"\ncloned_interfaces=\"lagg0\"\nifconfig_lagg0=\"up laggproto failover laggport ix0\"\nvlans_lagg0=\"5\"\nifconfig_lagg0_5=\"inet 198.18.0.1/24 mtu 9000\"\n"}, want: []string{"!LR-VLAN-MTU"}},
		{note: "100 Hz in a guest, 1000 elsewhere", role: "endpoint", files: map[string]string{"/boot/loader.conf": "kern.hz=\"1000\"\n"}, want: []string{"!LR-DEFAULT"}},
		{note: "two assignments on one line", role: "endpoint", files: map[string]string{"/etc/rc.conf": "clear_tmp_enable=\"NO\";sshd_enable=\"YES\"\n"}, want: []string{"info LR-DEFAULT:clear_tmp_enable | Remove clear_tmp_enable from the line"}},
		{note: "defaults that depend on memory", role: "web", files: map[string]string{"/etc/sysctl.conf": "kern.ipc.nmbclusters=1000\nnet.inet.ip.maxfragpackets=31\n"}, want: []string{"!LR-DEFAULT"}},
	})
}
