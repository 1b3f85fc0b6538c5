package filehost

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"linerate/internal/appliance"
	"linerate/internal/fact"
)

// Place is where a host would have a file.
type Place struct {
	// Path is on the host; a star stands for the file's own name.
	Path string
	// OS is the system that reads it, "" where several do.
	OS string
}

// kind is one kind of file: by names that only it has, and by lines as it has
// them.
type kind struct {
	Place
	names *regexp.Regexp
	lines *regexp.Regexp
}

// kinds are what an audit reads, the more particular first. Names are those of
// the file and of the directory that it lies in.
var kinds = []kind{
	{Place{"/etc/default/grub", fact.Linux}, regexp.MustCompile(`^(grub|default/grub.*)$`), regexp.MustCompile(`^\s*(export\s+)?GRUB_[A-Z_]+\+?=`)},
	{Place{"/boot/loader.conf.local", fact.FreeBSD}, regexp.MustCompile(`^loader\.conf\.local$`), nil},
	{Place{"/boot/loader.conf.d/*", fact.FreeBSD}, regexp.MustCompile(`^loader\.conf\.d/.*$`), nil},
	{Place{"/boot/loader.conf", fact.FreeBSD}, regexp.MustCompile(`^(.*[-_.])?loader\.conf(\..*)?$`), regexp.MustCompile(`^\s*([a-z0-9_]+_load\s*=\s*"?(YES|NO)|[a-z0-9_]+(\.[a-zA-Z0-9_%]+)+\s*=\s*")`)},
	{Place{"/etc/rc.conf.local", fact.FreeBSD}, regexp.MustCompile(`^rc\.conf\.local$`), nil},
	{Place{"/etc/rc.conf.d/*", fact.FreeBSD}, regexp.MustCompile(`^rc\.conf\.d/.*$`), nil},
	{Place{"/etc/rc.conf", fact.FreeBSD}, regexp.MustCompile(`^rc\.conf(\..*)?$`), regexp.MustCompile(`^\s*([a-z0-9_]+_(enable|flags|program|rules|interfaces)|ifconfig_[a-z0-9_]+|hostname|defaultrouter|kld_list|cloned_interfaces)=`)},
	{Place{"/etc/pf.conf", fact.FreeBSD}, regexp.MustCompile(`^pf\.conf$`), regexp.MustCompile(`^\s*(pass|block|scrub|nat|rdr|binat|anchor|match|table\s*<|set\s+(limit|skip|optimization|timeout|state-policy|block-policy))\b`)},
	{Place{"/etc/ipfw.rules", fact.FreeBSD}, regexp.MustCompile(`^ipfw\.(rules|conf)$`), regexp.MustCompile(`^\s*(\$\{?cmd\}?|ipfw(\s+-q)?|add)\s+(add|nat|pipe|queue|table|[0-9]+)\b`)},
	{Place{"/etc/tuned/this/tuned.conf", fact.Linux}, regexp.MustCompile(`^tuned\.conf$`), regexp.MustCompile(`^\s*(\[(main|sysctl|cpu|vm|bootloader|sysfs|disk|variables)\]|include\s*=|summary\s*=)`)},
	{Place{"/etc/systemd/network/*", fact.Linux}, regexp.MustCompile(`\.(link|network)$`), regexp.MustCompile(`^\s*(\[(Match|Link|Network)\]|(OriginalName|RxBufferSize|TxBufferSize|GenericReceiveOffload|IPForward\w*)\s*=)`)},
	{Place{"/etc/systemd/system.conf", fact.Linux}, regexp.MustCompile(`^systemd/system\.conf$`), regexp.MustCompile(`^\s*(\[Manager\]|Default(Limit[A-Z]+|TasksMax)\s*=)`)},
	{Place{"/etc/systemd/system/*", fact.Linux}, regexp.MustCompile(`\.service$`), regexp.MustCompile(`^\s*(\[Service\]|ExecStart\s*=|LimitNOFILE\s*=)`)},
	{Place{"/etc/udev/rules.d/*", fact.Linux}, regexp.MustCompile(`\.rules$`), regexp.MustCompile(`(ACTION|SUBSYSTEM|KERNEL|ATTR\{[^}]+\}|RUN)\s*(==|\+?=)\s*"`)},
	{Place{"/etc/modprobe.d/*", fact.Linux}, regexp.MustCompile(`^modprobe\.d/|^modprobe\.conf$`), regexp.MustCompile(`^\s*(options|install|blacklist|softdep|alias)\s+[a-zA-Z0-9_-]+`)},
	{Place{"/etc/security/limits.d/*", fact.Linux}, regexp.MustCompile(`^limits\.(conf|d/.*)$`), regexp.MustCompile(`^\s*\S+\s+(soft|hard|-)\s+(nofile|nproc|memlock|core|stack|rtprio)\s+\S+`)},
	{Place{"/etc/network/interfaces", fact.Linux}, regexp.MustCompile(`^(interfaces|interfaces\.d/.*)$`), regexp.MustCompile(`^\s*(iface\s+\S+\s+inet|auto\s+\S+|allow-hotplug\s)`)},
	{Place{"/etc/netplan/*", fact.Linux}, regexp.MustCompile(`^netplan/.*\.yaml$`), regexp.MustCompile(`^(network:|\s+(ethernets|renderer|dhcp4):)`)},
	{Place{"/etc/rc.local", fact.Linux}, regexp.MustCompile(`^rc\.local$`), regexp.MustCompile(`^\s*(sysctl\s+-w|ethtool\s+-[A-Za-z]|ip\s+link\s+set|echo\s+\S+\s*>\s*/(proc|sys)/)`)},
	{Place{"/etc/sysctl.conf", fact.FreeBSD}, nil, regexp.MustCompile(`^\s*-?(net\.(inet|inet6|link|isr|pf|bpf|local|route|graph|key|netmap|rtsock|wlan|iflib|add_addr)|kern|hw|dev|security|vfs|machdep|vm\.(pmap|v_|pageout|uma))\.[\w.%-]+\s*[=:]`)},
	{Place{"/etc/sysctl.d/*", fact.Linux}, regexp.MustCompile(`^sysctl\.d/`), regexp.MustCompile(`^\s*-?((net[./](ipv4|ipv6|core|netfilter|bridge|unix|mptcp|sctp|nf_conntrack_max)|vm|fs|kernel|user|sunrpc|dev[./]hpet|abi)[./][\w./*-]+|net\.nf_conntrack_max)\s*=`)},
	{Place{"/etc/kernel/cmdline", fact.Linux}, regexp.MustCompile(`^cmdline(\.txt)?$`), regexp.MustCompile(`^\s*(BOOT_IMAGE=\S+|root=\S+|(\S+\s+)+(ro|rw|quiet|root=\S+|console=\S+|mitigations=\S+|isolcpus=\S+)(\s|$))`)},
}

