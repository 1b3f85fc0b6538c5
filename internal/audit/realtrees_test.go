package audit_test

import (
	"strings"
	"testing"

	"linerate/internal/audit"
)

// TestRealTreesAreSilent: what public trees have and no mistake is, in rewritten lines.
func TestRealTreesAreSilent(t *testing.T) {
	f := func(pairs ...string) map[string]string {
		files := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			files[pairs[i]] = pairs[i+1]
		}
		return files
	}
	pf := func(text, rc string) map[string]string {
		return f("/etc/pf.conf", text, "/etc/rc.conf", "pf_enable=\"YES\"\n"+rc)
	}
	holdAll(t, "14.3", []reading{
		{note: "macros of pfctl -D", files: pf("pass in on $wifi from $net to any\n", `pf_flags="-D wifi=\"wlan0\" -D net=\"198.18.0.0/24\""`), want: []string{"!LR-SYNTAX"}},
		{note: "a macro that nothing defines", files: pf("pass in on $wifi all\n", `pf_flags="-D net=\"198.18.0.0/24\""`), want: []string{"error LR-SYNTAX | macro 'wifi' not defined"}},
		{note: "a macro of several strings", files: pf("one = \"2222\"\ntcp = \"{ ssh, domain, \" $one \"}\"\npass in quick on em0 proto tcp to any port $tcp\n", ""), want: []string{"!LR-SYNTAX"}},
		{note: "a list that ipfw(8) joins", files: f("/etc/rc.conf", "firewall_enable=\"YES\"\nfirewall_script=\"/etc/ipfw.rules\"", "/etc/ipfw.rules", "#!/bin/sh\ncmd=\"ipfw -q add\"\n$cmd 45 deny ip from { 198.18.0.0/24, 198.18.4.0/24 } to any in\n$cmd 46 allow ip from 198.18.0.0/24,  198.18.4.0/24 to any in\n"), want: []string{"!LR-SYNTAX"}},
		{note: "the eleventh route", files: f("/etc/rc.conf", "static_routes=\"a b c d e f g h i j k:0\"\nroute_k=\"-net 198.18.9.0/24 198.18.0.1\""), want: []string{"!LR-SLIP:rc-route-unused"}},
		{note: "a route that is not listed", files: f("/etc/rc.conf", "static_routes=\"a b\"\nroute_a=\"-net 198.18.8.0/24 198.18.0.1\"\nroute_b=\"-net 198.18.7.0/24 198.18.0.1\"\nroute_k=\"-net 198.18.9.0/24 198.18.0.1\""), want: []string{"warning LR-SLIP:rc-route-unused"}},
		{note: "ipfw_nat is loaded for a script without nat", files: f("/etc/rc.conf", "ifconfig_igb0=\"inet 198.18.0.1/24\"\nfirewall_enable=\"YES\"\nfirewall_nat_enable=\"YES\"\nfirewall_script=\"/etc/fw.sh\"", "/etc/fw.sh", "ipfw add 100 allow ip from any to any\n"), want: []string{"!LR-TSO-LIBALIAS"}},
		{note: "a null route", files: f("/etc/rc.conf", "ifconfig_lo0=\"inet 127.0.0.1\"\nstatic_routes=\"n\"\nroute_n=\"-net 198.18.0.0/16 127.0.0.1\""), want: []string{"!LR-SLIP:net-route-self"}},
		{note: "an address to fill in", files: f("/etc/rc.conf", "ifconfig_em0=\"inet 0.0.0.0/24\"\ndefaultrouter=\"0.0.0.0\""), want: []string{"!LR-SLIP:net-network-address", "!LR-SLIP:net-router-self"}},
		{note: "two sshd's on ports that other files set", files: f("/etc/rc.conf", "sshd_enable=\"YES\"\nopenssh_enable=\"YES\""), want: []string{"!LR-TWO-DAEMONS"}},
		{note: "old names of a module that has them", files: f("/etc/rc.conf", "kld_list=\"if_tap if_tun\""), want: []string{"!LR-KLD-TYPO", "!warning"}},
		{note: "an old name that is close to another module's", files: f("/etc/rc.conf", "kld_list=\"fuse\""), want: []string{"!LR-KLD-TYPO", "warning LR-RENAMED | fusefs"}},
		{note: "a tunable of one unit", files: f("/boot/loader.conf", "hw.vtnet.0.lro_disable=\"1\"\n"), want: []string{"!LR-UNKNOWN"}},
		{note: "a typo beside a unit", files: f("/boot/loader.conf", "hw.vtnet.0.lro_disabel=\"1\"\n"), want: []string{"warning LR-UNKNOWN | did you mean"}},
		{note: "systemd-boot's loader.conf", files: f("/boot/loader.conf", "default arch.conf\ntimeout 10\nconsole-mode keep\n"), want: []string{"!LR-SYNTAX"}},
		{note: "a command in loader.conf", files: f("/boot/loader.conf", "kldload snd_hda\nkern.hz=\"100\"\n"), want: []string{"error LR-SYNTAX"}},
		{note: "a file of a directory that is elsewhere", files: pf("include \"/zroot/vm/pf-nat.conf\"\npass\n", ""), want: []string{"!LR-SYNTAX"}},
		{note: "a file that is missing where others are", files: pf("include \"/etc/pf-nat.conf\"\npass\n", ""), want: []string{"warning LR-SYNTAX | is not there"}},
		{note: "addresses of the loopback network that are not the host's", files: f("/etc/rc.conf", "firewall_enable=\"YES\"\nfirewall_script=\"/etc/ipfw.rules\"", "/etc/ipfw.rules", "#!/bin/sh\nipfw add 20 allow ip from me to any keep-state\nipfw add 30 deny ip from 127.0.0.0/8 to any\nipfw add 40 allow ip from any to any\n"), want: []string{"!LR-SLIP:filter-dead"}},
		{note: "the host's own loopback address", files: f("/etc/rc.conf", "firewall_enable=\"YES\"\nfirewall_script=\"/etc/ipfw.rules\"", "/etc/ipfw.rules", "#!/bin/sh\nipfw add 20 allow ip from me to any keep-state\nipfw add 30 deny ip from 127.0.0.1 to any\nipfw add 40 allow ip from any to any\n"), want: []string{"warning LR-SLIP:filter-dead"}},
		{note: "flags of a service that is not started", files: f("/etc/rc.conf", "hostname=\"a\"\ninetd_flags=\"-wW 198.18.0.1\""), want: []string{"!warning", "info LR-SLIP:host-doubt | inetd_enable"}},
		{note: "a template of pf.conf", files: pf("table <{{ name }}> {{ value }}\nblock {% if log %}log {% endif %}all\nport={{ port }}\npass in proto tcp to port $port\n", ""), want: []string{"!LR-SYNTAX", "!LR-SLIP:pf-service"}},
		{note: "a mistake in what is no template", files: pf("table name persist\nblock all\n", ""), want: []string{"error LR-SYNTAX"}},
		{note: "a setting of newer releases", files: f("/etc/sysctl.conf", "security.bsd.allow_tiocsti=0"), want: []string{"!LR-UNKNOWN", "!LR-NOTYET"}},
		{note: "a round number above the maximum", files: f("/boot/loader.conf", "kern.maxproc=\"100000\""), want: []string{"!warning", "info LR-RANGE:kern.maxproc"}},
		{note: "a number far above the maximum", files: f("/boot/loader.conf", "kern.maxproc=\"200000\""), want: []string{"warning LR-RANGE:kern.maxproc"}},
		{note: "a hint of syscons", files: f("/boot/loader.conf", "hint.sc.0.vesa_mode=0x118\nhint.pcm.0.line=50"), want: []string{"!LR-SLIP:hints-key"}},
		{note: "zfs_enable may be in rc.conf, which is not there", files: f("/boot/loader.conf", `zfs_load="YES"`, "/etc/rc.conf.local", `sshd_enable="YES"`), want: []string{"!LR-ZFS-NOT-ENABLED"}},
		{note: "static-port with all ports", files: pf("nat on em0 inet from any to any -> (em0) port 1024:65535 static-port\n", ""), want: []string{"!LR-SYNTAX"}},
		{note: "static-port with some ports", files: pf("nat on em0 inet from any to any -> (em0) port 1024:60000 static-port\n", ""), want: []string{"error LR-SYNTAX"}},
		{note: "an interface that only comments make", files: f("/etc/rc.conf", "ifconfig_em0=\"DHCP\"\n#wlans_iwm0=\"wlan0\"\nnetwait_enable=\"YES\"\nnetwait_if=\"wlan0\""), want: []string{"warning LR-SLIP:rc-interface"}},
		{note: "an interface that rc.conf makes", files: f("/etc/rc.conf", "wlans_iwm0=\"wlan0\"\nifconfig_wlan0=\"WPA DHCP\"\nnetwait_enable=\"YES\"\nnetwait_if=\"wlan0\""), want: []string{"!LR-SLIP:rc-interface"}},
	})
	nat := func(hook, priority string) string {
		return "table ip nat {\n chain c {\n  type nat hook " + hook + " priority " + priority + ";\n }\n}\n"
	}
	holdAll(t, "6.12", []reading{
		{note: "a name for the priority of output", files: f("/etc/nftables.conf", "flush ruleset\n"+nat("output", "dstnat")), want: []string{"!LR-SLIP:nft-syntax"}},
		{note: "a name that the hook refuses", files: f("/etc/nftables.conf", "flush ruleset\n"+nat("output", "srcnat")), want: []string{"error LR-SLIP:nft-syntax"}},
		{note: "GRUB's colours", files: f("/etc/default/grub", "GRUB_COLOR_NORMAL=\"light-blue/black\"\n"), want: []string{"!LR-SLIP:grub-name"}},
		{note: "the alias of a scheduler", files: f("/etc/udev/rules.d/60-x.rules", `ACTION=="add", KERNEL=="sda", ATTR{queue/scheduler}="deadline"`+"\n"), want: []string{"!LR-SLIP:udev-scheduler"}},
		{note: "the host's own connections are redirected to itself", files: f("/etc/iptables/rules.v4", "*nat\n-A OUTPUT -p udp -m udp --dport 53 -j REDIRECT --to-ports 5353\nCOMMIT\n*filter\n:INPUT DROP [0:0]\n:OUTPUT DROP [0:0]\n-A INPUT -i lo -j ACCEPT\n-A OUTPUT -d 127.0.0.0/8 -j ACCEPT\nCOMMIT\n"), want: []string{"!LR-SLIP:filter-redirect"}},
		{note: "sysctl.conf of a tree that does not say whose it is", files: f("/etc/sysctl.conf", "net.ipv4.ip_forward=1\n", "/lib/systemd/system/x.service", "[Service]\nExecStart=/bin/true\n"), want: []string{"!LR-UNREAD"}},
		{note: "blanks before the equals sign", files: f("/etc/systemd/system/a.timer", "[Timer]\nOnCalendar  = daily\n", "/etc/systemd/system/a.service", "[Unit]\nWants = network-online.target\nAfter = network-online.target\n[Service]\nType = oneshot\nExecStart = /bin/true\nExecStart = /bin/false\n"), want: []string{"!LR-SLIP"}},
		{note: "no time, with blanks", files: f("/etc/systemd/system/a.timer", "[Timer]\nPersistent = yes\n"), want: []string{"error LR-SLIP:timer-never"}},
		{note: "ciphertext", files: f("/etc/nginx/nginx.conf", "\x00GITCRYPT\x00\x01\x02 abc\ndef ghi\n"), want: []string{"!LR-WORD"}},
		{note: "a template of nginx.conf", files: f("/etc/nginx/nginx.conf", "worker_processes {{ n }};\nevents { worker_connections 512; }\nhttp {\n  {% if gzip %}\n  gzip on;\n  {% endif %}\n}\n"), want: []string{"!LR-WORD"}},
		{note: "words of unbound's later releases", files: f("/etc/unbound/unbound.conf", "server:\n  ede: yes\n  ede-serve-expired: yes\n  client-subnet-always-forward: no\n  val-nsec3-keysize-iterations: \"1024 150\"\ndnstap:\n  dnstap-log-client-query-messages: yes\n"), want: []string{"!LR-WORD"}},
		{note: "licences and backups of units", files: f("/etc/chrony/sources.d/a.sources.license", "SPDX-License-Identifier: CC0-1.0\n", "/etc/systemd/network/20-w.network-bk", "[Match]\nName=eth0\n"), want: []string{"!LR-SLIP:unread-name"}},
		{note: "files put aside under a name of one's own", files: f("/etc/netplan/02-m.yaml.foo", "network: {}\n", "/etc/udev/rules.d/50-a.rules.home", "ACTION==\"add\"\n", "/etc/systemd/logind.conf.d/a.conf.j2", "[Login]\n"), want: []string{"!LR-SLIP:unread-name"}},
		{note: "a name that networkd does not read", files: f("/etc/systemd/network/20-w.conf", "[Match]\nName=eth0\n"), want: []string{"error LR-SLIP:unread-name"}},
		{note: "the mode of a kernel's file", files: f("/etc/tmpfiles.d/a.conf", "f /sys/devices/system/cpu/intel_pstate/no_turbo 0664 root root - -\n"), want: []string{"!LR-SLIP:tmpfiles-type"}},
		{note: "a mask behind the address", files: f("/etc/network/interfaces", "auto eth0\niface eth0 inet static\n  address 198.18.0.1/255.255.0.0\n"), want: []string{"!LR-SLIP:address", "!LR-WORD"}},
		{note: "a prefix that is too long", files: f("/etc/network/interfaces", "auto eth0\niface eth0 inet static\n  address 198.18.0.1/33\n"), want: []string{"error LR-SLIP:address"}},
		{note: "a zone declared over several lines, and a module's directive", files: f("/etc/nginx/nginx.conf", "events {}\nhttp {\n fastcgi_cache_path\n  /dev/shm/x\n  levels=1:2\n  keys_zone=wiki:40m;\n server {\n  location / {\n   fastcgi_cache wiki;\n   cache_purge_response_type text;\n  }\n }\n}\n"), want: []string{"!LR-NGINX-ZONE", "!LR-WORD"}},
		{note: "sysctl.conf of a system without the link", files: f("/etc/os-release", "ID=fedora\n", "/etc/sysctl.conf", "net.ipv4.ip_forward=1\n", "/usr/lib/systemd/system/x.service", ""), want: []string{"error LR-UNREAD:sysctl.conf"}},
	})
}

