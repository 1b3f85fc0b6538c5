package redact

import (
	"path"
	"strings"
)

// A Source is files of one kind that a capture takes and an inspection reads.
type Source struct {
	// Pattern is a path, or a pattern of path.Match.
	Pattern string
	Kind    string
}

// FreeBSD are the files of a FreeBSD host that audits read.
var FreeBSD = sources(
	Loader, "/boot/defaults/loader.conf /boot/loader.conf /boot/loader.conf.local /boot/loader.conf.d/*.conf /boot/device.hints /boot/nextboot.conf",
	RC, "/etc/defaults/rc.conf /etc/defaults/vendor.conf /etc/rc.conf /etc/rc.conf.local /etc/rc.conf.misc /etc/rc.conf.d/* /etc/rc.conf.d/*/* /usr/local/etc/rc.conf.d/* /usr/local/etc/rc.conf.d/*/*",
	Sysctl, "/etc/sysctl.conf /etc/sysctl.conf.local /etc/sysctl.kld.d/*.conf",
	PF, "/etc/pf.conf",
	IPFW, "/etc/ipfw.rules /etc/ipf.rules /etc/ipnat.rules",
	Fstab, "/etc/fstab",
	Messages, "/var/run/dmesg.boot",
	Sense, "/conf/config.xml /cf/conf/config.xml",
	Versioned, "/usr/local/opnsense/version/core /etc/version",
	Name, "/etc/pfSense-rc",
	Daemon, "/usr/local/etc/nginx/nginx.conf /usr/local/etc/apache24/httpd.conf /usr/local/etc/namedb/named.conf",
)

// Linux are those of a Linux host.
var Linux = sources(
	Whole, "/proc/cpuinfo /proc/meminfo /proc/interrupts /proc/uptime /proc/version /proc/modules /proc/net/softnet_stat /proc/net/snmp /proc/net/snmp6 /proc/net/netstat "+
		"/proc/net/stat/nf_conntrack /proc/net/stat/arp_cache /proc/net/stat/ndisc_cache /proc/net/tcp /proc/net/tcp6 /proc/net/udp /proc/net/udp6 /proc/net/if_inet6 /proc/net/route /lib/modules/*/modules.builtin",
	BootLine, "/proc/cmdline /etc/kernel/cmdline /usr/lib/kernel/cmdline",
	Fstab, "/proc/self/mounts /etc/fstab",
	Release, "/etc/os-release /usr/lib/os-release",
	Sysctl, "/etc/sysctl.conf /etc/sysctl.d/* /run/sysctl.d/*.conf /usr/local/lib/sysctl.d/*.conf /usr/lib/sysctl.d/*.conf /lib/sysctl.d/*.conf /etc/ufw/sysctl.conf",
	Modprobe, "/etc/modprobe.d/*.conf /usr/lib/modprobe.d/*.conf /lib/modprobe.d/*.conf /run/modprobe.d/*.conf /usr/local/lib/modprobe.d/*.conf",
	Modules, "/etc/modules /etc/modules-load.d/*.conf /run/modules-load.d/*.conf /usr/local/lib/modules-load.d/*.conf /usr/lib/modules-load.d/*.conf /lib/modules-load.d/*.conf",
	Grub, "/etc/default/grub /etc/default/grub.d/*.cfg",
	NFT, "/etc/nftables.conf",
	Systemd, "/etc/systemd/network/*.link /run/systemd/network/*.link /usr/local/lib/systemd/network/*.link /usr/lib/systemd/network/*.link /lib/systemd/network/*.link "+
		"/etc/systemd/network/*.network /run/systemd/network/*.network /usr/local/lib/systemd/network/*.network /usr/lib/systemd/network/*.network /lib/systemd/network/*.network "+
		"/etc/systemd/networkd.conf /etc/systemd/networkd.conf.d/*.conf /etc/systemd/system.conf /etc/systemd/system.conf.d/*.conf /run/systemd/system.conf.d/*.conf "+
		"/etc/systemd/system/*.service /etc/systemd/system/*.service.d/*.conf /run/systemd/system/*.service /run/systemd/system/*.service.d/*.conf",
	// That they are there is all that matters of units: which start, and that systemd does.
	Name, "/etc/systemd/system/multi-user.target.wants/*.service /usr/lib/systemd/system/systemd-sysctl.service /lib/systemd/system/systemd-sysctl.service",
	Udev, "/etc/udev/rules.d/*.rules /run/udev/rules.d/*.rules",
	Ifcfg, "/etc/ufw/ufw.conf /etc/default/ufw /etc/sysconfig/network-scripts/ifcfg-*",
	Ifupdown, "/etc/network/interfaces /etc/network/interfaces.d/*",
	Script, "/etc/rc.local /etc/rc.d/rc.local",
	Cloud, "/etc/cloud/cloud.cfg.d/*.cfg",
	Profile, "/etc/tuned/active_profile",
	Tuned, "/etc/tuned/tuned-main.conf /etc/tuned/*/tuned.conf /etc/tuned/profiles/*/tuned.conf /usr/lib/tuned/*/tuned.conf /usr/lib/tuned/profiles/*/tuned.conf",
	Networks, "/etc/NetworkManager/system-connections/*.nmconnection",
	VyOS, "/config/config.boot /opt/vyatta/etc/config/config.boot",
	UCI, "/etc/config/network /etc/config/firewall /etc/config/system /etc/config/irqbalance /etc/config/sqm",
	Versioned, "/etc/openwrt_release /usr/share/vyos/version.json /etc/version",
	LXC, "/etc/pve/lxc/*.conf /var/lib/lxc/*/config",
	Manager, "/run/systemd/container",
	Limits, "/etc/security/limits.conf /etc/security/limits.d/*.conf",
	Netplan, "/etc/netplan/*.yaml /run/netplan/*.yaml /usr/lib/netplan/*.yaml /lib/netplan/*.yaml",
)

