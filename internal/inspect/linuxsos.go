package inspect

import (
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/linux"
	"linerate/internal/fact/redact"
	"linerate/internal/fact/release"
	"linerate/internal/host"
)

// sosDirs are where an extracted sos report keeps the output of the commands
// that an inspection asks for, under their own lines.
var sosDirs = []string{"kernel", "networking", "firewall_tables", "nftables", "host"}

// sosAliases are commands that sos asks by another line, with the same answer.
var sosAliases = map[string]string{"nft list ruleset": "nft -a list ruleset"}

// sos is the output of a command that an extracted sos report holds; trees
// have no other.
func (in *inspection) sos(command string) (string, bool) {
	if text, ok := in.sosFile(command); ok || sosAliases[command] == "" {
		return text, ok
	}
	return in.sosFile(sosAliases[command])
}

func (in *inspection) sosFile(command string) (string, bool) {
	file := strings.NewReplacer(" ", "_", "/", ".").Replace(command)
	for _, dir := range sosDirs {
		p := "/sos_commands/" + dir + "/" + file
		if b, err := in.r.ReadFile(in.ctx, p); err == nil || len(b) > 0 {
			in.record(p, err)
			return in.kept(redact.KindOfAnswer(command), p, string(b)), true
		}
	}
	return "", false
}

// sosValues adds the values of `sysctl -a` to those that the report copied
// from /proc/sys, which are few.
func (in *inspection) sosValues() {
	text, ok := in.sos("sysctl -a")
	if !ok {
		return
	}
	have := map[string]bool{}
	for _, s := range in.f.Settings {
		have[s.Name] = true
	}
	for _, s := range linux.ParseSysctlA(text) {
		if !have[s.Name] {
			in.f.Settings = append(in.f.Settings, s)
		}
		switch s.Name {
		case "kernel.osrelease":
			if r, err := release.Parse(*s.Live); err == nil && in.f.Release.IsZero() {
				in.f.Release = r
			}
		case "kernel.hostname":
			in.f.Hostname = *s.Live
		}
	}
}

// sosLinks adds the interfaces that a report asked ethtool about and of which
// it copied nothing from /sys.
func (in *inspection) sosLinks() {
	names, _ := in.r.ReadDir(in.ctx, "/sos_commands/networking")
	for _, file := range names {
		name, ok := strings.CutPrefix(file, "ethtool_-i_")
		if _, known := in.f.NIC(name); !ok || known || name == "lo" || len(host.EthtoolQueries(name)) == 0 {
			continue
		}
		if text, ok := in.sos("ethtool -i " + name); ok {
			in.f.NICs = append(in.f.NICs, linux.ParseDriver(name, text))
		}
	}
	slices.SortStableFunc(in.f.NICs, func(a, b fact.NIC) int { return strings.Compare(a.Name, b.Name) })
}

// sosTables are the files of a report that list iptables' tables. Rules of
// the table filter may be there twice, and are counted once.
var sosTables = [][]string{{"iptables -t filter -nvL", "iptables -vnxL"}, {"iptables -t nat -nvL"}, {"iptables -t mangle -nvL"}, {"iptables -t raw -nvL"}}

// sosFirewall counts the rules that a report lists; known is false when it has
// no list.
func (in *inspection) sosFirewall(fw *fact.NFT) (known bool) {
	tracking := fw.Tracking != nil && *fw.Tracking
	for _, files := range sosTables {
		for _, command := range files {
			if text, ok := in.sos(command); ok {
				rules, tracks := linux.CountIPTablesList(text)
				fw.Rules, tracking, known = fw.Rules+rules, tracking || tracks, true
				break
			}
		}
	}
	if known {
		fw.Tracking = &tracking
	}
	return known
}
