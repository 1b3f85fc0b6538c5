package explain

import (
	"fmt"
	"strings"

	"linerate/internal/fact/release"
	"linerate/internal/setting"
	"linerate/internal/tunable"
)

// where says in words where a tunable is set.
func where(r *tunable.Record, s tunable.State, rel release.Release) string {
	if !s.Exists {
		return "nowhere: " + gone(r, rel)
	}
	if w, ok := places[s.Mechanism]; ok && (r.OS != tunable.Linux || s.Mechanism != setting.Module) {
		return w
	}
	if r.OS == tunable.Linux {
		return linuxPlaces[s.Settable]
	}
	switch s.Settable {
	case tunable.Boot:
		return "/boot/loader.conf only; sysctl.conf and sysctl(8) are refused"
	case tunable.Runtime:
		return "/etc/sysctl.conf or sysctl(8); a line in loader.conf does nothing"
	case tunable.BootRuntime:
		return "/boot/loader.conf, /etc/sysctl.conf or sysctl(8)"
	default:
		return "nowhere: it only reports"
	}
}

// places are where mechanisms other than sysctl are set.
var places = map[setting.Mechanism]string{
	setting.Loader:       "/boot/loader.conf only: there is no sysctl of that name",
	setting.RC:           "/etc/rc.conf (sysrc), read when its service starts",
	setting.Module:       "/boot/loader.conf, or kld_list in rc.conf, or kldload(8)",
	setting.KernelOption: "the kernel's configuration, then a new kernel",
	setting.Mount:        "/etc/fstab, or mount -u -o",
	setting.Tunefs:       "tunefs(8), on a file system not mounted for writing",
	setting.LoginConf:    "/etc/login.conf, then cap_mkdb; new logins feel it",
	setting.Firewall:     "the firewall's ruleset, then reload it",
	setting.Service:      "the daemon's own configuration",
	setting.Ifconfig:     "ifconfig(8), and the interface's line in rc.conf",
	setting.Ethtool:      "ethtool(8)",

	setting.Sysfs:   "a file below /sys: udev rules, tmpfiles.d or a script write it at boot",
	setting.Procfs:  "a file below /proc: tmpfiles.d or a script writes it at boot",
	setting.Cmdline: "the kernel's command line (GRUB_CMDLINE_LINUX, or kernelstub, grubby), then a reboot",
	setting.Limit:   "limits.conf(5) for logins, a Limit…= directive of the unit for services",
	setting.Qdisc:   "tc(8), and net.core.default_qdisc for interfaces without one",
	setting.CC:      "net.ipv4.tcp_congestion_control, a route's congctl, or the program",
	setting.Route:   "ip route, or the routing daemon",
	setting.Socket:  "the program, with setsockopt(2)",
	setting.Systemd: "a file of systemd: unit, .link or .network",
}

// linuxPlaces are where a sysctl or a module's parameter of Linux is set.
var linuxPlaces = map[tunable.Settable]string{
	tunable.Boot:        "the kernel's command line, or modprobe.d for a module; a running kernel does not take it",
	tunable.Runtime:     "/etc/sysctl.d/*.conf or sysctl -w",
	tunable.BootRuntime: "the kernel's command line or modprobe.d, and while running",
	tunable.ReadOnly:    "nowhere: it only reports",
}

// gone says why a release does not have it.
func gone(r *tunable.Record, rel release.Release) string {
	to := ""
	if r.RenamedTo != "" {
		to = "; now " + r.RenamedTo
	}
	switch {
	case !r.Removed.IsZero() && (rel.IsZero() || !rel.Before(r.Removed)):
		return "removed in " + r.Removed.String() + to
	case !r.Since.IsZero() && rel.Before(r.Since):
		return "there since " + r.Since.String()
	default:
		return "not on this release" + to
	}
}

// history is how the tunable changed, as runs of releases.
func history(r *tunable.Record) []Period {
	var all []Period
	var first, last string
	flush := func(is string) {
		if is == "" {
			return
		}
		rs := first
		if first != last {
			rs += " to " + last
		}
		all = append(all, Period{rs, is})
	}
	is := ""
	for _, text := range Releases[r.OS] {
		now := describe(r.At(release.MustParse(text)))
		if now != is {
			flush(is)
			first, is = text, now
		}
		last = text
	}
	flush(is)
	return all
}

// describe is a state in one line.
func describe(s tunable.State) string {
	if !s.Exists {
		return "not there"
	}
	d := "no default"
	switch {
	case s.Default != nil && *s.Default == "":
		d = "empty by default"
	case s.Default != nil:
		d = "default " + *s.Default
	case s.Formula != "":
		d = "default computed from the machine"
	}
	parts := []string{d, settableWords[s.Settable], string(s.Type)}
	switch s.Scope {
	case tunable.VNET:
		parts = append(parts, "per vnet")
	case tunable.NetNS:
		parts = append(parts, "per network namespace")
	}
	return strings.Join(parts, ", ")
}

var settableWords = map[tunable.Settable]string{
	tunable.Boot: "set at boot", tunable.Runtime: "set while running",
	tunable.BootRuntime: "set at boot or while running", tunable.ReadOnly: "read-only",
}

// defaultText is the default of a page, in words.
func (p Page) defaultText() string {
	d := ""
	switch {
	case !p.Exists:
		return ""
	case p.DefaultIsFormula:
		d = "computed: " + p.Default
	case p.Settable == tunable.ReadOnly && p.Default == "", p.noDefault && p.Effective == "":
		return ""
	case p.noDefault:
		return p.Effective
	case p.Default == "":
		d = "empty"
	default:
		d = strings.TrimSpace(p.Default + " " + p.Unit)
	}
	if p.Effective != "" {
		d += fmt.Sprintf(" (%s)", p.Effective)
	}
	return d
}

// becomes names the successor of what is there but will go.
func (p Page) becomes() string {
	if !p.Exists || p.RenamedTo == "" {
		return ""
	}
	if p.RemovedIn == "" {
		return p.RenamedTo
	}
	return p.RenamedTo + " in " + p.RemovedIn
}
