# shellcheck shell=sh
# shellcheck disable=SC2015 # a && b || c: c is to follow a failure of either
#
# Reads the record of what linerate applied to this host, and finds what has drifted
# since. It needs the functions of knob/read.sh; OS is the system.

ROOT=${LINERATE_ROOT-}
OPENWRT=$ROOT/etc/openwrt_release
case $OS in FreeBSD) S=$ROOT/var/db/linerate ;; *) S=$ROOT/var/lib/linerate ;; esac
LIVE=$S/live # valid for one boot, so it may be in memory
[ ! -e "$OPENWRT" ] || S=$ROOT/etc/linerate # OpenWrt's /var is in memory

say() { printf '%s\n' "$*"; }

# files calls a function for each file of a transaction: FUNCTION NUMBER MODE PATH.
files() {
	i=0
	while read -r k m p _; do
		[ "$k" = file ] || continue
		i=$((i + 1))
		"$2" "$i" "$m" "$ROOT$p" || return 1
	done <"$1/journal"
}
# newest sets last to the newest transaction in the history, or the newest whose name
# ends in $1; "" if there is none. Names sort by age.
newest() {
	last=''
	set +f
	for h in "$S"/history/*"${1-}"; do [ ! -d "$h" ] || last=${h##*/}; done
	set -f
}

# study_of live prints which study holds this host, for how many more seconds, and its
# description; study_of lost prints a study of this boot whose hold has expired.
study_of() {
	[ -r "$LIVE" ] && { read -r owner boot until && read -r about; } <"$LIVE" || return 0
	[ "$boot" = "$(boot_id)" ] || return 0
	since_boot && left=$((until - up)) || return 0
	if [ "$left" -gt 0 ]; then has=live; else has=lost; fi
	[ $has != "$1" ] || say "$has $owner $left $about"
}

# in_force calls a function for each transaction that was confirmed and not reverted,
# oldest first.
in_force() {
	set +f
	for h in "$S"/history/*.confirmed; do
		set -f
		[ ! -d "$h" ] || "$1"
	done
	set -f
}
# drift prints settings and files that differ from what the last transaction to change
# them confirmed. A line "of" names the transaction of the lines that follow.
drift() {
	listed='' of=''
	in_force values_of | latest setting | drifted_values
	in_force files_of | latest file |
		while read -r id nth path; do drifted "$id" "$nth" "$path" "${1-}"; done
}
# latest keeps the last line of each setting or file, in order of first appearance.
latest() {
	awk -v of="$1" '{ k = $2 " " $3 " " $4; if (of == "file") { k = $0; sub(/^[^ ]* [^ ]* /, "", k) }
		if (!(k in at)) at[k] = ++n; line[at[k]] = $0 } END { for (i = 1; i <= n; i++) print line[i] }'
}
drifted_values() {
	while read -r id m d n v; do
		knob_read "$m" "$d" "$n" || value='!'
		[ "=$value" = "$v" ] || { said_of "$id"; say "drift $m $d $n $v =$value"; }
	done
}
values_of() { [ ! -r "$h/after" ] || sed -n "s/^value /${h##*/} /p" "$h/after"; }
files_of() { files "$h" file_of; }
file_of() { say "${h##*/} $1 $3"; }
said_of() { [ "$of" = "$1" ] || { of=$1; say "of ${1%.*}"; }; }
# drifted reports a file that has changed, its modification time and, if asked, the lines
# removed ("-") and added ("+").
drifted() {
	f=$S/history/$1/file.$2.new
	! cmp -s "$f" "$3" || return 0
	said_of "$1"
	[ -e "$3" ] || { say "drift-file ${3#"$ROOT"} gone"; return 0; }
	say "drift-file ${3#"$ROOT"} $(date -u -r "$3" +%Y-%m-%dT%H:%M:%SZ 2>/dev/null)"
	[ "$4" = lines ] || return 0
	awk 'NR == FNR { was[$0]; old[++n] = $0; next } { is[$0] } !($0 in was) { print "drift-line +" $0 } END { for (i = 1; i <= n; i++) if (!(old[i] in is)) print "drift-line -" old[i] }' "$f" "$3" | head -n 40
}