// TestMaskedWordsAreUnknown: what a capture leaves out may be what makes a file right.
func TestMaskedWordsAreUnknown(t *testing.T) {
	files := map[string]string{
		"/etc/nginx/nginx.conf":             "user www-data;\nworker_processes auto;\nevents {\n\tworker_connections 768;\n}\nhttp {\n\tsendfile on;\n\tinclude /etc/nginx/mime.types;\n\tserver { listen 80; location /x { root /srv; } }\n}\n",
		"/etc/systemd/network/20-e.network": "[Match]\nName=eth1\n[Network]\nBond=bond7\n",
		"/etc/systemd/network/20-b.netdev":  "[NetDev]\nName=bond7\nKind=bond\n[Bond]\nMode=802.3ad\nMIIMonitorSec=1s\nTransmitHashPolicy=layer3+4\nLACPTransmitRate=fast\n",
		"/etc/nftables.conf":                "flush ruleset\ntable inet f {\n set seen {\n  type ipv4_addr\n  flags dynamic,timeout\n  timeout 1m\n }\n chain input {\n  type filter hook input priority 0; policy drop;\n  ct state established,related accept\n  iif lo accept\n  meta l4proto ipv6-icmp accept\n  tcp dport 22 ct state new add @seen { ip saddr limit rate 3/minute } accept\n }\n}\n",
	}
	silent := []string{"!error", "!warning"}
	reads := func(files map[string]string) []reading {
		return []reading{{note: "as it is", files: files, want: silent}, {note: "captured", files: masked(audit.Example{Files: files}).Files, want: silent}}
	}
	holdAll(t, "6.12", reads(files))
	holdAll(t, "14.3", reads(map[string]string{
		"/etc/rc.conf": "pf_enable=\"YES\"\npf_flags=\"-D wifi=\\\"wlan0\\\"\"\nwlans_ath0=\"wlan0\"\nifconfig_ue0=\"up\"\nifconfig_wlan0=\"WPA\"\ncreate_args_wlan0=\"wlanaddr 02:00:00:00:00:01\"\ncloned_interfaces=\"lagg0\"\nifconfig_lagg0=\"up laggproto failover laggport ue0 laggport wlan0 DHCP\"\n",
		"/etc/pf.conf": "pass in on $wifi all\n",
	}))
}

