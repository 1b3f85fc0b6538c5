# shellcheck shell=sh
# Commands that a testbed runs on its machines, besides apply's agent: identity,
# interfaces, counters, reboots. Only those that reboot, "run", "forget" and their
# cleanup change the machine. Arguments are never evaluated.

set -u -f
umask 077
PATH=/sbin:/bin:/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin
LC_ALL=C
export PATH LC_ALL
OS=$(uname -s)
ROOT=${LINERATE_ROOT-}
case $OS in FreeBSD) S=$ROOT/var/db/linerate ;; *) S=$ROOT/var/lib/linerate ;; esac

say() { printf '%s\n' "$*"; }
die() { say "$*" >&2 && exit 1; }

# boot_name prints a name that is unique to this boot.
boot_name() {
	case $OS in
	FreeBSD)
		b=$(sysctl -b kern.boot_id 2>/dev/null | od -An -tx1 | tr -d ' \n')
		say "${b:-$(sysctl -n kern.boottime | tr -dc 0-9,)}"
		;;
	*) cat /proc/sys/kernel/random/boot_id ;;
	esac
}

# identity prints which machine and which boot this is.
identity() {
	say "os $OS"
	say "release $(uname -r)"
	say "arch $(uname -m)"
	say "uid $(id -u)"
	say "boot $(boot_name)"
	case $OS in
	FreeBSD)
		t=$(sysctl -n kern.boottime) && t=${t#*sec = } && t=${t%%,*}
		say "booted $t"
		say "clock $(sysctl -n kern.timecounter.hardware)"
		;;
	*)
		say "booted $(sed -n 's/^btime //p' /proc/stat)"
		say "clock $(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)"
		;;
	esac
}

# port prints an interface's addresses, MTU and link state.
port() {
	case $OS in
	FreeBSD)
		ifconfig "$1" >/dev/null 2>&1 || die "it has no interface $1; it has $(ifconfig -l)"
		ifconfig "$1" | awk '
			/mtu [0-9]/ { for (i = 1; i < NF; i++) if ($i == "mtu") print "mtu " $(i + 1); up = ($0 ~ /[<,]UP[,>]/) }
			$1 == "ether" { print "mac " $2 }
			$1 == "inet" { print "inet " $2 " " $4 }
			$1 == "inet6" && $2 !~ /^fe80/ { print "inet6 " $2 " " $4 }
			$1 == "status:" { down = ($2 != "active") }
			END { print "up " (up && !down ? "yes" : "no") }'
		;;
	*)
		# ip reports errors for namespaces that appear while it runs.
		[ -d "/sys/class/net/$1" ] || die "it has no interface $1; it has $(ip -o link show 2>/dev/null | awk -F '[:@ ]+' '{ printf "%s%s", sep, $2; sep = " " }')"
		say "mac $(cat "/sys/class/net/$1/address")"
		say "mtu $(cat "/sys/class/net/$1/mtu")"
		if [ "$(cat "/sys/class/net/$1/carrier" 2>/dev/null)" = 1 ]; then say "up yes"; else say "up no"; fi
		case $(ethtool -i "$1" 2>/dev/null) in 'driver: veth'* | 'driver: virtio_net'*) say "counts at-once" ;; esac
		ip -o addr show dev "$1" scope global | awk '{ print $3 " " $4 " -" }'
		;;
	esac
}

# way_in prints the interface with the address that SSH connected to; nothing where
# sudo or doas hides it, or for a loopback address, as the packets came in elsewhere.
way_in() {
	# shellcheck disable=SC2086 # splitting is meant
	set -- ${SSH_CONNECTION-}
	[ $# -eq 4 ] || return 0
	case $OS in
	FreeBSD) ifconfig -a | awk -v a="$3" '/^[a-z]/ { i = $1; sub(/:$/, "", i) } ($1 == "inet" || $1 == "inet6") && $2 == a && i !~ /^lo[0-9]/ { print i; exit }' ;;
	*) ip -o addr show | awk -v a="$3" '{ split($4, p, "/"); if (p[1] == a && $2 != "lo") { print $2; exit } }' ;;
	esac
}

