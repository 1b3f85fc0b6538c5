package redact

import (
	_ "embed" // what is read
	"strings"

	"linerate/internal/list"
)

// The known kinds of text. Nothing passes in others.
const (
	// Whole is for kernel counters and names, which users do not write.
	Whole    = "whole"
	Sysctl   = "sysctl"   // sysctl.conf(5), sysctl.d(5)
	Loader   = "loader"   // loader.conf(5), device.hints(5)
	RC       = "rc"       // rc.conf(5)
	Grub     = "grub"     // /etc/default/grub
	BootLine = "cmdline"  // a kernel's command line
	Modprobe = "modprobe" // modprobe.d(5)
	Modules  = "modules"  // modules-load.d(5)
	Systemd  = "systemd"  // systemd.link(5), systemd.network(5)
	Tuned    = "tuned"    // tuned.conf
	Profile  = "profile"  // names of TuneD's active profiles
	Networks = "nm"       // NetworkManager's connections
	Netplan  = "netplan"
	Ifcfg    = "ifcfg"      // Red Hat's interfaces, and other files of assignments
	Ifupdown = "interfaces" // interfaces(5)
	Script   = "script"     // rc.local
	Cloud    = "cloud"      // cloud-init's bootcmd
	Udev     = "udev"       // rules of udev(7)
	Limits   = "limits"     // limits.conf(5)
	LXC      = "lxc"        // lxc.container.conf(5), and Proxmox VE's
	Manager  = "manager"    // container manager
	Fstab    = "fstab"      // fstab(5), /proc/self/mounts
	PF       = "pf"         // pf.conf(5), pfctl -s rules
	IPFW     = "ipfw"       // scripts of ipfw(8), ipfw list
	NFT      = "nft"        // nft(8)
	IPTables = "iptables"   // iptables-save, iptables -L
	Daemon   = "daemon"     // relevant lines of a daemon's configuration
	Release  = "release"    // os-release(5)
	Name     = "name"       // only the file's name matters
	Other    = "other"      // a file that only slips are looked for in
	Tmpfiles = "tmpfiles"   // tmpfiles.d(5)
	Sysfs    = "sysfs"      // sysfs.conf of sysfsutils

	Values   = "values"   // sysctl -a
	Kenv     = "kenv"     // kenv(1)
	Tree     = "tree"     // small files of /proc and /sys: path, tab, line
	Ifconfig = "ifconfig" // ifconfig(8)
	Messages = "dmesg"    // FreeBSD's messages
	Mount    = "mount"    // mount(8) of FreeBSD
	Applied  = "applied"  // linerate's record of applied changes
	Options  = "options"  // a kernel's configuration: kern.conftxt
	Uname    = "uname"

	Sense     = "sense"     // config.xml of OPNsense and pfSense
	VyOS      = "vyos"      // config.boot
	UCI       = "uci"       // OpenWrt's files below /etc/config
	Database  = "database"  // TrueNAS' tunables, as sqlite3 prints them
	Versioned = "versioned" // files that tell a product's release
)

// Source is a set of files of one kind that a capture collects and an inspection reads.
type Source struct {
	// Pattern is a path, or a path.Match pattern.
	Pattern string
	Kind    string
}

// sourcesText lists the files, and the commands with their kinds.
//
//go:embed sources.txt
var sourcesText string

// The files of a host that audits read.
var (
	FreeBSD = sources("freebsd")
	Linux   = sources("linux")
	// FreeBSDTexts are read for slips alone, and no capture takes them.
	FreeBSDTexts = sources("freebsd-texts")
)

// sources returns the files of a system.
func sources(system string) []Source {
	var all []Source
	for _, f := range list.Table(sourcesText, system) {
		for p := range strings.FieldsSeq(f[1]) {
			all = append(all, Source{p, f[0]})
		}
	}
	return all
}

// KindOf returns the kind of a file, or otherwise if no pattern matches: a file that another one
// names has that one's kind.
func KindOf(p, otherwise string) string {
	for _, sources := range [][]Source{FreeBSD, Linux} {
		for _, s := range sources {
			if list.Globs(s.Pattern, p) {
				return s.Kind
			}
		}
	}
	return otherwise
}

// KindOfAnswer returns the kind of a command's output; "" if unknown.
func KindOfAnswer(command string) string {
	for _, f := range list.Table(sourcesText, "answer") {
		if strings.HasPrefix(command, f[1]) {
			return f[0]
		}
	}
	return ""
}
