package ledger

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/setting/fsconf"
	"linerate/internal/study"
)

// settingsIn names what one setting of a variant sets as the catalogue does, with
// the values. Nothing that a variant sets may be passed over: what was changed with
// it would be taken for changed alone.
func settingsIn(s study.Setting) map[string]string {
	switch {
	case s.FileSystem != nil:
		return diskSettings(s.FileSystem)
	case s.TCP != nil:
		return pathSettings(s.TCP)
	}
	name, value := settingOf(s)
	if name == "" {
		return nil
	}
	return map[string]string{name: value}
}

// diskSettings are what a file system has that the usual one has not.
func diskSettings(f *study.FileSystem) map[string]string {
	out := map[string]string{}
	if f.Type != fsconf.Default().Type {
		out["filesystem"] = f.Type
	}
	if f.Size != "" {
		out["filesystem size"] = f.Size
	}
	for o := range strings.SplitSeq(f.Options, ",") {
		if name, value, _ := strings.Cut(o, "="); name != "" && name != "defaults" {
			out["mount:"+name] = cmp.Or(value, "on")
		}
	}
	for o := range strings.SplitSeq(f.Features, ",") {
		if name, off := strings.CutPrefix(o, "^"); name != "" {
			out["mkfs:"+name] = map[bool]string{true: "off", false: "on"}[off]
		}
	}
	return out
}

// pathSettings are how a server's TCP treats the path to its clients.
func pathSettings(t *study.TCP) map[string]string {
	out := map[string]string{}
	for name, value := range map[string]string{"tcp:congestion": t.Congestion, "tcp:ulp": t.ULP, "tcp:initcwnd": counted(t.InitCwnd), "tcp:initrwnd": counted(t.InitRwnd)} {
		if value != "" {
			out[name] = value
		}
	}
	return out
}

func counted(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// settingOf names one setting of a variant, and its value.
func settingOf(s study.Setting) (name, value string) {
	switch {
	case s.Sysctl != "":
		return sysctlName(s.Sysctl), s.Value
	case s.NAPI != "":
		return "napi " + s.NAPI, s.Value
	case s.Link != "":
		return "link " + s.Link, s.Value
	case s.Route != "":
		return "route", s.Route
	case s.NFT != nil:
		return "nft", rulesetText(*s.NFT)
	case s.Firewall != nil:
		return "firewall", s.Setting().Rules.String()
	case s.Routes != nil:
		return "routes", s.Setting().Table.String()
	case s.Hops != 0:
		return "hops", strings.TrimSpace(fmt.Sprint(s.Hops, " ", s.Over))
	case s.Forward != "":
		return "forward", s.Forward
	case s.PolicyRules != 0:
		return "policy_rules", fmt.Sprint(s.PolicyRules)
	case s.CPUs != 0:
		return "cpus", fmt.Sprint(s.CPUs)
	case s.NGINX != "":
		return "nginx:" + s.NGINX, s.Value
	case s.Postfix != "":
		return "postfix:" + s.Postfix, s.Value
	case len(s.Command) > 0:
		return "command", fmt.Sprint(s.Command)
	case s.Loader != "":
		return s.Loader, s.Value
	case s.RC != "":
		return s.RC, s.Value
	}
	other := s.Setting()
	if other.Mechanism == "" {
		return "", ""
	}
	return string(other.Mechanism), cmp.Or(other.String(), other.Value)
}

var bedPort = regexp.MustCompile(`\.(dut|gen|sink|rcv)[0-9]+\.`)

// sysctlName writes a sysctl as the catalogue does: with dots, and IF for a
// port of the testbed.
func sysctlName(s string) string {
	if strings.Contains(s, "/") {
		s = strings.ReplaceAll(s, "/", ".")
	}
	return bedPort.ReplaceAllString(s, ".IF.")
}

// rulesetText says what a ruleset is.
func rulesetText(r study.Ruleset) string {
	var parts []string
	if r.Linear != 0 {
		parts = append(parts, fmt.Sprintf("linear %d", r.Linear))
	}
	if r.SetElements != 0 {
		parts = append(parts, fmt.Sprintf("set elements %d", r.SetElements))
	}
	if r.Stateful {
		parts = append(parts, "stateful true")
	}
	if r.Text != "" {
		parts = append(parts, fmt.Sprintf("%d bytes of rules", len(r.Text)))
	}
	return strings.Join(parts, ", ")
}

// ofServers begin the names of what is set of servers, their file systems and
// their paths to clients.
var ofServers = []string{"mount", "mkfs", "nginx", "postfix"}

// ofRoutes are the catalogue's names of what is set of a path by its route.
var ofRoutes = map[string][]string{
	"initcwnd": {"ip route ... initcwnd N"}, "initrwnd": {"ip route ... initrwnd N"}, "congestion": {"ip route ... congctl NAME"},
}

// relatedTo lists other names under which evidence on a setting of linerate's
// own studies is looked for.
func relatedTo(name string) []string {
	switch {
	case name == "nft", name == "firewall":
		return []string{"nftables", "nft", "firewall"}
	case strings.HasPrefix(name, "link "), strings.HasPrefix(name, "napi "):
		_, short, _ := strings.Cut(name, " ")
		return []string{short, "ethtool:" + short}
	}
	kind, short, _ := strings.Cut(name, ":")
	switch {
	case kind == "tcp":
		return append([]string{short}, ofRoutes[short]...)
	case slices.Contains(ofServers, kind):
		return []string{short}
	}
	return nil
}

func sorted[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func keys[V any](ms ...map[string]V) []string {
	all := map[string]bool{}
	for _, m := range ms {
		for k := range m {
			all[k] = true
		}
	}
	return sorted(all)
}
