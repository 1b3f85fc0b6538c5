# linerate's agent: changes a host as a journal says, and reverts it from the same
# journal. It runs from its own file, needs only sh and the base system, and is
# removed when nothing is pending. docs/design/apply.md describes the design.
#
# $S holds: pending/, confirming/ or reverting/ (the one transaction under way),
# history/, lock, and agent (this file). A directory's name is the state; each
# change of state is one rename. Wherever a process is interrupted, a pending or
# reverting transaction ends at the old state, a confirming one at the new.

die() { say "$*" >&2 && exit 1; }

# durable writes files and directories through to the disk.
durable() { case $OS in FreeBSD) fsync "$@" ;; *) if [ -e "$OPENWRT" ]; then fsync "$@"; else sync "$@"; fi ;; esac; }

# meta prints a file's mode and owner; it uses ls(1) where there is no stat(1).
meta() {
	if [ "$OS" = FreeBSD ]; then stat -f '%Lp %u %g' "$1"; return; elif [ ! -e "$OPENWRT" ]; then stat -c '%a %u %g' "$1"; return; fi
	ls -lnd "$1" | awk '{ for (i = 2; i <= 10; i++) { c = substr($1, i, 1); mode = mode * 2 + (c !~ /[-ST]/); if (i % 3 == 1) special = special * 2 + (c ~ /[sStT]/) }
		printf "%o %d %d\n", special * 512 + mode, $3, $4 }'
}

# same tests whether two files have the same content, mode and owner.
same() { [ -f "$1" ] && [ -f "$2" ] && cmp -s "$1" "$2" && [ "$(meta "$1")" = "$(meta "$2")" ]; }

init_system() {
	if [ -n "${LINERATE_INIT-}" ]; then say "$LINERATE_INIT"
	elif [ "$OS" = FreeBSD ]; then say rc
	elif [ -e "$OPENWRT" ]; then say procd
	elif [ -d /run/systemd/system ]; then say systemd
	elif [ -d /run/openrc ]; then say openrc
	elif [ -f /etc/inittab ] && [ -d /etc/rcS.d ]; then say sysv
	else say none; fi
}

# journal calls a function for each line of a kind: FUNCTION MECHANISM DEVICE
# NAME VALUE. A value starts with "="; "!" means that there is none.
journal() {
	listed=''
	while read -r k m d n v; do
		if [ "$k" = "$2" ]; then "$3" "$m" "$d" "$n" "${v#=}" || return 1; fi
	done <"$1/journal"
}

# hello prints the system, the release, the init system and the agent's state.
hello() {
	say "os $OS$NL""release $(uname -r)$NL""host $(uname -n)$NL""uid $(id -u)$NL""init $(init_system)"
	products; session; study_of live
	[ "$OS" = FreeBSD ] || command -v flock >/dev/null || say "lacks flock" # some builds of busybox omit it
	[ -n "$(boot_id)" ] || say "boot unknown"
	for f in "$S/pending" "$S/confirming" "$S/reverting"; do [ ! -d "$f" ] || say "state ${f##*/}"; done
	[ ! -d "$S" ] || [ -x "$S" ] || say "state unreadable" # only root can read it
}

# session prints the interface that carries this SSH session.
session() {
	[ -n "${SSH_CONNECTION-}" ] || return 0
	a=${SSH_CONNECTION% *} && a=${a##* }
	case $OS in
	FreeBSD) d=$(ifconfig | awk -v a="$a" '/^[a-z]/ { d = $1; sub(/:.*/, "", d) } $1 ~ /^inet/ && $2 == a { print d; exit }') ;;
	*) d=$(ip -o addr show to "$a" 2>/dev/null | awk '{ print $2; exit }') ;;
	esac
	[ -z "$d" ] || say "session $d"
}

# look reads lines MECHANISM DEVICE NAME (NAME may be a pattern) and "file - PATH"
# from standard input, and prints the values and files.
look() {
	while read -r m d n; do
		if [ "$m" = file ]; then look_file "$n"; continue; fi
		knob_names "$m" "$d" "$n" | while read -r name; do
			if knob_read "$m" "$d" "$name"; then say "value $m $d $name =$value"; else say "value $m $d $name !"; fi
		done
	done
}
look_file() {
	if [ -L "$ROOT$1" ]; then say "other $1"
	elif [ -f "$ROOT$1" ]; then say "file $1 $(meta "$ROOT$1")" && sed 's/^/|/' "$ROOT$1" && say ""
	elif [ -e "$ROOT$1" ]; then say "other $1"
	else say "nofile $1"; fi
}

# install_agent stores this script, read from standard input, on the host.
install_agent() {
	mkdir -p "$S/history" && chmod 700 "$S" || die "cannot make $S; nothing was changed"
	if [ -d "$S/pending" ] || [ -d "$S/confirming" ] || [ -d "$S/reverting" ]; then return 0; fi
	new=$S/agent.new.$$ # two installs may run at once
	cat >"$new" && durable "$new" && mv -f "$new" "$S/agent" && durable "$S" ||
		{ rm -f "$new"; die "cannot write $S/agent; nothing was changed"; }
}