// sources reads pairs of a kind and its patterns.
func sources(pairs ...string) []Source {
	var all []Source
	for i := 0; i+1 < len(pairs); i += 2 {
		for _, p := range strings.Fields(pairs[i+1]) {
			all = append(all, Source{p, pairs[i]})
		}
	}
	return all
}

// KindOf is the kind of a file, otherwise for a path that no pattern has: what
// another file names is of that file's kind.
func KindOf(p, otherwise string) string {
	for _, sources := range [][]Source{FreeBSD, Linux} {
		for _, s := range sources {
			if ok, _ := path.Match(s.Pattern, p); ok {
				return s.Kind
			}
		}
	}
	return otherwise
}

// answers are the kinds of what commands print, by how they begin.
var answers = []struct{ command, kind string }{
	{"uname", Uname}, {"sysctl -n kern.conftxt", Options}, {"sysctl -aN", Whole}, {"sysctl -at", Whole}, {"sysctl -a", Values}, {"kenv", Kenv},
	{"dmesg", Messages}, {"ifconfig", Ifconfig}, {"mount", Mount}, {"pfctl -sr", PF}, {"pfctl -sn", PF}, {"pfctl -sT", Names}, {"pfctl", Whole},
	{"ipfw", IPFW}, {"nft", NFT}, {"iptables", IPTables}, {"freebsd-version", Whole}, {"kldstat", Whole}, {"pciconf", Whole}, {"netstat", Whole},
	{"vmstat", Whole}, {"cpuset", Whole}, {"sqlite3", Database}, {"tc", Whole}, {"ethtool", Whole},
}

// KindOfAnswer is the kind of what a command prints; "" for one that is not known.
func KindOfAnswer(command string) string {
	for _, a := range answers {
		if strings.HasPrefix(command, a.command) {
			return a.kind
		}
	}
	return ""
}