// TestSlipsOfOrder: what one line does to another, with right twins.
func TestSlipsOfOrder(t *testing.T) {
	pair := func(os, file, wrong, right, id string, more ...string) {
		t.Helper()
		files := func(text string) map[string]string {
			all := map[string]string{file: text}
			for i := 0; i < len(more); i += 2 {
				all[more[i]] = more[i+1]
			}
			return all
		}
		_, name, _ := strings.Cut(id, " ")
		holdAll(t, os, []reading{{note: wrong, files: files(wrong), want: []string{id}}, {note: right, files: files(right), want: []string{"!" + name}}})
	}
	pair("6.12", "/etc/sysctl.d/60-rfs.conf", "net.core.rps_sock_flow_entries = 32768\n", "net.core.rps_sock_flow_entries = 0\n", "warning LR-SLIP:rfs-queues", "/etc/udev/rules.d/71-rfs.rules", "ACTION==\"add\", SUBSYSTEM==\"net\", KERNEL==\"eth0\", ATTR{queues/rx-0/rps_cpus}=\"ff\"\n")
	pair("14.3", "/etc/ntp.conf", "server 198.18.0.1\nrestrict default ignore\nrestrict 10.15.1.0 mask 255.255.255.0 nomodify\n", "server 198.18.0.1\nrestrict default ignore\nrestrict 198.18.0.1 nomodify\n", "error LR-SLIP:ntp-ignore")
}