# locked runs a command of the installed agent under the host's lock.
locked() {
	gone="nothing is pending here any more"
	case $1 in apply | rollback) gone="somebody else was changing this host at this moment: try again" ;; esac
	[ -f "$S/agent" ] || die "$gone"
	# While we waited for the lock, the agent may have been removed.
	# shellcheck disable=SC2016 # the inner shell expands it
	set -- /bin/sh -c '[ -f "$2" ] || { echo "$1" >&2; exit 1; }; shift; exec /bin/sh "$@"' sh "$gone" "$S/agent" "$@"
	case $OS in
	FreeBSD) LINERATE_LOCKED=1 lockf -k -s -t 15 "$S/lock" "$@" ;;
	*) # busybox's flock has no timeout. Children must not inherit the lock: "exit" keeps
		# the subshell from executing its last command in place.
		(command -v flock >/dev/null || die "$(uname -n) lacks flock(1): install util-linux there"; tries=750; until flock -n 9; do nap || exit 75; done
		LINERATE_LOCKED=1 "$@" 9>&-
		exit $?) 9>"$S/lock" ;;
	esac || {
		code=$?
		[ $code -ne 75 ] || say "somebody else is changing this host at this moment" >&2
		return $code
	}
}

# begin stores the journal, read from standard input, and a copy of every file that
# will change. Nothing else on the host changes before its last rename.
begin() {
	studied=$(study_of live)
	[ ! -d "$S/pending" ] && [ ! -d "$S/confirming" ] && [ ! -d "$S/reverting" ] || die "${studied:+a live study has this host: }another apply is pending on this host"
	rm -rf "$S/new" && mkdir -p "$S/new" "$S/history" && D=$S/new || die "cannot write to $S"
	if ! cat >"$D/journal" || [ "$(tail -n 1 "$D/journal")" != end ]; then abandon "the journal did not arrive whole"; fi
	[ -z "$studied" ] || grep -q '^digest live:' "$D/journal" || abandon "a live study has this host"
	unpack || abandon "cannot write the journal"
	files "$D" keep || abandon "cannot keep the files as they are"
	journal "$D" before unchanged || abandon "$changed is not what it was when the plan was made"
	id=$(next_id "$D") && case $id in ??????-????????????) ;; *) false ;; esac || abandon "cannot name the journal"
	[ "$1" != trial ] || : >"$D/trial" || abandon "cannot write the journal"
	: >"$D/id.$id" && set +f && durable "$D"/* "$D" && set -f || abandon "cannot make the journal durable"
	boot_entry || abandon "a boot could not be made to revert"
	[ "$1" != trial ] || [ "$(init_system)" != none ] || abandon "nothing that this host starts at boot could take a trial back"
	mv "$D" "$S/pending" || abandon "cannot make the journal durable"
	D=$S/pending
	durable "$S" || { revert apply "the journal was not durable"; die "cannot make the journal durable; nothing was changed"; }
	still_its || { mv "$D" "$S/new" && durable "$S" && abandon "the study no longer has this host"; revert apply "the study was stopped"; die "the study no longer has this host; nothing was changed"; }
}
# still_its tests whether the study that the journal names, if any, still holds this host. It
# runs once the window is pending: study stop first releases the host, then looks for a window.
still_its() {
	its=$(sed -n 's/^study //p' "$D/journal")
	[ -z "$its" ] || case $(study_of live) in "live $its "*) true ;; *) false ;; esac
}
abandon() { set -f; no_boot_entry; rm -rf "$S/new" "$S/holder"; rm -f "$S/agent"; die "$*; nothing was changed"; }

unpack() {
	i=0 to=/dev/null
	while IFS= read -r line; do
		case $line in
		"file "*) i=$((i + 1)) && to=$D/file.$i.new && : >"$to" || return 1 ;;
		"script do" | "script undo") to=$D/${line#script }.sh && : >"$to" || return 1 ;;
		"|"*) printf '%s\n' "${line#|}" >>"$to" || return 1 ;;
		esac
	done <"$D/journal"
}
keep() {
	[ ! -L "$3" ] || return 1
	[ -e "$3" ] || return 0
	[ -f "$3" ] && cp -p "$3" "$D/file.$1.old"
}
unchanged() { changed="$1 $3" && reads "$1" "$2" "$3" "$4"; }
# reads tests whether a setting has a value, and sets value to its current one.
reads() { { knob_read "$1" "$2" "$3" || value='!'; } && [ "$value" = "$4" ]; }
next_id() {
	newest
	n=${last%%-*}
	while [ "$n" != "${n#0}" ]; do n=${n#0}; done
	printf '%06d-%s\n' "$((${n:-0} + 1))" "$(sed -n 's/^digest [a-z0-9]*:\([0-9a-f]\{12\}\).*/\1/p' "$1/journal")"
}

