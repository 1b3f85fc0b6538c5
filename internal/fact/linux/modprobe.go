package linux

import (
	"path"
	"slices"
	"strings"

	"linerate/internal/fact"
)

// ReadModuleOptions reads modprobe.d in the order of modprobe.d(5): a file in /etc hides those of
// the same name elsewhere, all are read in name order, and the last value of a parameter wins.
// "options nf_conntrack hashsize=65536" sets module.nf_conntrack.hashsize; "install" lines run
// commands.
func ReadModuleOptions(files fact.Files) Config {
	var c Config
	for _, p := range dropIns(files, ".conf", "/etc/modprobe.d", "/run/modprobe.d", "/usr/local/lib/modprobe.d", "/usr/lib/modprobe.d", "/lib/modprobe.d") {
		c.modprobe(files, p)
	}
	names, _ := files.List("/etc/modprobe.d")
	for _, n := range names {
		if !strings.HasSuffix(n, ".conf") && !setAside(n) {
			first := len(c.Lines)
			c.modprobe(files, "/etc/modprobe.d/"+n)
			idle(c.Lines[first:], NotConf)
		}
	}
	return c
}

func (c *Config) modprobe(files fact.Files, p string) {
	text, _ := files.Read(p)
	for number, raw := range joined(text) {
		w := strings.Fields(raw)
		if len(w) > 2 && w[0] == "install" {
			c.add(p, number, raw, fact.Modprobe, "when the module is loaded", append(applied(w[1], raw), blocked(w)...)...)
		}
		if len(w) < 3 || w[0] != "options" {
			continue
		}
		for _, o := range w[2:] {
			name, value, ok := strings.Cut(o, "=")
			if !ok {
				value = "1"
			}
			c.add(p, number, raw, fact.Modprobe, "", assignment{"module." + strings.ReplaceAll(w[1], "-", "_") + "." + name, value})
		}
	}
}

// Blocked is the prefix of names that record blocked modules; the value is the command that
// modprobe runs instead.
const Blocked = "modprobe.install."

// blocked reads "install MODULE /bin/false", as in hardening guides.
func blocked(w []string) []assignment {
	if base := path.Base(w[2]); base != "false" && base != "true" || len(w) > 3 && w[3][0] != '#' {
		return nil
	}
	return []assignment{{Blocked + strings.ReplaceAll(w[1], "-", "_"), w[2]}}
}

// readEnds are directories, and how the names of the files end that are read there.
var readEnds = [][2]string{{"/etc/modules-load.d", ".conf"}, {"/etc/security/limits.d", ".conf"}, {"/etc/tmpfiles.d", ".conf"}, {"/etc/udev/rules.d", ".rules"},
	{"/etc/netplan", ".yaml"}, {"/etc/NetworkManager/conf.d", ".conf"}, {"/etc/systemd/system.conf.d", ".conf"}, {"/etc/systemd/network", ".network .netdev .link"}, {"/etc/local.d", ".start .stop"},
	{"/etc/systemd/journald.conf.d", ".conf"}, {"/etc/systemd/logind.conf.d", ".conf"}, {"/etc/systemd/resolved.conf.d", ".conf"}, {"/etc/systemd/timesyncd.conf.d", ".conf"}, {"/etc/systemd/networkd.conf.d", ".conf"},
	{"/etc/ssh/sshd_config.d", ".conf"}, {"/etc/chrony/sources.d", ".sources"}, {"/etc/default/grub.d", ".cfg"}}

// UnreadNames are files whose names do not end as their directory's files must to be read. One with another end behind that was put aside.
func UnreadNames(files fact.Files) (all []fact.Problem) {
	dirs := readEnds
	units, _ := files.List(unitDirs[0])
	for _, n := range units {
		if strings.HasSuffix(n, ".service.d") {
			dirs = append(dirs, [2]string{unitDirs[0] + "/" + n, ".conf"})
		}
	}
	for _, d := range dirs {
		names, _ := files.List(d[0])
		for _, n := range names {
			if slices.ContainsFunc(strings.Fields(d[1]), func(end string) bool { return strings.Contains(n, end) }) || n[0] == '.' || setAside(n) || strings.HasPrefix(strings.ToUpper(n), "README") {
				continue
			}
			text, _ := files.Read(d[0] + "/" + n)
			for i, raw := range fact.Lines(text) {
				if s := strings.TrimSpace(raw); s != "" && s[0] != '#' && s[0] != ';' {
					all = append(all, fact.Problem{File: d[0] + "/" + n, Line: i + 1, Text: raw, Kind: fact.ProblemSlip, Message: "unread-name"})
					break
				}
			}
		}
	}
	return all
}

// ReadModulesLoad reads what is loaded at boot before sysctl.d is applied: modules-load.d(5) and
// Debian's /etc/modules. It returns the line for each module.
func ReadModulesLoad(files fact.Files) map[string]fact.Line {
	loads := map[string]fact.Line{}
	paths := dropIns(files, ".conf", "/etc/modules-load.d", "/run/modules-load.d", "/usr/local/lib/modules-load.d", "/usr/lib/modules-load.d", "/lib/modules-load.d")
	for p, text := range fact.Texts(files, append(paths, "/etc/modules")...) {
		for i, raw := range fact.Lines(text) {
			w := strings.Fields(raw)
			if len(w) == 0 || w[0][0] == '#' || w[0][0] == ';' || !validName(w[0]) {
				continue
			}
			name := strings.ReplaceAll(w[0], "-", "_")
			loads[name] = fact.Line{File: p, Number: i + 1, Text: raw, Name: name, Value: "load", Stage: fact.Modprobe, Order: len(loads) + 1, Effective: true, Default: shipped(p)}
		}
	}
	return loads
}