# hop prints the destination MAC address of frames from interface $1 to address $2: the
# next hop's, which it resolves first.
hop() {
	case $OS in
	FreeBSD)
		# Ignore a route through another interface.
		gw=$(route -n get "$2" 2>/dev/null | awk -v i="$1" '$1 == "gateway:" { g = $2 } $1 == "interface:" { ok = ($2 == i) } END { if (ok) print(g ? g : "on-link") }')
		case $gw in '') return 0 ;; on-link) gw=$2 ;; esac
		ping -c 1 -t 2 "$gw" >/dev/null 2>&1
		arp -n -i "$1" "$gw" 2>/dev/null | awk '$4 ~ /:.*:/ { print $4; exit }'
		;;
	*)
		gw=$(ip route get "$2" oif "$1" 2>/dev/null | awk '{ for (i = 1; i < NF; i++) if ($i == "via") { print $(i + 1); exit } }') && gw=${gw:-$2}
		mac=$(neighbour "$1" "$gw")
		# Without ping(8), "ip neigh replace … use" makes the kernel resolve the address.
		[ -n "$mac" ] || ping -c 1 -W 2 "$gw" >/dev/null 2>&1 || ip neigh replace "$gw" dev "$1" use 2>/dev/null
		for _ in 1 2 3 4 5 6 7 8; do
			[ -z "$mac" ] || break
			mac=$(neighbour "$1" "$gw") || break
			[ -n "$mac" ] || sleep 0.25
		done
		[ -z "$mac" ] || say "$mac"
		;;
	esac
	return 0
}
neighbour() { ip neigh show to "$2" dev "$1" | awk '{ for (i = 1; i < NF; i++) if ($i == "lladdr") { print $(i + 1); exit } }'; }

# netstat_link prints the link row of an interface: Ipkts Idrop Opkts Drop.
netstat_link() { netstat -I "$1" -bdnW | awk '$3 ~ /^<Link/ { print $(NF - 8), $(NF - 6), $(NF - 4), $NF; exit }'; }

# counters prints the frames received, forwarded and dropped: rx=INTERFACE is where
# they come in, tx=INTERFACE where they go out.
counters() {
	got=0 sent=0 dead=0
	for w in "$@"; do
		case $OS in
		FreeBSD)
			# shellcheck disable=SC2046 # splitting is meant
			set -- $(netstat_link "${w#?x=}")
			[ $# -eq 4 ] || die "netstat does not count ${w#?x=}"
			;;
		*)
			i=/sys/class/net/${w#?x=}/statistics
			set -- "$(cat "$i/rx_packets")" "$(cat "$i/rx_dropped")" "$(cat "$i/tx_packets")" "$(cat "$i/tx_dropped")"
			;;
		esac
		case $w in
		rx=*) got=$((got + $1)) dead=$((dead + $2)) ;;
		*) sent=$((sent + $3)) dead=$((dead + $4)) ;;
		esac
	done
	say "$got $sent $dead"
}

# arrivals prints each interface's received packets.
arrivals() {
	case $OS in
	FreeBSD) netstat -ibdnW | awk '$3 ~ /^<Link/ { sub(/\*$/, "", $1); print $1, $(NF - 8) }' ;;
	*) ip -o link show | awk -F '[:@ ]+' '{ print $2 }' | while read -r i; do say "$i $(cat "/sys/class/net/$i/statistics/rx_packets")"; done ;;
	esac
}

# telemetry prints counters of packets, drops and CPU time, in sections.
telemetry() {
	case $OS in
	FreeBSD)
		for i in "$@"; do say "== netstat-I $i" && netstat -I "$i" -bdnW; done
		say "== netstat-Q" && netstat -Q
		say "== netstat-m" && netstat -m
		say "== vmstat-i" && vmstat -i
		say "== cp_times" && sysctl -n kern.cp_times
		say "== cpu" && sysctl dev.cpu | grep -E '\.(temperature|freq):'
		;;
	*)
		for i in "$@"; do
			say "== statistics $i"
			for f in rx_packets rx_dropped rx_errors rx_missed_errors rx_fifo_errors tx_packets tx_dropped tx_errors; do
				say "$f $(cat "/sys/class/net/$i/statistics/$f")"
			done
			say "== ethtool-S $i" && ethtool -S "$i" 2>/dev/null
		done
		say "== softnet" && cat /proc/net/softnet_stat
		say "== stat" && grep '^cpu[0-9]' /proc/stat
		say "== cpu"
		set +f
		for z in /sys/class/thermal/thermal_zone*; do [ ! -r "$z/temp" ] || say "${z##*/} $(cat "$z/temp")"; done
		for c in /sys/devices/system/cpu/cpu[0-9]*; do
			[ ! -r "$c/cpufreq/scaling_cur_freq" ] || say "${c##*/} $(cat "$c/cpufreq/scaling_cur_freq")"
		done
		set -f
		;;
	esac
	return 0
}

# laid prints whether a file is as the pending transaction wrote it.
laid() {
	i=0
	while read -r k _ p _; do
		[ "$k" = file ] || continue
		i=$((i + 1))
		[ "$p" = "$1" ] || continue
		if cmp -s "$S/pending/file.$i.new" "$ROOT$1"; then say laid; else say "not as it was laid"; fi
		return
	done <"$S/pending/journal" 2>/dev/null
	say "not as it was laid"
}

