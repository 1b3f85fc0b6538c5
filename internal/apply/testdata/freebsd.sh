
# The commands of FreeBSD's base system that the agent uses, in as far as it
# uses them, on files under $FAKE. They stand before the commands' names.
uname() { case $1 in -r) echo 14.3-RELEASE-p2 ;; -n) echo fw1 ;; *) echo FreeBSD ;; esac; }
id() { echo 0; }
chown() { :; }
fsync() { for f; do [ -e "$f" ] || return 1; done; }
stat() { [ "$1" = -f ] && [ "$2" = '%Lp %u %g' ] && command stat -c '%a 0 0' "$3"; }
lockf() {
	[ "$1 $2 $3 $4" = '-k -s -t 15' ] || return 64
	l=$5 && shift 5 && flock -o -E 75 -w 15 "$l" "$@"
}
daemon() { [ "$1" = -f ] && shift && (exec setsid "$@" </dev/null >/dev/null 2>&1 &); }
date() { [ "$1" = +%s ] && echo 1800000000; }
sysctl() {
	case $1:${2-} in
	-n:kern.boottime) echo '{ sec = 1799999000, usec = 4711 } Fri Jan 15 07:43:20 2027' ;;
	-b:kern.boot_id) printf 'sixteen bytes id' ;;
	-n:*) cat "$FAKE/sysctl/$2" 2>/dev/null ;;
	*=*:) [ -e "$FAKE/sysctl/${1%%=*}" ] && printf '%s\n' "${1#*=}" >"$FAKE/sysctl/${1%%=*}" ;;
	*) return 1 ;;
	esac
}
ifconfig() {
	if [ $# = 1 ]; then
		printf '%s: flags=1008843<UP,BROADCAST,RUNNING> metric 0 mtu %s\n\toptions=4e507bb<RXCSUM,TXCSUM%s>\n' "$1" "$(cat "$FAKE/mtu")" "$(cat "$FAKE/lro")"
		return
	fi
	case $2 in mtu) echo "$3" >"$FAKE/mtu" ;; lro) echo ,LRO >"$FAKE/lro" ;; -lro) : >"$FAKE/lro" ;; *) return 1 ;; esac
}
kldstat() { [ "$1 $2" = '-q -n' ] && [ -e "$FAKE/kld/$3" ]; }
kldload() { [ "$1" = -n ] && : >"$FAKE/kld/$2"; }
kldunload() { rm "$FAKE/kld/$1"; }
pfctl() {
	case $1 in
	-sm) printf 'states        hard limit   %s\nsrc-nodes     hard limit    10000\n' "$(cat "$FAKE/states")" ;;
	-st) printf 'tcp.first                   120s\nadaptive.start        %s states\nadaptive.end       %s states\n' "$(cat "$FAKE/adaptive.start")" "$(cat "$FAKE/adaptive.end")" ;;
	-Omf)
		read -r a b c n
		case "$a $b $c" in
		'set limit states') echo "$n" >"$FAKE/states" && echo $((n / 10 * 6)) >"$FAKE/adaptive.start" && echo $((n / 10 * 12)) >"$FAKE/adaptive.end" ;;
		'set timeout adaptive.'*) echo "$n" >"$FAKE/$c" ;;
		*) return 1 ;;
		esac ;;
	esac
}
netstat() { :; }
nextboot() {
	echo "zfs bootenv is successfully written" # zfsbootcfg(8), where the root is on ZFS
	echo 'nextboot_enable="YES"' >"$ROOT/boot/nextboot.conf"
	while [ $# -gt 0 ]; do
		[ "$1" = -e ] && printf '%s="%s"\n' "${2%%=*}" "${2#*=}" >>"$ROOT/boot/nextboot.conf" && shift 2 || return 1
	done
}
kenv() { [ "$1" = -q ] && sed -n "s/^$2=\"\(.*\)\"/\1/p" "$FAKE/kenv" 2>/dev/null; }
shutdown() { echo "$*" >>"$FAKE/shutdown"; }
