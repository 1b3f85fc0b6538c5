package inspect

import (
	"slices"
	"strconv"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/linux"
	"linerate/internal/fact/redact"
	"linerate/internal/host"
	"linerate/internal/list"
)

// linuxModules reads the loaded and built-in modules, and the parameters of loaded ones: settings
// module.<module>.<parameter>.
func (in *inspection) linuxModules() {
	in.f.Modules = contents(in, "/proc/modules", linux.ParseModules)
	known := map[string]bool{}
	for _, m := range in.f.Modules {
		known[m.Name] = true
	}
	for _, n := range linux.ParseBuiltin(in.text("/lib/modules/" + in.f.Release.String() + "/modules.builtin")) {
		if !known[n] {
			known[n] = true
			in.f.Modules = append(in.f.Modules, fact.Module{Name: n, InKernel: true})
		}
	}
	const dir = "/sys/module"
	modules, _ := in.r.ReadDir(in.ctx, dir)
	for _, m := range modules {
		params, _ := in.r.ReadDir(in.ctx, dir+"/"+m+"/parameters")
		for _, p := range params {
			b, err := in.r.ReadFile(in.ctx, dir+"/"+m+"/parameters/"+p)
			if err != nil || len(in.f.Settings) >= maxValues {
				continue
			}
			v := keptValue(dir+"/"+m+"/parameters/"+p, strings.TrimRight(string(b), "\n"))
			in.f.Settings = append(in.f.Settings, fact.Tunable{Name: "module." + m + "." + p, Namespace: fact.Kernel, Live: &v})
		}
	}
}

// linuxFiles reads the configuration in the system's own order.
func (in *inspection) linuxFiles(names []string) {
	sysctls := linux.ReadSysctlConf(in, names)
	set := map[string]bool{}
	for _, l := range sysctls.Lines {
		set[l.Name] = set[l.Name] || l.Effective && !l.Default
	}
	in.addModules(linux.ReadModulesLoad(in))
	in.f.Problems = append(in.f.Problems, linux.UnreadNames(in)...)
	// In boot order; those that share a mechanism in the order in which they take effect.
	programs := []linux.Config{linux.ReadUFW(files{in, redact.Sysctl}), linux.ReadTuned(in, func(name string) bool { return set[name] }), linux.ReadNetworkManager(in), linux.ReadNetplan(in), linux.ReadWrites(in), linux.ReadScripts(in)}
	devices := []linux.Config{linux.ReadLinkFiles(in), linux.ReadUdevRules(in)}
	for _, group := range [][]linux.Config{{linux.ReadLimits(in), linux.ReadUnits(in), linux.ReadContainers(in)}, {linux.ReadBootLine(in)}, {linux.ReadModuleOptions(in)}, devices, {sysctls}, {linux.ReadNetworkFiles(in)}, programs} {
		in.addConfig(group)
	}
	for _, text := range fact.Texts(in, "/proc/cmdline") {
		in.commandLine(text)
	}
	in.f.Mounts = contents(in, "/proc/self/mounts", linux.ParseMounts)
	in.f.Container = linux.ContainerOf(in.text("/run/systemd/container"), in.f.Mounts)
	in.f.Mounts = append(in.f.Mounts, contents(in, "/etc/fstab", linux.ParseMounts)...)
}

// addConfig adds the lines of one mechanism, numbered in reading order.
func (in *inspection) addConfig(group []linux.Config) {
	var lines []fact.Line
	for _, c := range group {
		in.f.Problems = append(in.f.Problems, c.Problems...)
		lines = append(lines, c.Lines...)
		for _, n := range c.NICs {
			in.f.AddConfigured(n)
		}
	}
	in.addLines(in.notTheUsers(fact.InOrder(lines)))
}

// commandLine adds the command line of the running kernel as live values.
func (in *inspection) commandLine(text string) {
	seen := map[string]int{}
	for i, s := range in.f.Settings {
		seen[s.Name] = i
	}
	for _, l := range linux.ReadCommandLine("/proc/cmdline", text) {
		v := l.Value
		if i, ok := seen[l.Name]; ok {
			in.f.Settings[i].Live = &v
			continue
		}
		seen[l.Name] = len(in.f.Settings)
		in.f.Settings = append(in.f.Settings, fact.Tunable{Name: l.Name, Namespace: fact.Kernel, Live: &v})
	}
}