# current_id sets id and D to the transaction under way; it fails if there is none.
current_id() {
	for D in "$S/pending" "$S/confirming" "$S/reverting"; do
		[ -d "$D" ] || continue
		set +f
		for id in "$D"/id.*; do id=${id##*/id.}; done
		set -f
		[ "$id" = '*' ] || return 0
	done
	return 1
}

# arm starts the dead-man's switch and returns when it runs.
arm() {
	window=$(sed -n 's/^window \([0-9]*\)$/\1/p' "$D/journal")
	b=$(boot_id) && [ -n "$b" ] && since_boot && say "$b $((up + window))" >"$D/deadline" && durable "$D/deadline" "$D" && start_watch
}
start_watch() {
	rm -f "$D/watcher"
	child=''
	case $(init_system) in
	# During boot the switch must run before sysinit.target, for which units wait by
	# default; a shutdown must not wait for it.
	systemd) systemd-run --quiet --collect --unit="linerate-$id-$$" -p Restart=on-failure -p RestartSec=2 \
		-p DefaultDependencies=no -p Conflicts=shutdown.target -p Before=shutdown.target -p KillSignal=SIGKILL \
		/bin/sh "$S/agent" watch "$id" >/dev/null || return 1 ;;
	rc) daemon -f /bin/sh "$S/agent" watch "$id" && start_guard daemon -f || return 1 ;;
	*) # A daemon must not inherit open files from its parent, above all not the lock.
		if [ -e "$OPENWRT" ]; then apart=daemonize; else apart=setsid; fi
		$apart /bin/sh "$S/agent" watch "$id" </dev/null >/dev/null 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
		[ $apart = daemonize ] || child=$!
		start_guard $apart ;;
	esac
	tries=500 # machines can be slow
	while :; do
		ended='' # check first: the child may write the file just before it ends
		[ -z "$child" ] || kill -0 "$child" 2>/dev/null || ended=yes
		[ ! -s "$D/watcher" ] || return 0
		[ -z "$ended" ] && nap || return 1
	done
}
# nap sleeps 20 ms, or 1 s where sleep(1) takes no fractions; it fails when no tries are left.
nap() {
	[ "$tries" -gt 0 ] && tries=$((tries - 1)) || return 1
	sleep 0.02 2>/dev/null || { sleep 1; tries=$((tries - 49)); }
}
# daemonize replaces setsid(1) on OpenWrt; it returns at once.
daemonize() { program=$1 && shift && start-stop-daemon -S -b -p "$D/nobody" -x "$program" -- "$@"; }
start_guard() { # and a cron(8) job, in case the guard is killed too
	! alive guard || return 0
	[ ! -d "$ROOT/etc/cron.d" ] || entry 644 "$ROOT/etc/cron.d/linerate-revert" "* * * * * root [ ! -f $S/agent ] || /bin/sh $S/agent mend >/dev/null 2>&1"
	"$@" /bin/sh "$S/agent" guard "$id" </dev/null >/dev/null 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
}
# at_work tests whether another process holds the lock.
at_work() {
	[ -e "$S/lock" ] || return 1
	if [ "$OS" = FreeBSD ]; then ! lockf -k -s -t 0 "$S/lock" true; else ! flock -n "$S/lock" true; fi
}
alive() { { read -r pid <"$D/$1" && kill -0 "$pid"; } 2>/dev/null; }
armed() { alive watcher; }
# time_left sets left to the seconds until the deadline, and fails when there are none, as
# after a reboot. No process survives one, so it reads the boot's identity only once.
time_left() {
	left=0
	[ -s "$D/deadline" ] && read -r b t <"$D/deadline" && [ "$b" = "${this_boot:=$(boot_id)}" ] && since_boot && left=$((t - up)) && [ "$left" -gt 0 ]
}
# doze sleeps, never beyond the deadline. Every process that a switch starts loads the
# host, so it sleeps longer while the deadline is far.
doze() { if [ "$left" -gt 6 ]; then sleep 5; elif [ "$left" -gt 1 ]; then sleep $((left - 1)); else sleep 0.1 2>/dev/null || sleep 1; fi; }

# watch is the dead-man's switch: it runs until its transaction ends.
watch() {
	cd / && current_id && [ "$id" = "$1" ] && say $$ >"$D/watcher" || return 0
	while [ -e "$S/pending/id.$1" ] && time_left; do doze; done
	trial=no && [ ! -e "$S/pending/booted" ] || trial=yes
	while under_way "$1" && mine; do
		/bin/sh "$S/agent" revert "$1" "nobody confirmed in time" >/dev/null 2>&1 && break
		[ $? -ne 75 ] || end_holder
		sleep 2
	done
	# Only another boot can revert settings that a boot applied.
	[ $trial = no ] || [ ! -d "$S/history/$1.reverted" ] || reboot_now
}
# mine tests whether this process is the current transaction's switch: where no history is
# kept, a later transaction may reuse an ID while the earlier one's switch still sleeps.
mine() { current_id && { read -r pid <"$D/watcher"; } 2>/dev/null && [ "$pid" = $$ ]; }
under_way() { [ -e "$S/pending/id.$1" ] || [ -e "$S/confirming/id.$1" ] || [ -e "$S/reverting/id.$1" ]; }

