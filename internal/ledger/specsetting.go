package ledger

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// settingOf names one setting of a variant as the catalogue does, and its
// value: {sysctl: net.ipv4.ip_forward, value: 1}, {nft: {linear: 100}}, ….
func settingOf(m map[string]any) (name, value string) {
	text := func(key string) string {
		if v, ok := m[key]; ok && v != nil {
			return fmt.Sprint(v)
		}
		return ""
	}
	switch {
	case text("sysctl") != "":
		return sysctlName(text("sysctl")), text("value")
	case text("napi") != "":
		return "napi " + text("napi"), text("value")
	case text("link") != "":
		return "link " + text("link"), text("value")
	case text("route") != "":
		return "route", text("route")
	case m["nft"] != nil:
		return "nft", rulesetText(m["nft"])
	case m["command"] != nil:
		return "command", text("command")
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

// rulesetText says what a ruleset is, in a stable order.
func rulesetText(v any) string {
	m, ok := v.(map[string]any)
	if !ok {
		return fmt.Sprint(v)
	}
	var parts []string
	for _, k := range sorted(m) {
		if k == "text" {
			parts = append(parts, fmt.Sprintf("%d bytes of rules", len(fmt.Sprint(m[k]))))
			continue
		}
		parts = append(parts, strings.ReplaceAll(k, "_", " ")+" "+fmt.Sprint(m[k]))
	}
	return strings.Join(parts, ", ")
}

// relatedTo lists other names under which evidence on a setting of linerate's
// own studies is looked for.
func relatedTo(name string) []string {
	switch {
	case name == "nft":
		return []string{"nftables", "firewall"}
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