// linuxFirewall counts rules and connections. Reading the ruleset needs privileges; without them it
// uses the file and the modules.
func (in *inspection) linuxFirewall() {
	fw := &fact.NFT{}
	known := in.linuxRules(fw)
	modules := slices.ContainsFunc(in.f.Modules, func(m fact.Module) bool {
		return m.Loaded != nil && *m.Loaded && (strings.HasPrefix(m.Name, "nf") || strings.HasPrefix(m.Name, "ip_tables") || strings.HasPrefix(m.Name, "xt_"))
	})
	fw.Connections = in.count("/proc/sys/net/netfilter/nf_conntrack_count")
	fw.Max = in.count("/proc/sys/net/netfilter/nf_conntrack_max")
	if known || fw.File != "" || fw.Max != nil || modules {
		in.f.Firewall.NFT = fw
	}
}

// linuxRules counts the running rules, else those in files. It reports whether the running ones are
// known.
func (in *inspection) linuxRules(fw *fact.NFT) (known bool) {
	for _, q := range []struct {
		id    string
		count func(string) (int, bool)
	}{{"nft", linux.CountNFT}, {"iptables", linux.CountIPTables}} {
		if text, ok := in.output(q.id); ok && fw.Rules == 0 {
			rules, tracking := q.count(text)
			fw.Rules, fw.Tracking, known = rules, &tracking, true
		}
	}
	for _, q := range []struct {
		path  string
		count func(string) (int, bool)
	}{{"/etc/nftables.conf", linux.CountNFT}, {"/etc/iptables/rules.v4", linux.CountIPTables}, {"/etc/iptables/iptables.rules", linux.CountIPTables}, {"/etc/sysconfig/iptables", linux.CountIPTables},
		{"/etc/iptables/rules.v6", linux.CountIPTables}, {"/etc/sysconfig/ip6tables", linux.CountIPTables}} {
		text, err := in.Read(q.path)
		if err != nil || known || fw.File != "" {
			continue
		}
		rules, tracking := q.count(text)
		fw.Rules, fw.File = rules, q.path
		if rules > 0 {
			fw.Tracking = &tracking
		}
	}
	return known
}

func (in *inspection) count(path string) *uint64 {
	n, err := strconv.ParseUint(in.text(path), 10, 64)
	if err != nil {
		return nil
	}
	return &n
}

// linuxServices lists the daemons that systemd starts.
func (in *inspection) linuxServices() {
	names, _ := in.r.ReadDir(in.ctx, "/etc/systemd/system/multi-user.target.wants")
	yes, units, services := true, map[string][]string{}, list.Table(servicesText, fact.Linux)
	for _, row := range services {
		units[row[1]] = row
	}
	for _, n := range names {
		unit := strings.TrimSuffix(n, ".service")
		row := units[unit]
		if strings.HasPrefix(unit, "wg-quick@") {
			row = []string{"wireguard"}
		}
		if row != nil {
			in.f.Services = append(in.f.Services, fact.Service{Name: row[0], Enabled: &yes, Details: in.details(row)})
			delete(units, unit)
		}
	}
	for _, row := range services { // a partial copy of files may lack the links
		if details := in.details(row); units[row[1]] != nil && len(details) > 0 {
			in.f.Services = append(in.f.Services, fact.Service{Name: row[0], Details: details})
		}
	}
}

// ethtool queries what /sys does not contain, for hardware interfaces.
func (in *inspection) ethtool(n *fact.NIC) {
	if n.Kind != fact.KindEthernet {
		return
	}
	for i, q := range host.EthtoolQueries(n.Name) {
		text, ok := in.ask(q)
		if !ok {
			continue
		}
		switch i {
		case 0:
			n.Options = linux.ParseFeatures(text)
		case 1:
			linux.AddRings(n, text)
		case 2:
			linux.AddChannels(n, text)
		case 3:
			linux.AddPause(n, text)
		case 4:
			linux.AddDriverCounters(in.f, n.Name, text)
		}
	}
}
