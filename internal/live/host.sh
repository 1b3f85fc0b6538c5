# What a live study leaves on its host: nothing but a lock while it runs. The functions of
# apply/record/boot.sh stand before it.
set -u -f
umask 077
PATH=/sbin:/bin:/usr/sbin:/usr/bin
export PATH
ROOT=${LINERATE_ROOT-}
OS=$(uname -s)
case $OS in FreeBSD) S=$ROOT/var/db/linerate ;; *) S=$ROOT/var/lib/linerate ;; esac

# forget removes the history of transactions that were only a study's.
forget() {
	for id in "$@"; do
		case $id in *[!0-9a-f-]*) echo "no id: $id" >&2 && exit 1 ;; esac
		rm -rf "$S/history/$id.reverted"
	done
	[ -d "$S/pending" ] || [ -d "$S/reverting" ] || [ -f "$S/agent" ] || rmdir "$S/history" 2>/dev/null || return 0
}

# holder sets owner and until where somebody has the host, b to the boot and up.
holder() {
	since_boot && b=$(boot_id)
	[ -f "$S/live" ] && read -r owner boot until <"$S/live" && [ "$boot" = "$b" ] && [ "$up" -lt "$until" ]
}

# lock takes the host for one study: OWNER holds it for so many SECONDS since now, and
# takes it again before they are over. A holder that died holds nothing for long. Who
# holds it already has lost it where it was taken away (study stop).
lock() {
	if holder && [ "$owner" != "$1" ]; then
		echo "held $owner $((until - up))" && sed -n 2p "$S/live"
		return
	fi
	mkdir -p "$S" || exit 1
	if { echo "$1 $b $((up + $2))" && echo "${4-}"; } >"$S/live.$$"; then
		# Asked last of all, and release looks twice: between, nobody hears of the other.
		if [ "${3-first}" = again ] && [ ! -f "$S/live" ]; then
			rm -f "$S/live.$$" && unlock "" && echo "lost"
			return
		fi
		mv -f "$S/live.$$" "$S/live" && echo "taken" && return
	fi
	rm -f "$S/live.$$"
	echo "cannot write $S/live" >&2
	exit 1
}

# release takes the host away from whoever has it, and once more a second later: who was
# just about to renew the hold did not see that it is gone.
release() {
	if ! holder; then
		echo "free" && unlock "${owner-}"
		return
	fi
	echo "held $owner $((until - up))"
	held=$owner && unlock "$held" && sleep 1 && unlock "$held"
}

unlock() {
	if [ -f "$S/live" ]; then
		read -r owner _ <"$S/live" && [ "$owner" = "$1" ] || return 0
		rm -f "$S/live"
	fi
	[ -d "$S/pending" ] || [ -d "$S/reverting" ] || [ -f "$S/agent" ] || [ -d "$S/history" ] || { rm -f "$S/lock" && rmdir "$S" 2>/dev/null; } || return 0
}

case $1 in forget | lock | unlock | release) "$@" ;; esac