# guard restarts the switch on systems without a supervisor.
guard() {
	cd / && current_id && say $$ >"$D/guard" || return 0
	while under_way "$1"; do
		time_left && [ "$left" -gt 3 ] || left=3 # continue after the deadline
		doze
		current_id && [ "$id" = "$1" ] || continue
		[ ! -s "$D/watcher" ] || armed || at_work || /bin/sh "$S/agent" mend "$1" >/dev/null 2>&1
	done
}

# mend handles a transaction whose switch has died: it restarts the switch before the
# deadline, and reverts after it. It cleans up after a transaction that has ended.
mend() {
	if ! current_id; then tidy; return; elif [ "$id" != "${1:-$id}" ] || armed; then return 0; fi
	if [ "$D" = "$S/pending" ] && [ -e "$D/ready" ] && time_left; then start_watch
	else revert switch "its switch had gone"; fi
}

# end_holder kills a command that hangs while it holds the lock.
end_holder() { h=$(cat "$S/holder" 2>/dev/null) && case $(command_of "$h" 2>/dev/null) in *"$S/agent"*) kill -9 "$h" ;; esac; }
command_of() { case $OS in FreeBSD) ps -o args= -p "$1" ;; *) tr '\0' ' ' <"/proc/$1/cmdline" ;; esac; }
reboot_now() { sync; shutdown -r now "linerate: trying a plan, or taking it back"; }
# reboot refuses unless both a switch and a boot entry can revert the trial.
reboot() {
	current_id && [ -e "$D/trial" ] || die "no trial is pending on this host"
	armed || die "its switch is not there any more: not booted"
	[ -e "$ROOT/etc/systemd/system/linerate-revert.service" ] || [ -e "$ROOT/etc/rc.d/linerate_revert" ] || [ -e "$ROOT/etc/init.d/linerate-revert" ] ||
		die "nothing would take it back at that boot: not booted"
	# Let the answer reach the caller first.
	(sleep 1 && reboot_now) </dev/null >/dev/null 2>&1 &
}

# boot_entry makes the next boot revert, before the network starts.
boot_entry() {
	case $(init_system) in
	systemd)
		unit=$ROOT/etc/systemd/system/linerate-revert.service
		wants=$ROOT/etc/systemd/system/sysinit.target.wants
		mkdir -p "$wants" && entry 644 "$unit" "[Unit]
Description=Put back what linerate applied and nobody confirmed
DefaultDependencies=no
ConditionPathExists=$S/agent
After=local-fs.target
Before=sysinit.target systemd-sysctl.service network-pre.target
[Service]
Type=oneshot
TimeoutStartSec=5min
ExecStart=/bin/sh $S/agent boot" && ln -sf ../linerate-revert.service "$wants/linerate-revert.service" && durable "$wants"
		;;
	rc) entry 555 "$ROOT/etc/rc.d/linerate_revert" "#!/bin/sh
# PROVIDE: linerate_revert
# REQUIRE: FILESYSTEMS
# BEFORE: netif
# rc has read rc.conf.local already: SIGALRM makes it read what is there now.
case \$1 in *start) [ ! -f $S/agent ] || { /bin/sh $S/agent boot; [ -z \"\${_rc_conf_loaded-}\" ] || kill -ALRM \$\$; } ;; esac" ;;
	openrc) entry 755 "$ROOT/etc/init.d/linerate-revert" "#!/sbin/openrc-run
depend() { after root localmount mountall; before net sysctl procps; }
start() { [ ! -f $S/agent ] || /bin/sh $S/agent boot; }" && ln -sf /etc/init.d/linerate-revert "$ROOT/etc/runlevels/boot/linerate-revert" ;;
	procd) mkdir -p "$ROOT/etc/init.d" "$ROOT/etc/rc.d" && entry 755 "$ROOT/etc/init.d/linerate-revert" "#!/bin/sh
# By itself before START=11, sysctl, and 20, network.
case \$1 in boot | start) [ ! -f $S/agent ] || /bin/sh $S/agent boot ;; esac" && ln -sf ../init.d/linerate-revert "$ROOT/etc/rc.d/S01linerate-revert" && durable "$ROOT/etc/rc.d" ;;
	sysv) mkdir -p "$ROOT/etc/init.d" "$ROOT/etc/rcS.d" && entry 755 "$ROOT/etc/init.d/linerate-revert" "#!/bin/sh
