package export

import (
	"cmp"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/appliance"
	"linerate/internal/plan"
	"linerate/internal/setting"
)

// items writes a list of tunables in the format of config.xml, complete for import or for typing
// into the page; rest says where other settings are made.
func items(held func(plan.Step) bool, page, rest string) func(p plan.Plan, files []plan.File) (string, error) {
	return func(p plan.Plan, _ []plan.File) (string, error) {
		var b strings.Builder
		b.WriteString("<!--\n" + comment(title(p, " ")) + comment("  For "+page+", item by item. Restoring a backup's section of tunables replaces all\n  that are there: merge these into it.\n") + "-->\n<sysctl>\n")
		for _, s := range p.Settings {
			if !held(s) {
				continue
			}
			b.WriteString("  <item>\n")
			for _, e := range []struct{ tag, text string }{{"tunable", s.Name}, {"value", s.Value}, {"descr", clean(s.Reason)}} {
				fmt.Fprintf(&b, "    <%[1]s>%[2]s</%[1]s>\n", e.tag, escaped(e.text))
			}
			b.WriteString("  </item>\n")
		}
		b.WriteString("</sysctl>\n")
		if not := left(p, " ", held); not != "" {
			b.WriteString("<!--" + comment(not) + "  " + rest + "\n-->\n")
		}
		return b.String(), nil
	}
}

// comment makes a text valid within an XML comment.
func comment(s string) string { return strings.ReplaceAll(s, "--", "- -") }

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder never fails
	return b.String()
}

// ofKernel reports whether OPNsense's list of tunables, for the loader and sysctl(8), can hold a
// setting.
func ofKernel(s plan.Step) bool {
	return s.Mechanism == setting.Sysctl || s.Mechanism == setting.Loader && strings.Contains(s.Name, ".")
}

func ofSysctl(s plan.Step) bool { return s.Mechanism == setting.Sysctl }

// vyosCommand returns the command for a setting in VyOS' configuration mode, "" if it has no node
// for it.
func vyosCommand(s plan.Step) string {
	if strings.ContainsAny(s.Name+s.Value+s.Device, "'\n\"\\") {
		return ""
	}
	name := s.Name
	if s.Mechanism == setting.ModParam {
		name = "module." + strings.ReplaceAll(name, "/", ".")
	}
	if n, ok := appliance.Named("vyos").NodeOf(name); ok && n.Word(s.Value) != "" {
		c := fmt.Sprintf("set %s '%s'", n.Node, n.Word(s.Value))
		if n.Older != "" {
			c += fmt.Sprintf("\n# before %s: set %s '%s'", n.Since, n.Older, n.Word(s.Value))
		}
		return c
	}
	device := "interfaces ethernet " + s.Device
	switch {
	case s.Mechanism == setting.Sysctl:
		return fmt.Sprintf("set system sysctl parameter %s value '%s'", s.Name, s.Value)
	case !strings.HasPrefix(s.Device, "eth"):
		return ""
	case s.Mechanism == setting.Offload && slices.Contains([]string{"gro", "gso", "lro", "sg", "tso"}, s.Name):
		return map[bool]string{true: "set ", false: "delete "}[s.Value == "on"] + device + " offload " + s.Name
	case s.Mechanism == setting.Ring:
		return fmt.Sprintf("set %s ring-buffer %s '%s'", device, s.Name, s.Value)
	case s.Mechanism == setting.Link && s.Name == "mtu":
		return fmt.Sprintf("set %s mtu '%s'", device, s.Value)
	}
	return ""
}

