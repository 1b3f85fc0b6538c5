package sshbed

import (
	"cmp"
	"fmt"
	"net/netip"
	"strings"

	"linerate/internal/host"
	"linerate/internal/knob"
	"linerate/internal/list"
	"linerate/internal/setting"
	"linerate/internal/testbed"
)

// rulesEnd is the here-document delimiter of a ruleset in a script.
const rulesEnd = "LINERATE-RULES-END-HERE"

// filters are the packet filters that a described firewall can be made for.
var filters = map[string]setting.Mechanism{setting.ByNFT: setting.NFT, setting.ByPF: setting.PF, setting.ByIPFW: setting.IPFW}

// addRules adds a firewall ruleset for the DUT's own system.
func (b *Bed) addRules(v *variant, s setting.Setting) error {
	onLinux, m := b.id.OS == "linux", s.Mechanism
	if m == setting.Firewall {
		m = filters[cmp.Or(s.Rules.By, map[bool]string{true: setting.ByNFT, false: setting.ByPF}[onLinux])]
	}
	switch {
	case m == "":
		return testbed.Unavailable(s, "this testbed loads rules of nft, pf and ipfw")
	case onLinux != (m == setting.NFT):
		return testbed.Unavailable(s, "the DUT runs %s", b.id.OS)
	}
	text, table := "", ""
	if s.Rules != nil {
		text, table = rulesOf(m, *s.Rules)
	}
	if text == "" || strings.Contains(text, rulesEnd) || strings.ContainsRune(text, 0) {
		return testbed.Unavailable(s, "the ruleset is empty, or no text")
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	file := here("rules", text)
	if table != "" {
		file += here("table", table)
	}
	st := map[setting.Mechanism]step{setting.NFT: nftStep, setting.PF: pfStep, setting.IPFW: ipfwStep}[m]
	if s.Rules.Optimise {
		st.do = strings.Replace(st.do, "-o none", "-o basic", 1)
	}
	st.do = file + st.do
	v.steps = append(v.steps, st)
	return nil
}

// here returns the shell command that writes a file in the transaction's directory.
func here(name, text string) string {
	return "cat >\"$1/" + name + "\" <<'" + rulesEnd + "' || exit 1\n" + text + rulesEnd + "\n"
}

// nftStep adds tables to the existing ones; its undo reloads the old ruleset.
var nftStep = step{
	do: `command -v nft >/dev/null || { echo "` + cannotBeHad + `the DUT has no nft"; exit 1; }
nft list ruleset >"$1/nft.tmp" && mv "$1/nft.tmp" "$1/nft.old" && nft -f "$1/rules"`,
	undo: `[ ! -f "$1/nft.old" ] || { echo "flush ruleset"; cat "$1/nft.old"; } | nft -f -`,
}

// pfStep enables pf with the rules, only if it was disabled: loaded rules cannot be read back
// exactly. With optimisation, pfctl would combine consecutive generated rules into one table.
var pfStep = step{
	do: `if pfctl -si 2>/dev/null | grep -q "^Status: Enabled"; then echo "` + cannotBeHad + `pf is in use on the DUT: give the rules as files, with reset: reboot"; exit 1; fi
kldstat -q -m pf || { kldload pf && : >"$1/pf.loaded"; } || { echo "` + cannotBeHad + `the DUT has no pf"; exit 1; }
: >"$1/pf.on" && pfctl -q -o none -f "$1/rules" && { [ ! -e "$1/table" ] || pfctl -q -t never -T add -f "$1/table"; } && pfctl -q -e`,
	undo: `if [ -f "$1/pf.on" ]; then pfctl -q -d 2>/dev/null; pfctl -q -F all; fi
if [ -f "$1/pf.loaded" ]; then kldunload pf && rm -f "$1/pf.loaded"; fi`,
}

// ipfwStep loads ipfw, whose default is to deny everything, only after
// changing that default.
var ipfwStep = step{
	do: `if kldstat -q -m ipfw; then echo "` + cannotBeHad + `ipfw is in use on the DUT: give the rules as files, with reset: reboot"; exit 1; fi
kenv net.inet.ip.fw.default_to_accept=1 >/dev/null && : >"$1/ipfw.loaded" && kldload ipfw || { echo "` + cannotBeHad + `the DUT has no ipfw"; exit 1; }
ipfw -q "$1/rules"`,
	undo: `if [ -f "$1/ipfw.loaded" ]; then kenv -u net.inet.ip.fw.default_to_accept >/dev/null 2>&1; kldunload ipfw 2>/dev/null; rm -f "$1/ipfw.loaded"; fi`,
}

// rulesOf returns a ruleset and, for pf, the addresses of its table: the user's own, or rules that
// match no workload's packet (setting.Rules).
func rulesOf(m setting.Mechanism, r setting.Rules) (rules, table string) {
	switch m {
	case setting.PF:
		return knob.PFRules(r), knob.PFTable(r)
	case setting.IPFW:
		return knob.IPFWRules(r), ""
	}
	return knob.NFTRules(r), ""
}

// addStep adds a setting that takes a script.
func (b *Bed) addStep(v *variant, s setting.Setting) error {
	switch s.Mechanism {
	case setting.Command:
		if len(s.Undo) == 0 && b.o.Reset != Reboot {
			return testbed.Unavailable(s, "nothing is known of how it is undone: give it undo: [command, …], or the study reset: reboot")
		}
		if why := testbed.Touches(b.o.File.Hosts.DUT.Management, s.Undo); why != "" {
			return testbed.Unavailable(s, "refused: %s", why)
		}
		undo := "true"
		if len(s.Undo) > 0 {
			undo = words(s.Undo)
		}
		v.steps = append(v.steps, step{words(s.Argv), undo})
		return nil
	case setting.Route:
		return b.addRoute(v, s)
	case setting.NFT, setting.PF, setting.IPFW, setting.Firewall:
		return b.addRules(v, s)
	}
	return testbed.Unavailable(s, "this testbed has no way to set it")
}

func (b *Bed) addRoute(v *variant, s setting.Setting) error {
	prefix, err := netip.ParsePrefix(s.Name)
	via, err2 := netip.ParseAddr(s.Value)
	if err != nil || err2 != nil || s.Device != "" {
		return testbed.Unavailable(s, "over SSH a route is PREFIX via ADDRESS")
	}
	do, undo := []string{"ip", "route", "add", prefix.String(), "via", via.String()}, []string{"ip", "route", "del", prefix.String(), "via", via.String()}
	if b.id.OS == "freebsd" {
		family := "-4"
		if via.Is6() {
			family = "-6"
		}
		do, undo = []string{"route", "-q", "add", family, "-net", prefix.String(), via.String()}, []string{"route", "-q", "delete", family, "-net", prefix.String(), via.String()}
	}
	mark := fmt.Sprintf(`"$1/route.%d"`, len(v.steps))
	v.steps = append(v.steps, step{words(do) + " && : >" + mark, "if [ -f " + mark + " ]; then " + words(undo) + "; rm -f " + mark + "; fi"})
	return nil
}

// words quotes a command for a shell.
func words(argv []string) string { return strings.Join(list.Map(argv, host.Quote), " ") }