### BEGIN INIT INFO
# Provides: linerate-revert
# Required-Start: \$local_fs
# X-Start-Before: procps networking
# Default-Start: S
### END INIT INFO
case \$1 in start) [ ! -f $S/agent ] || /bin/sh $S/agent boot ;; esac" && ln -sf ../init.d/linerate-revert "$ROOT/etc/rcS.d/S13linerate-revert" && durable "$ROOT/etc/rcS.d" ;;
	*) ! grep -q '^file ' "$D/journal" ;; # without files, booting reverts everything
	esac
}
entry() {
	printf '%s\n' "$3" >"$2.linerate-new" && chmod "$1" "$2.linerate-new" && durable "$2.linerate-new" &&
		mv -f "$2.linerate-new" "$2" && durable "${2%/*}"
}
no_boot_entry() {
	for f in etc/cron.d/linerate-revert etc/systemd/system/sysinit.target.wants/linerate-revert.service etc/systemd/system/linerate-revert.service \
		etc/rc.d/linerate_revert etc/runlevels/boot/linerate-revert etc/rcS.d/S13linerate-revert etc/rc.d/S01linerate-revert etc/init.d/linerate-revert; do
		[ -e "$ROOT/$f" ] || [ -L "$ROOT/$f" ] || [ -e "$ROOT/$f.linerate-new" ] || continue
		rm -f "$ROOT/$f" "$ROOT/$f.linerate-new" && f=$ROOT/$f && durable "${f%/*}" || return 1
	done
}

# change applies the plan: files, then running values; then it records the values
# that the system reports.
change() {
	files "$D" make_way && files "$D" stage_file && files "$D" put_now || { failed="cannot write $p"; return 1; }
	values "$D" set || { failed="cannot set$refused"; return 1; }
	do_script || { failed="$(tail -n 1 "$D/said")"; return 1; }
	journal "$D" set read_back >"$D/after" && durable "$D/after" "$D" || { failed="cannot read back"; return 1; }
	cat "$D/after"
}
put_now() { late "$3" || put_file "$@"; }
put_late() { ! late "$3" || put_file "$@"; }
# do_script runs steps that no setting expresses, undo_script reverts them; $1 is the
# transaction's directory. A reboot has already undone what ran before it.
do_script() {
	[ -f "$D/do.sh" ] || return 0
	boot_id >"$D/did" && durable "$D/did" "$D" && /bin/sh "$D/do.sh" "$D" </dev/null >"$D/said" 2>&1
}
undo_script() {
	[ -f "$D/did" ] && [ "$(cat "$D/did")" = "$(boot_id)" ] || return 0
	/bin/sh "$D/undo.sh" "$D" </dev/null >"$D/said" 2>&1 && rm -f "$D/did"
}
read_back() { knob_read "$1" "$2" "$3" && say "value $1 $2 $3 =$value"; }

make_dir() {
	[ ! -d "$1" ] || return 0
	make_dir "${1%/*}" && say "$1" >>"$D/dirs" && durable "$D/dirs" && mkdir -m 755 "$1"
}
# make_way creates a file's directory, and hard-links the old file next to it, so
# that restoring it needs no disk space and keeps the inode.
make_way() {
	make_dir "${3%/*}" || return 1
	[ ! -e "$D/file.$1.old" ] || ln -f "$3" "$3.linerate-old" 2>/dev/null || cp -p "$3" "$3.linerate-old"
}
# stage_file writes the whole file under a temporary name next to its place, so that
# errors occur here; put_file only renames it.
stage_file() {
	owner="$(id -u) $(id -g)" mode=$2
	if [ -e "$D/file.$1.old" ]; then owner=$(meta "$D/file.$1.old") && mode=${owner%% *} && owner=${owner#* }; fi
	cp "$D/file.$1.new" "$3.linerate-new" && chown "${owner% *}:${owner#* }" "$3.linerate-new" &&
		chmod "$mode" "$3.linerate-new" && durable "$3.linerate-new"
}
put_file() { { [ -e "$3.linerate-new" ] || stage_file "$@"; } && mv -f "$3.linerate-new" "$3" && durable "${3%/*}"; }

# late tests whether a file must wait for confirm: a trial's files wait, as a boot
# reads files before anything can revert them. Only where the system cannot pass
# variables to a single boot must they be in place for the trial; a one-shot boot
# gets them directly, and drops them even if the kernel fails to boot.
late() {
	! grep -q '^files-now$' "$D/journal" || return 1 # a testbed's transaction is never confirmed
	[ -e "$D/trial" ] || return 0
	[ -e "$D/once" ] && case $1 in "$ROOT"/boot/loader.conf.d/*) true ;; *) false ;; esac
}

# once makes only the next boot the trial: by nextboot(8), or by a GRUB entry that
# grub-reboot selects. A word in the kernel's environment or on its command line
# identifies that boot. Where neither exists, the first boot that gets far enough
# to be marked is the trial.
once() {
	case $OS in
	FreeBSD)
		command -v nextboot >/dev/null || return 0
		[ ! -e "$ROOT/boot/nextboot.conf" ] || { say "somebody has prepared a boot already: /boot/nextboot.conf" >&2; return 1; }
		set -- -e "linerate.trial=$id"
		while read -r k m _ n v; do
			[ "$k $m" != "boot loader" ] || set -- "$@" -e "$n=${v#=}"
		done <"$D/journal"
		: >"$D/once" && durable "$D/once" "$D" && nextboot "$@" >/dev/null ;; # it is verbose on ZFS
	*) once_grub ;;
	esac
}
cmdline() { cat /proc/cmdline; }
once_grub() {
	g=$ROOT/boot/grub
	command -v grub-reboot >/dev/null && [ -e "$g/grubenv" ] && grep -q 'custom\.cfg' "$g/grub.cfg" 2>/dev/null && [ ! -e "$g/custom.cfg" ] || return 0
	image=$(cmdline | sed -n 's/.*BOOT_IMAGE=\([^ ]*\).*/\1/p') && [ -n "$image" ] || return 0
	awk -v image="${image#(*)}" -v id="$id" '
		/^[ \t]*menuentry / { block = "menuentry \"linerate: trial\" --id linerate-trial {\n"; inside = 1; hit = 0; next }
		inside { if ($1 ~ /^linux/ && $2 == image) { hit = 1; $0 = $0 " linerate.trial=" id } block = block $0 "\n" }
		inside && /^[ \t]*}/ { if (hit) { printf "%s", block; exit } inside = 0 }' "$g/grub.cfg" >"$g/custom.cfg.new" &&
		[ -s "$g/custom.cfg.new" ] || { rm -f "$g/custom.cfg.new"; return 0; }
	: >"$D/once" && durable "$D/once" "$D" "$g/custom.cfg.new" && mv "$g/custom.cfg.new" "$g/custom.cfg" && durable "$g" &&
		grub-reboot --boot-directory="$ROOT/boot" linerate-trial
}