// vyos writes commands for VyOS' configuration mode.
func vyos(p plan.Plan, _ []plan.File) (string, error) {
	var b strings.Builder
	b.WriteString(title(p, "#") + "\nconfigure\n")
	for _, s := range p.Settings {
		if c := vyosCommand(s); c != "" {
			fmt.Fprintf(&b, "# %s\n%s\n", cmp.Or(clean(s.Reason), "as planned"), c)
		}
	}
	b.WriteString("compare\ncommit-confirm 10\nexit\n# Look, and within ten minutes, from another session: configure, confirm, save, exit. Unconfirmed, VyOS goes back\n# to the saved configuration, in older releases by a reboot: save what was committed before this.\n")
	return b.String() + left(p, "#", func(s plan.Step) bool { return vyosCommand(s) != "" }), nil
}

// mostComment is the maximum length of a tunable's comment in TrueNAS' database.
const mostComment = 100

// tunable is the argument of a call.
type tunable struct {
	Type    string `json:"type"`
	Var     string `json:"var"`
	Value   string `json:"value"`
	Comment string `json:"comment"`
}

// tunables writes calls of tunable.create for TrueNAS' middleware, one per setting. kind returns
// the middleware's type and name for a setting, "" if it has none.
func tunables(kind func(plan.Step) (kind, name string)) func(p plan.Plan, files []plan.File) (string, error) {
	return func(p plan.Plan, _ []plan.File) (string, error) {
		var b strings.Builder
		b.WriteString(title(p, "#") + `
# A name that is in the list already: midclt call tunable.query '[["var", "=", "NAME"]]' shows its id,
# midclt call tunable.update ID '{"value": "VALUE"}' changes it, midclt call tunable.delete ID takes it back.

`)
		for _, s := range p.Settings {
			k, name := kind(s)
			if k == "" {
				continue
			}
			reason := []rune(clean(s.Reason))
			call, err := json.Marshal(tunable{k, name, s.Value, string(reason[:min(len(reason), mostComment)])})
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, "midclt call tunable.create '%s'\n", strings.ReplaceAll(string(call), "'", `'\''`))
		}
		return b.String() + left(p, "#", func(s plan.Step) bool { k, _ := kind(s); return k != "" }), nil
	}
}

// coreKind returns the type of a setting in TrueNAS CORE.
func coreKind(s plan.Step) (kind, name string) {
	switch s.Mechanism {
	case setting.Sysctl:
		return "SYSCTL", s.Name
	case setting.Loader:
		return "LOADER", s.Name
	case setting.RC:
		return "RC", s.Name
	}
	return "", ""
}

// scaleKind returns the type of a setting in TrueNAS SCALE and its successor: ZFS parameters have
// their own type since 23.10.
func scaleKind(s plan.Step) (kind, name string) {
	name, zfs := strings.CutPrefix(s.Name, "zfs/")
	switch {
	case s.Mechanism == setting.Sysctl:
		return "SYSCTL", s.Name
	case s.Mechanism == setting.ModParam && zfs:
		return "ZFS", name
	}
	return "", ""
}

// uciHolds reports whether OpenWrt keeps a setting in UCI, or in its sysctl.conf.
func uciHolds(s plan.Step) bool {
	return (s.Mechanism == setting.Sysctl || s.Mechanism == setting.Link && s.Name == "mtu") && !strings.ContainsAny(s.Name+s.Value+s.Device, "'\n\"\\")
}