# values prints settings that only a boot applies; it reads MECHANISM NAME lines.
values() {
	while read -r m n; do
		case $m in
		loader) v=$(kenv -q "$n" 2>/dev/null) || v='' ;;
		rc) v=$(sysrc -n "$n" 2>/dev/null) || v='' ;;
		sysctl) v=$(sysctl -n "$n" 2>/dev/null) || v='' ;;
		file) v=$(laid "$n") ;;
		esac
		say "$m $n =$v"
	done
}

# run runs a command given in the testbed's file.
run() { "$@" </dev/null >&2; }

# forget removes the history of a study's transactions.
forget() {
	for id in "$@"; do
		case $id in *[!0-9a-f-]*) die "no id: $id" ;; esac
		rm -rf "$S/history/$id.reverted"
	done
	busy || rmdir "$S/history" 2>/dev/null || return 0
}
busy() { [ -d "$S/pending" ] || [ -d "$S/reverting" ] || [ -f "$S/agent" ]; }

# unwatch kills the switch of a trial that is about to be reverted by hand: the switch
# would reboot this machine after the revert.
unwatch() {
	! command -v systemctl >/dev/null || systemctl stop "linerate-$1" 2>/dev/null
	w=$(cat "$S/pending/watcher" 2>/dev/null) && kill -9 "$w" 2>/dev/null
	return 0
}

# leave cleans up what is no longer needed, the lock last.
leave() {
	stay
	! busy || return 0
	rmdir "$S/history" 2>/dev/null
	borrowed || rm -f "$S/bed.boot"
	rm -f "$S/bed.holder" "$S/bed.lock"
	[ -e "$S/history" ] || rm -f "$S/lock"
	rmdir "$S" 2>/dev/null || return 0
}

# holder prints who holds the testbed; dismiss kills the holder if it is $1.
holder() { cat "$S/bed.holder" 2>/dev/null; return 0; }
dismiss() {
	read -r pid who <"$S/bed.holder" 2>/dev/null || return 0
	[ "$who" = "$1" ] || die "it is held by $who"
	kill "$pid" 2>/dev/null
	return 0
}

# insure reboots this machine after $1 seconds, unless it reboots earlier: boot-time
# settings of a study must not remain if the study's controller dies.
insure() {
	[ -z "$ROOT" ] || return 0 # a tree of files does not boot
	boot_name >"$S/bed.boot"
	if command -v setsid >/dev/null; then detach=setsid; else detach="daemon -f"; fi
	# shellcheck disable=SC2016 # the inner shell expands it
	$detach /bin/sh -c 'sleep "$1"; [ -e "$2" ] || exit 0; rm -f "$2"; shutdown -r now' insure "$1" "$S/bed.boot" </dev/null >/dev/null 2>&1 &
}

# borrowed tests whether this boot runs a study's image or boot-time settings, which
# only another boot can revert.
borrowed() { [ "$(cat "$S/bed.boot" 2>/dev/null)" = "$(boot_name)" ]; }

# reboot reboots after the answer has reached the caller.
reboot() { stay && down; }
down() {
	[ -z "$ROOT" ] || die "a tree of files does not boot"
	sync
	(trap '' HUP && sleep 1 && shutdown -r now) >/dev/null 2>&1 </dev/null & # some SSH servers kill a session's processes
}

# image_way prints how this machine can boot image $1 once.
image_way() {
	case $OS in
	FreeBSD) freebsd_way "$1" ;;
	*) ! command -v grub-reboot >/dev/null || [ ! -e "$ROOT/boot/grub/grubenv" ] || say grub ;;
	esac
}
freebsd_way() {
	if [ -n "$(flags_of "$1")" ]; then say bectl
	elif command -v nextboot >/dev/null && { [ -d "$ROOT/boot/$1" ] || ! bectl list -H >/dev/null 2>&1; }; then say nextboot
	elif bectl list -H >/dev/null 2>&1; then say bectl; fi
}
# flags_of prints bectl(8)'s flags of boot environment $1: N running, R boots always, T
# boots once, "-" none of these; nothing if it does not exist.
flags_of() { bectl list -H 2>/dev/null | awk -F '\t' -v n="$1" '$1 == n { print $2 }'; }
# lasting prints the boot environment that boots by default.
lasting() { bectl list -H | awk -F '\t' 'index($2, "R") { print $1 }'; }
# lent prints "yes" if the loader selected the running boot environment for this boot
# only: then the default is another one, which nobody prepared for the next boot.
lent() { [ -z "$(kenv -q zfs-bootonce 2>/dev/null)" ] || say yes; }
cmdline() { cat /proc/cmdline; }
grub_once() { grub-reboot --boot-directory="$ROOT/boot" "$1"; }
grub_never() { grub-editenv "$ROOT/boot/grub/grubenv" unset next_entry; }

