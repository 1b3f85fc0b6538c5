# Manages what a live study keeps on its host: only a lock, while it runs. It follows
# the functions of apply/record/boot.sh.
set -u -f
umask 077
PATH=/sbin:/bin:/usr/sbin:/usr/bin
export PATH
ROOT=${LINERATE_ROOT-}
OS=$(uname -s)
case $OS in FreeBSD) S=$ROOT/var/db/linerate ;; *) S=$ROOT/var/lib/linerate ;; esac

# forget removes the history of a study's transactions.
forget() {
	for id in "$@"; do
		case $id in *[!0-9a-f-]*) echo "no id: $id" >&2 && exit 1 ;; esac
		rm -rf "$S/history/$id.reverted"
	done
	[ -d "$S/pending" ] || [ -d "$S/reverting" ] || [ -f "$S/agent" ] || rmdir "$S/history" 2>/dev/null || return 0
}

# holder tests whether a study holds the host. It sets owner and until, b (boot ID) and up.
holder() {
	since_boot && b=$(boot_id)
	[ -f "$S/live" ] && read -r owner boot until <"$S/live" && [ "$boot" = "$b" ] && [ "$up" -lt "$until" ]
}

# lock OWNER SECONDS [again] ABOUT: holds the host for one study, which renews the hold
# before it expires; the hold of a study that died expires soon. Renewing (again) fails
# with "lost" after study stop has released the host.
lock() {
	if holder && [ "$owner" != "$1" ]; then
		echo "held $owner $((until - up))" && sed -n 2p "$S/live"
		return
	fi
	mkdir -p "$S" || exit 1
	if { echo "$1 $b $((up + $2))" && echo "${4-}"; } >"$S/live.$$"; then
		# Check as late as possible; release unlocks twice to close the remaining race.
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

# release takes the host from its holder, and again a second later: a holder that was
# renewing at that moment may not have seen the first.
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