// openwrtHead is the beginning of a script: try changes the running values, keep writes what a boot
// reads, back undoes try. Nothing is written before keep, so that a reboot also reverts it.
const openwrtHead = `
# sh plan.sh try    sets it on the running router, and takes it back after ten minutes
# sh plan.sh keep   keeps it: writes /etc/sysctl.conf and /etc/config/network
# sh plan.sh back   takes it back at once
# Until keep nothing is written: a boot takes it back, too.

U=/tmp/linerate-plan # what try has to undo, and which try it was
WAIT=${WAIT:-600}
back() { [ ! -s $U/undo ] || sh $U/undo; rm -rf $U; }
undo_first() { { echo "$1"; [ ! -e $U/undo ] || cat $U/undo; } >$U/undo.new && mv $U/undo.new $U/undo; }
try_sysctl() {
	was=$(sysctl -n "$1") || return 1
	undo_first "sysctl -w '$1=$was' >/dev/null" || return 1
	sysctl -w "$1=$2" >/dev/null && [ "$(sysctl -n "$1" | tr '\t' ' ')" = "$2" ]
}
try_mtu() {
	was=$(cat "/sys/class/net/$1/mtu") || return 1
	undo_first "ip link set dev '$1' mtu $was" || return 1
	ip link set dev "$1" mtu "$2" && [ "$(cat "/sys/class/net/$1/mtu")" = "$2" ]
}
keep_mtu() { # in the device's own section, or in a new one
	s=$(uci -q show network | sed -n "s/^network\.\([^.]*\)\.name='$1'$/\1/p" | head -n 1)
	[ -n "$s" ] || { s=$(uci add network device) && uci set "network.$s.name=$1"; } || return 1
	uci set "network.$s.mtu=$2"
}
`

const openwrtTail = `
case $1 in
try)
	mkdir $U 2>/dev/null || { echo "a try is under way: sh $0 keep, or back" >&2; exit 1; }
	: >$U/try.$$
	(trap '' HUP; sleep "$WAIT"; [ ! -e $U/try.$$ ] || back) </dev/null >/dev/null 2>&1 &
	tries || { echo "refused: reverted" >&2; back; exit 1; }
	echo "set for $WAIT seconds: sh $0 keep" ;;
keep)
	[ -d $U ] || { echo "nothing is tried any more" >&2; exit 1; }
	writes || exit 1
	rm -rf $U && echo kept ;;
back) back ;;
*) echo "sh $0 try|keep|back" >&2; exit 2 ;;
esac
`

// openwrt writes a script for OpenWrt's shell, with its own dead-man's switch: sysctls persist as
// lines in /etc/sysctl.conf, which OpenWrt leaves to the user and keeps in upgrades, between marks
// that the next plan looks for; an MTU persists in UCI.
func openwrt(p plan.Plan, _ []plan.File) (string, error) {
	var tries, lines, mtus strings.Builder
	for _, s := range p.Settings {
		switch {
		case !uciHolds(s):
		case s.Mechanism == setting.Sysctl:
			fmt.Fprintf(&tries, "\ttry_sysctl '%s' '%s' &&\n", s.Name, s.Value)
			fmt.Fprintf(&lines, "# %s\n%s=%s\n", cmp.Or(clean(s.Reason), "as planned"), s.Name, s.Value)
		default:
			fmt.Fprintf(&tries, "\ttry_mtu '%s' '%s' &&\n", s.Device, s.Value)
			fmt.Fprintf(&mtus, "\tkeep_mtu '%s' '%s' &&\n", s.Device, s.Value)
		}
	}
	var b strings.Builder
	b.WriteString("#!/bin/sh\n" + title(p, "#") + openwrtHead)
	fmt.Fprintf(&b, "tries() {\n%s\ttrue\n}\nwrites() {\n", tries.String())
	if mtus.Len() > 0 {
		b.WriteString("\t[ -z \"$(uci changes network)\" ] || { echo \"uci has other changes of network that wait: commit or revert them first\" >&2; return 1; }\n")
		b.WriteString("\t{ " + strings.TrimSpace(mtus.String()) + "\n\ttrue; } && uci commit network || { uci revert network; return 1; }\n")
	}
	if lines.Len() > 0 {
		b.WriteString("\tsed -i '/^# linerate: begin$/,/^# linerate: end$/d' /etc/sysctl.conf\n")
		b.WriteString("\tcat >>/etc/sysctl.conf <<'SYSCTL'\n# linerate: begin\n" + lines.String() + "# linerate: end\nSYSCTL\n")
	}
	b.WriteString("}\n" + openwrtTail)
	return b.String() + left(p, "#", uciHolds), nil
}
