# shellcheck shell=sh
# shellcheck disable=SC2015 # a && b || c: c is to follow a failure of either
# shellcheck disable=SC2012 # ls lists names that only linerate or the kernel makes
#
# How a setting is read and written. Every function takes MECHANISM DEVICE
# NAME; DEVICE is - where there is none. Nothing here is ever evaluated: names
# and values are arguments and the contents of variables.

set -u -f
umask 077
PATH=/sbin:/bin:/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin
LC_ALL=C
export PATH LC_ALL
OS=$(uname -s)
NL='
'
listed='' # the device whose offloads are in listing; '' again where a pass over settings begins

# knob_write sets a running value; false when the system refuses, and why has its reason.
# What only a boot can set is refused.
knob_write() {
	listed=''
	why=$(knob_try "$@" 2>&1 >/dev/null) && return
	why=${why%%"$NL"*} && why=${why##*: } && [ "$why" != 'I/O error' ] || why='the kernel refuses the value' # all that dash's printf says
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
	Linux:route) # shellcheck disable=SC2086 # the words of a route, checked before
		routes flush exact "$3" && { [ "$4" = absent ] || case $3 in *:*) ip -6 route add "$3" $4 ;; *) ip -4 route add "$3" $4 ;; esac; } ;;
	Linux:address) [ "$4" = present ] && ip addr replace "$3" dev "$2" nodad ;;
	Linux:nft) # shellcheck disable=SC2086 # three words of chain's
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
