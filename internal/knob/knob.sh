# shellcheck shell=sh
# shellcheck disable=SC2015 # a && b || c: c is to follow a failure of either
# shellcheck disable=SC2012 # ls lists names that only linerate or the kernel makes
#
# Reads and writes settings. Every function takes MECHANISM DEVICE NAME; DEVICE is
# "-" where there is none. Names and values are only passed as arguments and
# variables; nothing is evaluated.

set -u -f
umask 077
PATH=/sbin:/bin:/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin
LC_ALL=C
export PATH LC_ALL
OS=$(uname -s)
NL='
'
listed='' # the device whose offloads listing holds; each pass over settings resets it

# knob_write sets a running value. It fails, with the reason in why, when the system
# refuses, and for settings that only a boot can change.
knob_write() {
	listed=''
	why=$(knob_try "$@" 2>&1 >/dev/null) && return
	why=${why%%"$NL"*} && why=${why##*: } && [ "$why" != 'I/O error' ] || why='the kernel refuses the value' # dash's printf reports every error so
	return 1
}
knob_try() {
	if knob_file "$@"; then [ -e "$file" ] && printf '%s\n' "$4" >"$file"; return; fi
	case $OS:$1 in
	Linux:offload) ethtool -K "$2" "$3" "$4" ;;
	Linux:ring) ethtool -G "$2" "$3" "$4" ;;
	Linux:channels) ethtool -L "$2" "$3" "$4" ;;
	Linux:coalesce) ethtool -C "$2" "$3" "$4" ;;
	Linux:module) if [ "$4" = loaded ]; then modprobe "$3"; else modprobe -r "$3"; fi ;;
	Linux:link) [ "$3" = state ] && ip link set dev "$2" "$4" ;;
	Linux:route) # shellcheck disable=SC2086 # the words of a route, already validated
		routes flush exact "$3" && { [ "$4" = absent ] || case $3 in *:*) ip -6 route add "$3" $4 ;; *) ip -4 route add "$3" $4 ;; esac; } ;;
	Linux:address) [ "$4" = present ] && ip addr replace "$3" dev "$2" nodad ;;
	Linux:nft) # shellcheck disable=SC2086 # chain holds three words
		chain "$3" && nft add chain $chain "{ policy $4; }" ;;
	FreeBSD:sysctl) sysctl "$3=$4" ;;
	FreeBSD:link) ifconfig "$2" "$3" "$4" ;;
	FreeBSD:offload) if [ "$4" = on ]; then ifconfig "$2" "$3"; else ifconfig "$2" "-$3"; fi ;;
	FreeBSD:module) if [ "$4" = loaded ]; then kldload -n "$3"; else kldunload "$3"; fi ;;
	FreeBSD:pf-timeout) printf 'set timeout %s %s\n' "$3" "$4" | pfctl -Omf - ;;
	FreeBSD:pf-limit) printf 'set limit %s %s\n' "$3" "$4" | pfctl -Omf - ;;
	FreeBSD:irq) cpuset -l "$4" -x "$3" ;;
	*) return 1 ;;
	esac
}
