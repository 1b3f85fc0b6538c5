# What a live study leaves on its host: nothing but a lock while it runs.
set -u -f
umask 077
PATH=/sbin:/bin:/usr/sbin:/usr/bin
export PATH
ROOT=${LINERATE_ROOT-}
case $(uname -s) in FreeBSD) S=$ROOT/var/db/linerate ;; *) S=$ROOT/var/lib/linerate ;; esac

# forget removes the history of transactions that were only a study's.
forget() {
	for id in "$@"; do
		case $id in *[!0-9a-f-]*) echo "no id: $id" >&2 && exit 1 ;; esac
		rm -rf "$S/history/$id.reverted"
	done
	[ -d "$S/pending" ] || [ -d "$S/reverting" ] || [ -f "$S/agent" ] || rmdir "$S/history" 2>/dev/null || return 0
}

# lock takes the host for one study: OWNER holds it until UNTIL, in seconds since
# boot, and takes it again before. A holder that died holds nothing for long.
lock() {
	case $(uname -s) in
	FreeBSD) t=$(sysctl -n kern.boottime) && t=${t#*sec = } && now=$(($(date +%s) - ${t%%,*})) && b=$(sysctl -n kern.boottime | tr -dc 0-9) ;;
	*) read -r now _ </proc/uptime && now=${now%%.*} && b=$(cat /proc/sys/kernel/random/boot_id) ;;
	esac
	mkdir -p "$S" || exit 1
	if [ -f "$S/live" ] && read -r owner boot until <"$S/live" && [ "$owner" != "$1" ] && [ "$boot" = "$b" ] && [ "$now" -lt "$until" ]; then
		echo "held $owner $((until - now))"
		return
	fi
	echo "$1 $b $((now + $2))" >"$S/live.$$" && mv -f "$S/live.$$" "$S/live" && echo "taken"
}

unlock() {
	[ -f "$S/live" ] && read -r owner _ <"$S/live" && [ "$owner" = "$1" ] || return 0
	rm -f "$S/live"
	[ -d "$S/pending" ] || [ -d "$S/reverting" ] || [ -f "$S/agent" ] || [ -d "$S/history" ] || { rm -f "$S/lock" && rmdir "$S" 2>/dev/null; } || return 0
}

case $1 in forget | lock | unlock) "$@" ;; esac
