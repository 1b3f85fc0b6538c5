#!/bin/sh
# linerate capture: collects what an audit of this host needs into one file.
#
#     sh capture.sh [-o bundle.tar.gz]
#
# It only reads, uses only commands of the base system, and needs no privileges;
# root can read more. It does not open files that consist of secrets. From the
# others it keeps system names, numbers and the words of a vocabulary; it drops
# comments, your commands, and values of unknown names. manifest.tsv in the bundle
# lists what was left out and what could not be read.
# The bundle's format: docs/reference/bundle.md of linerate.

LC_ALL=C
PATH=/sbin:/bin:/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin
export LC_ALL PATH
unset CDPATH ENV BASH_ENV
umask 077
set -f
IFS=' 	
'

usage() {
	echo "usage: sh capture.sh [-o bundle.tar.gz]    (-o - writes to standard output)" >&2
	exit 2
}

out=
while [ $# -gt 0 ]; do
	case $1 in
	-o) [ $# -gt 1 ] || usage; out=$2; shift 2 ;;
	-o?*) out=${1#-o}; shift ;;
	*) usage ;;
	esac
done
have() { command -v "$1" >/dev/null 2>&1; }
if [ -z "$out" ]; then
	out=linerate-$(uname -n | tr -cd 'A-Za-z0-9.-')-$(date -u +%Y%m%dT%H%M%SZ).tar
	! have gzip || out=$out.gz
fi

missing=
for tool in awk mktemp tr find grep; do
	have $tool || missing="$missing $tool"
done
if [ -n "$missing" ]; then
	echo "capture: this system is cut down: it lacks$missing, and no bundle can be made without" >&2
	exit 1
fi
dir=$(mktemp -d "${TMPDIR:-/tmp}/linerate.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
mkdir "$dir/b" "$dir/b/files" "$dir/b/out" "$dir/b/trees" || exit 1
manifest=$dir/b/manifest.tsv

tab='	'
nl='
'
# note writes a line of the manifest: its arguments, separated by tabs.
note() {
	line=$1
	shift
	for word in "$@"; do
		case $word in
		*"$tab"*|*"$nl"*) word=$(printf %s "$word" | tr '\t\n' '  ') ;;
		esac
		line=$line$tab$word
	done
	printf '%s\n' "$line" >>"$manifest"
}

cat >"$dir/keep.awk" <<'KEEP'
@KEEP@
KEEP

