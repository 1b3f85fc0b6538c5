package inspect

import (
	_ "embed" // services.txt
	"path"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/freebsd"
	"linerate/internal/fact/linux"
	"linerate/internal/fact/redact"
	"linerate/internal/fact/vocabulary"
	"linerate/internal/list"
)

// servicesText lists daemons.
//
//go:embed services.txt
var servicesText string

// freebsdServices lists the daemons that rc.conf or a configuration file mentions.
func (in *inspection) freebsdServices() {
	for _, row := range list.Table(servicesText, fact.FreeBSD) {
		enabled := in.f.RCYes(row[1])
		svc := fact.Service{Name: row[0], Enabled: &enabled, Details: in.details(row)}
		if enabled || len(svc.Details) > 0 {
			in.f.Services = append(in.f.Services, svc)
		}
	}
}

// details returns the relevant lines of a daemon's files, and of those in its directories.
func (in *inspection) details(row []string) []fact.Line {
	if len(row) < 4 {
		return nil
	}
	var lines []fact.Line
	for _, p := range strings.Fields(row[2]) {
		files := []string{p}
		if names, err := in.dir(p); err == nil {
			files = list.Map(names, func(n string) string { return p + "/" + n })
		}
		for file, text := range fact.Texts(in, files...) {
			lines = append(lines, freebsd.WordLines(file, text, strings.Fields(row[3]))...)
		}
	}
	return lines
}

// texts reads the files of slips.txt below a directory that no other reader has read.
func (in *inspection) texts(below string) {
	for _, pattern := range append(fact.TextFiles(), vocabulary.Files()...) {
		if !strings.HasPrefix(pattern, below) {
			continue
		}
		for _, p := range in.matching(pattern) {
			if _, read := in.written[p]; !read {
				_, _ = in.read(p, redact.Other)
			}
		}
	}
	in.addSlips("", fact.SlipsAcross(in.written))
	in.addSlips("", vocabulary.Lacking(in.written))
	in.addSlips("", in.filterProblems())
	if in.f.OS == fact.Linux {
		in.addSlips("", linux.NetworkProblems(in.written))
		in.exposed()
	}
}

// exposed finds connections that NetworkManager ignores because others may read them, where another file shows that modes are known.
func (in *inspection) exposed() {
	connections := in.matching("/etc/NetworkManager/system-connections/*")
	known := slices.ContainsFunc(append(in.matching("/etc/wireguard/*.conf"), connections...), func(p string) bool { return in.mode(p) != 0 && in.mode(p)&0o077 == 0 })
	open := list.Filter(connections, func(p string) bool { return known && in.mode(p)&0o077 != 0 })
	for _, p := range open {
		in.addSlips("", []fact.Problem{{File: p, Line: 1, Kind: fact.ProblemSlip, Message: "nm-mode"}})
	}
}

// filterProblems judges the packet filters' files, by the paths that they have here.
func (in *inspection) filterProblems() (all []fact.Problem) {
	if in.f.OS == fact.Linux {
		return linux.FilterProblems(in.written)
	}
	fw := in.f.Firewall
	kind, _ := in.f.RCValue("firewall_type")
	used := in.rcPath("firewall_script", "/etc/rc.firewall") != "/etc/rc.firewall" || strings.HasPrefix(kind, "/")
	accepts, _ := in.f.Value("net.inet.ip.fw.default_to_accept")
	all = freebsd.FilterProblems(in.written, in.network, fw.PF != nil && fw.PF.Configured, fw.IPFW != nil && fw.IPFW.Configured && used || in.f.From.Alone, accepts == "1")
	for i := range all {
		for actual, as := range in.stands {
			if _, read := in.shown[actual]; read && as == all[i].File {
				all[i].File = actual
			}
		}
	}
	return all
}

// matching returns the paths that match a pattern, which may have a * in the last two names.
func (in *inspection) matching(pattern string) (paths []string) {
	dir, base := path.Split(pattern)
	dirs := []string{path.Clean(dir)}
	if strings.Contains(dir, "*") {
		dirs = in.matching(dirs[0])
	}
	for _, d := range dirs {
		names, _ := in.list(d, strings.Contains(dir, "*"))
		for _, n := range names {
			if ok, _ := path.Match(base, n); ok {
				paths = append(paths, path.Join(d, n))
			}
		}
	}
	return paths
}