# trial_boot tests whether this boot is the trial of the pending transaction.
trial_boot() {
	[ -e "$D/trial" ] && [ ! -e "$D/booted" ] && [ "$D" = "$S/pending" ] || return 1
	[ -e "$D/once" ] || return 0
	case $OS in
	FreeBSD) [ "$(kenv -q linerate.trial)" = "$id" ] ;;
	*) cmdline | grep -qw "linerate.trial=$id" ;;
	esac
}

# no_once cancels a one-shot boot that has not happened, and removes its traces.
no_once() {
	f=$ROOT/boot/nextboot.conf
	! grep -qs '^linerate\.trial=' "$f" || rm -f "$f" || return 1
	f=$ROOT/boot/grub/custom.cfg
	! grep -qs 'linerate-trial' "$f" || { rm -f "$f" && durable "${f%/*}" && grub-editenv "${f%/*}/grubenv" unset next_entry; }
	rm -f "$f.new"
}

# values sets each value of a kind that differs, or all where the journal says write-all.
# It retries refused values after the others while that helps, because some settings
# depend on others.
values() {
	all=no
	[ "$2" != set ] || ! grep -q '^write-all$' "$1/journal" || all=yes
	todo= && journal "$1" "$2" enlist
	while [ -n "$todo" ]; do
		refused='' again='' listed=''
		while read -r m d n v; do
			[ -n "$m" ] || continue
			if [ $all = no ] && knob_read "$m" "$d" "$n" && [ "$value" = "${v#=}" ]; then continue; fi
			knob_write "$m" "$d" "$n" "${v#=}" || { refused="$refused $m $n${why:+ ($why)}"; again="$again$m $d $n $v$NL"; }
		done <<END
$todo
END
		[ "$again" != "$todo" ] || return 1
		todo=$again
	done
}
enlist() { todo="$todo$1 $2 $3 =$4$NL"; }