# At the end one awk program redacts everything; until then the raw files are in a
# directory that only its owner can read. list holds awk's input: kind, name,
# source, destination.
mkdir "$dir/raw"
list=$dir/list
: >"$list"
read_later() { printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" >>"$list"; }

dirs=
# take KIND PATTERN…: takes every file that a pattern matches.
take() {
	kind=$1
	shift
	for pattern in "$@"; do
		set +f
		for file in $pattern; do
			set -f
			if [ -e "$file" ] || [ -h "$file" ]; then take_file; fi
		done
		set -f
	done
}
take_file() {
	case $file in *"$tab"*|*"$nl"*) note file "$file" unreadable "a strange name"; return 0 ;; esac
	case $nl$taken in *"$nl$file$nl"*) return 0 ;; esac
	if [ -d "$file" ]; then
		return 0
	elif [ ! -f "$file" ]; then
		note file "$file" unreadable "not a regular file"
	elif [ ! -r "$file" ]; then
		note file "$file" unreadable "Permission denied"
	else
		taken=$taken$file$nl
		case $dirs in *"$dir/b/files${file%/*}$nl"*) ;; *) dirs=$dirs$dir/b/files${file%/*}$nl ;; esac
		read_later "$kind" "$file" "$file" "$dir/b/files$file"
		note file "$file" read ""
	fi
}
taken=

# leave PATTERN WHY: notes files that are never opened.
leave() {
	set +f
	for file in $1; do
		set -f
		if [ -e "$file" ]; then
			note file "$file" left-out "$2"
			note left-out "$file" "$2"
		fi
	done
	set -f
}

# lacks MODULE: tests whether the kernel lacks a module, and remembers the answer.
lacks() {
	case " $lacking " in *" $1 "*) return 0 ;; esac
	case " $having " in *" $1 "*) return 1 ;; esac
	if kldstat -q -m "$1" 2>/dev/null; then having="$having $1"; return 1; fi
	lacking="$lacking $1"
}
lacking=
having=

# ask KIND ID COMMAND…: takes the output of a command.
ask() {
	kind=$1
	id=$2
	shift 2
	if ! have "$1"; then
		note query "$id" no-command "$1: not found"
		return 0
	fi
	# Without the module the command would log errors on the console.
	if [ -n "$module" ] && lacks "$module"; then
		note query "$id" no-command "the module $module is not loaded"
		return 0
	fi
	if have timeout; then
		timeout "${wait:-30}" "$@" </dev/null >"$dir/raw/$id" 2>"$dir/err"
	else
		"$@" </dev/null >"$dir/raw/$id" 2>"$dir/err"
	fi
	code=$?
	read_later "$kind" "$id" "$dir/raw/$id" "$dir/b/out/$id"
	why=
	if [ -s "$dir/err" ]; then
		IFS= read -r why <"$dir/err"
		why=$(printf %.300s "$why")
	fi
	note query "$id" "$code" "$why"
}
wait=
module=

# named FILE…: prints the files that loader.conf, rc.conf and pf.conf name, as "kind,
# tab, path", without executing them.
named() {
	awk '
	BEGIN {
		split("pf_rules pf firewall_script ipfw firewall_type ipfw rc_conf_files rc loader_conf_files loader local_loader_conf_files loader", list, " ")
		for (i = 1; i < 16; i += 2) kind[list[i]] = list[i + 1]
	}
	/^[ \t]*[a-z_]+=/ {
		name = $0; sub(/^[ \t]*/, "", name); sub(/=.*/, "", name)
		value = $0; sub(/^[^=]*=/, "", value); sub(/#.*/, "", value); gsub(/[^A-Za-z0-9_.\/ -]/, " ", value)
		if (name in kind) { n = split(value, path, " "); for (i = 1; i <= n; i++) print kind[name] "\t" path[i] }
	}
	/^[ \t]*include[ \t]*"/ { split($0, path, "\""); print "pf\t" path[2] }
	' "$@" 2>/dev/null
}

freebsd() {
@FREEBSD_QUERIES@
	wait= module=
	awk '/^irq[0-9]+:/ && n++ < 512 { sub(/^irq/, ""); sub(/:.*/, ""); print }' "$dir/raw/vmstat-i" 2>/dev/null >"$dir/irqs"
	while read -r irq; do
		cpuset -g -x "$irq" >"$dir/b/out/cpuset-irq$irq" 2>/dev/null || rm -f "$dir/b/out/cpuset-irq$irq"
	done <"$dir/irqs"

@FREEBSD_FILES@
	named /boot/loader.conf /boot/loader.conf.local /boot/defaults/loader.conf /etc/rc.conf /etc/rc.conf.local /etc/defaults/vendor.conf /etc/pf.conf >"$dir/named"
	while IFS=$tab read -r kind file; do
		case $file in
		*..*) ;;
		/boot/*) [ "$kind" = loader ] && take loader "$file" ;;
		/etc/*|/usr/local/etc/*|/conf/*) [ "$kind" != loader ] && take "$kind" "$file" ;;
		esac
	done <"$dir/named"
@FREEBSD_SECRETS@
}

# tree NAME: takes small files as grep prints them, "path:line", and writes "path, tab,
# line". grep reads them because some awks stop at an unreadable file.
tree() {
	awk '
	(i = index($0, ":")) > 1 {
		path = substr($0, 1, i - 1)
		if (path != last) { last = path; n = 0 }
		if (n++ < 64) print path "\t" substr($0, i + 1, 4096)
	}' >"$dir/raw/$1"
	read_later tree "$1" "$dir/raw/$1" "$dir/b/trees/$1"
}

linux() {
@LINUX_QUERIES@
	set +f
	for path in /sys/class/net/*; do
		nic=${path##*/}
		[ -e "$path/device" ] || continue
		for flag in -k -g -l -a -S; do
			set -f
			ask whole "ethtool$flag-$nic" ethtool $flag "$nic"
			set +f
		done
	done
	find /proc/sys -type f ! -name stable_secret ! -name 'tcp_fastopen_key*' ! -name uuid ! -name boot_id -exec grep -s -H '' {} + 2>/dev/null | tree proc-sys
	grep -s -H '' @LINUX_TREES@ 2>/dev/null | tree sys
	set -f
	note left-out "/proc/sys: stable_secret, tcp_fastopen_key" "keys of the kernel"
