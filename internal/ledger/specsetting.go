package ledger

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"linerate/internal/study"
)

// settingOf names one setting of a variant as the catalogue does, and its
// value.
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
	case len(s.Command) > 0:
		return "command", fmt.Sprint(s.Command)
	}
	return "", ""
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