# revert restores the state in the journal, however much of it had been changed; it
# can be interrupted anywhere and run again.
revert() {
	if [ -d "$S/confirming" ]; then current_id && finish_confirm "$1"; return; fi
	stuck=
	if [ -d "$S/pending" ]; then mv "$S/pending" "$S/reverting" || stuck=yes; fi
	current_id || { tidy; return 0; }
	values_wrong='' files_wrong=''
	read_early old
	undo_script || values_wrong="; $(tail -n 1 "$D/said")"
	values "$D" undo # undone checks the result below
	# Restore running values before anything waits for the disk, so that a busy or
	# read-only disk cannot prevent it. A crash would reset them anyway.
	[ -z "$stuck" ] && durable "$S" || die "cannot begin to revert: cannot write to $S"
	[ -z "$was_read" ] || true >"$D/was-read"
	files "$D" restore_file
	[ ! -f "$D/dirs" ] || remove_dirs
	journal "$D" before undone
	[ "$1" != boot ] || values_wrong=
	# Settings that this boot read from such a file stay until the next boot; the boot
	# in which the file was confirmed has not read it.
	if [ "$1" = boot ]; then [ -z "$was_read" ] || : >"$D/reboot"
	elif [ -e "$D/was-read" ]; then
		[ "$(cat "$D/boot" 2>/dev/null)" = "$(boot_id)" ] || boot_id >"$D/was-read"
		mv -f "$D/was-read" "$D/boot"
	fi
	[ -z "$values_wrong$files_wrong" ] || die "not reverted yet$values_wrong$files_wrong"
	date -u +%Y-%m-%dT%H:%M:%SZ >"$D/when" 2>/dev/null
	say "$2" >"$D/why" && mkdir -p "$S/history"
	durable "$D/when" "$D/why" "$D" || : # only informative
	mv "$D" "$S/history/$id.reverted" && durable "$S" "$S/history" || die "cannot end the revert"
	say "reverted $id: $2"
	tidy
}
# remove_dirs removes the directories that the transaction made, unless others have
# put files into them.
remove_dirs() {
	for _ in inner outer; do
		while read -r dir; do
			[ ! -d "$dir" ] || [ -n "$(ls -A "$dir")" ] || rmdir "$dir" || files_wrong="; $dir"
		done <"$D/dirs"
	done
}
early() { case $1 in "$ROOT"/boot/loader.conf.d/* | "$ROOT"/etc/modprobe.d/* | "$ROOT"/etc/modules-load.d/*) true ;; *) false ;; esac; }
# read_early sets was_read if this boot read a file in another state than the wanted
# one, "old" or "new".
read_early() { was_read='' wanted=$1 && files "$D" was_read; }
was_read() {
	early "$3" || return 0
	if [ -e "$D/file.$1.$wanted" ]; then cmp -s "$D/file.$1.$wanted" "$3" || was_read=yes; else [ ! -e "$3" ] || was_read=yes; fi
}
undone() { reads "$1" "$2" "$3" "$4" || values_wrong="$values_wrong; $1 $3 is $value, was $4"; }
restore_file() {
	if [ ! -e "$D/file.$1.old" ]; then rm -f "$3" "$3.linerate-new"
	elif same "$D/file.$1.old" "$3"; then rm -f "$3.linerate-old" "$3.linerate-new"
	elif same "$D/file.$1.old" "$3.linerate-old"; then mv -f "$3.linerate-old" "$3"
	else cp -p "$D/file.$1.old" "$3.linerate-new" && durable "$3.linerate-new" && mv -f "$3.linerate-new" "$3"; fi &&
		{ [ ! -d "${3%/*}" ] || durable "${3%/*}"; } || files_wrong="$files_wrong; $3"
}

# confirm keeps what was applied. One rename commits it; the files are written after
# that, and if this is interrupted, the next command or boot writes the rest.
confirm() {
	current_id || die "nothing is pending on this host"
	if [ "$D" = "$S/confirming" ]; then finish_confirm confirm; return; fi
	[ "$D" = "$S/pending" ] || die "too late: it is being taken back"
	[ -z "$1" ] || grep -q "^digest $1" "$D/journal" || die "another plan is pending: $id"
	[ -e "$D/ready" ] || die "it is not applied yet"
	[ ! -e "$D/trial" ] || [ -e "$D/booted" ] || die "the boot that is to try it has not been yet"
	time_left || { revert switch "confirmed too late"; die "too late: the time to confirm was over"; }
	# The trial's boot has reset the values that no file keeps.
	if [ -e "$D/trial" ]; then
		values "$D" set || die "cannot set$refused any more; not confirmed"
		journal "$D" set read_back >"$D/after" && durable "$D/after" "$D" || die "cannot read back; not confirmed"
	fi
	date -u +%Y-%m-%dT%H:%M:%SZ >"$D/when" 2>/dev/null
	[ -e "$D/booted" ] || boot_id >"$D/boot"
	durable "$D/when" "$D" || : # only informative
	mv "$D" "$S/confirming" && D=$S/confirming && durable "$S" || die "cannot confirm"
	finish_confirm confirm
}
finish_confirm() {
	if [ "$1" = boot ]; then
		read_early new
		if [ -n "$was_read" ]; then : >"$D/reboot" && boot_id >"$D/boot"; fi
	fi
	files "$D" put_late || die "$id is confirmed, and $p could not be written yet: the next command, or boot, writes it"
	mv "$D" "$S/history/$id.confirmed" && durable "$S" "$S/history" || die "cannot end the confirmation"
	say "confirmed $id"
	tidy
}

# rollback reverts the last confirmed transaction from its journal.
rollback() {
	! current_id || die "$id is pending: revert or confirm it first"
	[ -d "$S/history/$1.confirmed" ] || die "$1 is not in force here"
	newest .confirmed
	[ "$last" = "$1.confirmed" ] || die "$1 is not the last that was confirmed"
	D=$S/history/$1.confirmed id=$1
	boot_entry || die "cannot make a boot end the rollback"
	mv "$D" "$S/reverting" && D=$S/reverting && durable "$S" "$S/history" || die "cannot begin to roll back"
	start_watch # finishes the rollback if this process dies
	revert rollback "rolled back"
}

# tidy cleans up when no transaction is under way. It removes this file last, so that
# an interrupted cleanup is noticed and repeated.
tidy() {
	! current_id || return 0
	newest
	{ [ -z "$last" ] || files "$S/history/$last" untrace; } && { [ ! -f "$S/new/journal" ] || files "$S/new" untrace; } &&
		no_once && no_boot_entry && rm -rf "$S/new" "$S"/agent.new.* "$S/holder" && rm -f "$S/agent"
}
untrace() { rm -f "$3.linerate-old" "$3.linerate-new"; }

# boot runs from boot_entry's script: it arms the switch again for a trial that waits
# for this boot, and reverts any other pending transaction.
boot() {
	current_id || { tidy; return 0; }
	why="the host was booted before anybody confirmed"
	if trial_boot; then
		no_once
		: >"$D/booted" && durable "$D/booted" "$D" && arm && return 0
	elif [ -e "$D/once" ] && [ ! -e "$D/booted" ]; then why="the boot that was to try it did not come up"; fi
	revert boot "$why" || return
	# Reboot if this boot read a file before it was restored or written.
	for h in reverted confirmed; do
		[ ! -e "$S/history/$id.$h/reboot" ] || { rm -f "$S/history/$id.$h/reboot"; reboot_now; }
	done
}

# apply makes the whole change; if any part fails, it reverts at once.
apply() {
	if current_id && { ! armed || [ "$D" = "$S/confirming" ]; }; then (revert switch "its switch had gone") || exit 1; fi
	begin "$1"
	arm || { revert apply "the switch could not be armed"; die "the switch could not be armed; nothing was changed"; }
	[ "$1" != trial ] || once || { revert apply "the trial boot could not be prepared"; die "the trial boot could not be prepared; nothing was changed"; }
	say "id $id"
	change || {
		(revert apply "$failed") >&2 || die "$failed; its switch goes on taking it back"
		die "$failed; the host is as it was"
	}
}

# reach pings the default gateways.
reach() {
	case $OS in
	FreeBSD) gws=$(netstat -rn | awk '$1 == "default" && $2 ~ /[.:]/ { print $2 }') wait='-t 10' ;; # includes ping's start, which is slow on some hosts
	*) gws=$(ip route show default | awk '$1 " " $2 == "default via" { print $3 }') wait='-W 2' ;;
	esac
	for g in $gws; do
		# shellcheck disable=SC2086 # an option and its argument
		if ping -c 1 $wait "$g" >/dev/null 2>&1; then say "gateway $g yes"; else say "gateway $g no"; fi
	done
}

# status prints what is pending, the history, and drift from what was confirmed.
status() {
	if [ "$(id -u)" = 0 ] && [ -f "$S/agent" ] && ! at_work; then # a new agent belongs to an apply that is starting
		if ! current_id; then [ -z "$(find "$S/agent" -mmin +1)" ] || (locked mend) >/dev/null 2>&1
		elif [ -e "$D/id.$id" ] && ! armed; then (locked mend "$id") >/dev/null 2>&1; fi; fi
	hello
	say "machine $(machine_id)"
	if current_id; then
		say "id $id"
		sed -n '/^digest /p' "$D/journal"
		time_left; say "left $left"
		# Test again after the lock: the switch may have been armed meanwhile.
		if armed; then say "armed yes"
		elif at_work || [ ! -e "$D/id.$id" ]; then say "busy yes"
		elif armed; then say "armed yes"
		else say "armed no"; fi
		[ ! -e "$D/ready" ] || say "ready yes"
		[ "$(init_system)" = systemd ] || [ -e "$ROOT/etc/cron.d/linerate-revert" ] || say "no-cron"
	fi
	study_of lost; set +f
	for h in "$S"/history/*; do
		[ ! -d "$h" ] || say "history ${h##*/} $(sed -n 's/^digest //p' "$h/journal") $(cat "$h/why" 2>/dev/null)"
		[ ! -s "$h/when" ] || say "when ${h##*/} $(cat "$h/when")"
	done
	newest
	[ ! -s "$S/history/$last/boot" ] || [ "$(cat "$S/history/$last/boot")" != "$(boot_id)" ] || files "$S/history/$last" next_boot
	drift lines
}
# next_boot names a file whose current content takes effect at the next boot.
next_boot() { ! early "$3" || say "next-boot ${3#"$ROOT"}"; }

main() {
	case $1 in
	hello | look | status | reach) "$@" ;;
	watch | guard) trap '' HUP INT PIPE TERM && "$@" ;;
	install) install_agent ;;
	apply | ready | confirm | revert | rollback | boot | reboot | mend)
		if [ -z "${LINERATE_LOCKED-}" ]; then locked "$@" || exit; return; fi
		unset LINERATE_LOCKED
		trap '' HUP INT PIPE TERM # never stop halfway; the switch kills a command that hangs
		say $$ >"$S/holder" 2>/dev/null
		case $1 in
		apply | confirm | mend | rollback) "$1" "${2-}" ;;
		ready) current_id && : >"$D/ready" && durable "$D/ready" "$D" ;;
		revert) [ "$2" = any ] || under_way "$2" || return 0
			revert switch "${3-taken back by hand}" ;;
		boot | reboot) "$1" ;;
		esac
		;;
	*) die "unknown command: $1" ;;
	esac
}