// Recognise finds where a host would have a file, by its name or by what its
// lines look like. os, where it is known, leaves out what another reads.
func Recognise(name, text, os string) (Place, bool) {
	if p, at, ok := appliance.Recognise(name, text, os); ok {
		return Place{at, p.OS}, true
	}
	parts := strings.Split(path.Clean(name), "/")
	base := parts[len(parts)-1]
	long := base
	if len(parts) > 1 {
		long = parts[len(parts)-2] + "/" + base
	}
	for _, k := range kinds {
		if k.names != nil && (k.names.MatchString(base) || k.names.MatchString(long)) && (os == "" || os == k.OS) {
			return k.at(base), true
		}
	}
	if base == "sysctl.conf" && os == fact.FreeBSD {
		return Place{"/etc/sysctl.conf", os}, true // a stock one has comments only
	}
	best, most := kind{}, 0
	for _, k := range kinds {
		if n := k.score(text); n > most && (os == "" || os == k.OS) {
			best, most = k, n
		}
	}
	if most == 0 && os != "" && base == "sysctl.conf" { // every system has one, and this one's lines do not tell whose it is
		best = kinds[slices.IndexFunc(kinds, func(k kind) bool { return k.OS == os && strings.HasPrefix(k.Path, "/etc/sysctl.") })]
		most = 1
	}
	if most == 0 {
		return Place{}, false
	}
	return best.at(base), true
}

// at puts the file's own name into the place.
func (k kind) at(base string) Place {
	if strings.HasSuffix(k.Path, "/*") {
		ext := map[string]string{"/etc/sysctl.d/*": ".conf", "/etc/modprobe.d/*": ".conf", "/etc/security/limits.d/*": ".conf", "/etc/udev/rules.d/*": ".rules", "/etc/systemd/system/*": ".service", "/etc/netplan/*": ".yaml", "/boot/loader.conf.d/*": ".conf"}[k.Path]
		if base == "-" || base == "" || base == "." {
			base = "input"
		}
		if ext != "" && !strings.HasSuffix(base, ext) {
			base += ext
		}
		k.Path = strings.TrimSuffix(k.Path, "*") + base
	}
	return k.Place
}

// maxJudged is how much of a text is looked at to tell what it is.
const maxJudged = 64 << 10

// score counts the lines that look like the kind's.
func (k kind) score(text string) int {
	n := 0
	if k.lines == nil {
		return 0 // its lines are those of another kind: the name alone tells
	}
	for line := range strings.Lines(text[:min(len(text), maxJudged)]) {
		if s := strings.TrimSpace(strings.TrimPrefix(line, "\xef\xbb\xbf")); s != "" && s[0] != '#' && k.lines.MatchString(s) {
			n++
		}
	}
	return n
}
