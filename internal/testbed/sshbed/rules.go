package sshbed

import (
	"fmt"
	"strings"

	"linerate/internal/setting"
)

// rulesEnd ends a ruleset in a script.
const rulesEnd = "LINERATE-RULES-END-HERE"

// addRules adds a firewall's ruleset, of the DUT's own system.
func (b *Bed) addRules(v *variant, s setting.Setting) error {
	onLinux := s.Mechanism == setting.NFT
	if onLinux != (b.id.OS == "linux") {
		return unavailable(s, "the DUT runs %s", b.id.OS)
	}
	text := ""
	if s.Rules != nil {
		text = s.Rules.Text
		if text == "" {
			text = generated(s.Mechanism, *s.Rules)
		}
	}
	if text == "" || strings.Contains(text, rulesEnd) || strings.ContainsRune(text, 0) {
		return unavailable(s, "the ruleset is empty, or no text")
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	file := "cat >\"$1/rules\" <<'" + rulesEnd + "' || exit 1\n" + text + rulesEnd + "\n"
	st := map[setting.Mechanism]step{setting.NFT: nftStep, setting.PF: pfStep, setting.IPFW: ipfwStep}[s.Mechanism]
	st.do = file + st.do
	v.steps = append(v.steps, st)
	return nil
}

// nftStep adds tables to those that are there, and loads the old ones anew.
var nftStep = step{
	do: `command -v nft >/dev/null || { echo "` + cannotBeHad + `the DUT has no nft"; exit 1; }
nft list ruleset >"$1/nft.tmp" && mv "$1/nft.tmp" "$1/nft.old" && nft -f "$1/rules"`,
	undo: `[ ! -f "$1/nft.old" ] || { echo "flush ruleset"; cat "$1/nft.old"; } | nft -f -`,
}

// pfStep turns pf on with the rules where it was off: loaded rules cannot be read
// back exactly.
var pfStep = step{
	do: `if pfctl -si 2>/dev/null | grep -q "^Status: Enabled"; then echo "` + cannotBeHad + `pf is in use on the DUT: give the rules as files, with reset: reboot"; exit 1; fi
kldstat -q -m pf || { kldload pf && : >"$1/pf.loaded"; } || { echo "` + cannotBeHad + `the DUT has no pf"; exit 1; }
: >"$1/pf.on" && pfctl -q -f "$1/rules" && pfctl -q -e`,
	undo: `if [ -f "$1/pf.on" ]; then pfctl -q -d 2>/dev/null; pfctl -q -F all; fi
if [ -f "$1/pf.loaded" ]; then kldunload pf && rm -f "$1/pf.loaded"; fi`,
}

// ipfwStep loads ipfw, which would deny everything, only after telling it not
// to.
var ipfwStep = step{
	do: `if kldstat -q -m ipfw; then echo "` + cannotBeHad + `ipfw is in use on the DUT: give the rules as files, with reset: reboot"; exit 1; fi
kenv net.inet.ip.fw.default_to_accept=1 >/dev/null && : >"$1/ipfw.loaded" && kldload ipfw || { echo "` + cannotBeHad + `the DUT has no ipfw"; exit 1; }
ipfw -q "$1/rules"`,
	undo: `if [ -f "$1/ipfw.loaded" ]; then kenv -u net.inet.ip.fw.default_to_accept >/dev/null 2>&1; kldunload ipfw 2>/dev/null; rm -f "$1/ipfw.loaded"; fi`,
}

// generated writes rules that no workload's packet matches (setting.Rules).
func generated(m setting.Mechanism, r setting.Rules) string {
	var b strings.Builder
	address := func(i int) string { return fmt.Sprintf("240.%d.%d.%d", i>>16&255, i>>8&255, i&255) }
	switch m {
	case setting.NFT:
		b.WriteString("table ip linerate {\n")
		elements := joined(r.SetElements, address, ", ")
		if elements != "" {
			b.WriteString("set blocked { type ipv4_addr; elements = { " + elements + " } }\n")
		}
		b.WriteString("chain forward { type filter hook forward priority 0; policy accept;\n")
		if elements != "" {
			b.WriteString("ip saddr @blocked drop\n")
		}
		each(&b, r.Linear, func(i int) string { return "ip saddr " + address(i) + " drop" })
		if r.Stateful {
			b.WriteString("ct state established accept\nct state new accept\n")
		}
		b.WriteString("}\n}\n")
	case setting.PF:
		elements := joined(r.SetElements, address, ", ")
		if elements != "" {
			b.WriteString("table <blocked> const { " + elements + " }\n")
		}
		b.WriteString("set skip on lo0\n")
		if elements != "" {
			b.WriteString("block drop quick from <blocked>\n")
		}
		each(&b, r.Linear, func(i int) string { return "block drop quick inet from " + address(i) })
		b.WriteString(map[bool]string{true: "pass\n", false: "pass no state\n"}[r.Stateful])
	case setting.IPFW:
		for i := range r.SetElements {
			fmt.Fprintf(&b, "table 1 add %s\n", address(i))
		}
		if r.SetElements > 0 {
			b.WriteString("add deny ip from table(1) to any\n")
		}
		each(&b, r.Linear, func(i int) string { return "add deny ip from " + address(i) + " to any" })
		if r.Stateful {
			b.WriteString("add check-state\nadd allow ip from any to any keep-state\n")
		} else {
			b.WriteString("add allow ip from any to any\n")
		}
	}
	return b.String()
}

func each(b *strings.Builder, n int, line func(int) string) {
	for i := range n {
		b.WriteString(line(i) + "\n")
	}
}

func joined(n int, element func(int) string, between string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = element(i)
	}
	return strings.Join(all, between)
}
