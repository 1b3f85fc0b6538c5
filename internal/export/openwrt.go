package export

import (
	"cmp"
	"fmt"
	"strings"

	"linerate/internal/plan"
	"linerate/internal/setting"
)

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