# into reboots into image $1 once, and prints the default boot environment. It cancels
# a boot that a study had prepared before; it refuses if somebody else has prepared
# one.
into() {
	stay
	way=$(image_way "$1")
	case $way in
	bectl)
		[ -n "$(flags_of "$1")" ] || die "unavailable: the DUT has no boot environment $1, and no kernel /boot/$1"
		bectl list -H | awk -F '\t' -v lent="$(lent)" 'index($2, "T") || lent != "yes" && index($2, "R") && !index($2, "N") { exit 1 }' || die "unavailable: somebody has prepared a boot already: bectl list"
		case $(sysrc -n zfs_bootonce_activate 2>/dev/null) in [Yy]* | [Tt]* | [Oo][Nn] | 1) die "unavailable: zfs_bootonce_activate of rc.conf has what boots once boot always" ;; esac
		lasting
		;;
	nextboot)
		[ -d "$ROOT/boot/$1" ] || die "unavailable: the DUT has no kernel /boot/$1"
		[ ! -e "$ROOT/boot/nextboot.conf" ] || die "unavailable: somebody has prepared a boot already: /boot/nextboot.conf"
		;;
	grub)
		[ -n "$(grub_linux "$1")" ] || die "unavailable: GRUB has no entry $1"
		! grep -q '^next_entry=.' "$ROOT/boot/grub/grubenv" || die "unavailable: somebody has prepared a boot already: next_entry of /boot/grub/grubenv"
		;;
	*) die "unavailable: the DUT boots nothing else once: it has no bectl(8) on ZFS, nextboot(8) or grub-reboot(8)" ;;
	esac
	say "$way $1" >"$S/bed.image" || die "cannot note what is prepared"
	case $way in
	bectl) bectl activate -t "$1" >&2 ;;
	nextboot) nextboot -k "$1" >&2 ;;
	grub) grub_once "$1" >&2 ;;
	esac || { stay; die "unavailable: the boot of $1 could not be prepared"; }
	down
}

# stay cancels a prepared boot into an image.
stay() {
	[ -e "$S/bed.image" ] || return 0
	read -r way name <"$S/bed.image"
	case $way in
	bectl) case $(flags_of "$name") in *T*) bectl activate -T >&2 || die "the boot of $name could not be taken back: bectl activate -T" ;; esac ;;
	nextboot) rm -f "$ROOT/boot/nextboot.conf" ;;
	grub) grub_never ;;
	esac
	rm -f "$S/bed.image"
}

# prepared prints "borrowed" in a boot that a study changed (see borrowed), "lent" in
# another boot of an environment that is not the default.
prepared() {
	if borrowed; then say borrowed; elif [ -n "$(lent)" ]; then say lent; fi
}

# grub_linux prints the kernel and parameters of GRUB's entry $1 (title or ID).
grub_linux() {
	awk -v n="$1" '/^[ \t]*menuentry / { inside = index($0, "\047" n "\047") || index($0, "\"" n "\"") }
		inside && $1 ~ /^linux/ { $1 = ""; print; exit }' "$ROOT/boot/grub/grub.cfg" 2>/dev/null
}

# booted prints "yes" if image $1 is running, else what is. A boot environment may have
# its own /var and so not know what was prepared. If it made itself the default
# (zfs_bootonce_activate), booted makes $2 the default again.
booted() {
	way=$(image_way "$1")
	is=$(booted_of "$1")
	rm -f "$S/bed.image"
	[ "$way" != bectl ] || [ -z "${2-}" ] || [ "$(lasting)" = "$2" ] || bectl activate "$2" >&2 || die "$2 does not always boot any more: bectl activate $2"
	say "$is"
}
booted_of() {
	case $way in
	bectl) bectl list -H | awk -F '\t' -v n="$1" 'index($2, "N") { print($1 == n ? "yes" : $1) }' ;;
	nextboot) case $(sysctl -n kern.bootfile) in "/boot/$1/"*) say yes ;; *) sysctl -n kern.bootfile ;; esac ;;
	grub)
		# shellcheck disable=SC2046 # splitting is meant
		now=$(cmdline) && set -- $(grub_linux "$1")
		image=$1 && shift
		for w in "BOOT_IMAGE=$image" "$@"; do
			case " $(say "$now" | sed 's/BOOT_IMAGE=([^)]*)/BOOT_IMAGE=/') " in *" $w "*) ;; *) say "$now" && return ;; esac
		done
		say yes
		;;
	*) say "nobody knows" ;;
	esac
}

"$@"