@LINUX_FILES@
@LINUX_SECRETS@
}

# applied takes linerate's record on this host: what it applied, and what has drifted
# since. While a change is under way it takes only that state.
applied() {
	NL=$nl OS=$system listed=
@KNOB@
@RECORD@
	record >"$dir/raw/applied" 2>/dev/null
}
record() {
	if [ -d "$S" ] && [ ! -x "$S" ]; then say "record unreadable"; return; fi
	for state in pending confirming reverting; do
		[ ! -d "$S/$state" ] || { say "record $state"; return; }
	done
	[ -z "$(study_of live)" ] || { say "record live"; return; }
	newest .confirmed
	if [ -z "$last" ]; then say "record none"; return; fi
	say "record ${last%.*}"
	drift
}

# keep redacts the files in the list into the bundle.
keep() {
	IFS=$nl
	mkdir -p $dirs "$dir/b/files"
	IFS=" $tab$nl"
	awk -v "report=$manifest" -f "$dir/keep.awk" "$list" && rm -rf "$dir/raw" && return 0
	echo "capture: awk failed, and nothing may leave this host unread" >&2
	exit 1
}

@MACHINE_ID@
system=$(uname -s)
note bundle 1
note os "$system"
id=$(machine_id)
[ -z "$id" ] || note machine "$id"
note taken "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
note by "linerate capture, uid $(id -u)"
case $system in
FreeBSD) freebsd ;;
Linux) linux ;;
*)
	echo "capture: $system is neither FreeBSD nor Linux" >&2
	exit 1
	;;
esac
(applied)
note query applied 0
read_later applied applied "$dir/raw/applied" "$dir/b/out/applied"
keep

# archive writes the bundle as a tar archive. Without tar(1), awk writes the POSIX format
# (ustar), with \001 in place of NUL, which some awks cannot print.
archive() {
	cd "$dir/b" || exit 1
	if have tar; then exec tar -cf - .; fi
	find . -type f | awk '
	function pad(s, n) { while (length(s) < n) s = s "\001"; return s }
	function sum(s,   i, n) { for (i = 1; i <= length(s); i++) n += code[substr(s, i, 1)]; return n }
	# header prints the header of a file. It splits a long name at a slash.
	function header(name, size,   at, dir, a, b) {
		if (length(name) > 100) {
			for (at = length(name) - 100; at < length(name) && substr(name, at, 1) != "/"; at++) ;
			dir = substr(name, 1, at - 1)
			name = substr(name, at + 1)
		}
		if (name == "" || length(dir) > 155) return 0
		a = pad(name, 100) "0000600\0010000000\0010000000\001" sprintf("%011o", size) "\00100000000000\001"
		b = "0" pad("", 100) "ustar\00100" pad("", 64) "0000000\0010000000\001" pad(dir, 167)
		printf "%s%06o\001 %s", a, 256 + sum(a) + sum(b), b # the checksum field counts as 8 spaces (256)
		return 1
	}
	BEGIN { for (i = 2; i < 256; i++) code[sprintf("%c", i)] = i }
	{
		size = 0
		while ((getline line < $0) > 0) size += length(line) + 1
		close($0)
		if (!header(substr($0, 3), size)) next
		while ((getline line < $0) > 0) { gsub(/\001/, "?", line); print line }
		close($0)
		if (size % 512) printf "%s", pad("", 512 - size % 512)
	}
	END { printf "%s", pad("", 1024) }' | tr '\001' '\000'
}
pack() { if have gzip; then gzip -c; else cat; fi; }

if [ "$out" = - ]; then
	(archive) | pack
	exit
fi
(archive) | pack >"$dir/bundle" && cp "$dir/bundle" "$out" || {
	echo "capture: cannot write $out" >&2
	exit 1
}
echo "capture: wrote $out ($(wc -c <"$out" | tr -d ' ') bytes, $(grep -c '^left-out' "$manifest") things left out)" >&2
