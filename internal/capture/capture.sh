#!/bin/sh
# linerate capture: collects what an audit of this host needs into one file.
#
#     sh capture.sh [-o bundle.tar.gz]
#
# It only reads, runs commands of the base system only, and needs no
# privileges; as root it sees more. Secrets are left out: files that are made
# of them are not opened, and lines that hold one lose it. manifest.tsv in the
# bundle lists what was left out and what could not be read.
# Format of the bundle: docs/reference/bundle.md of linerate.

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
for tool in awk sed mktemp head tr cut find; do
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
# note writes a line of the manifest: its words, with tabs between.
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

cat >"$dir/redact.awk" <<'REDACT'
@REDACT@
REDACT

# redact NAME [ONLY [DROP]]: standard input without its secrets.
redact() {
	awk -v "name=$1" -v "report=$manifest" -v "only=$2" -v "drop=$3" -f "$dir/redact.awk"
}

# limit bounds what one source may fill.
limit() { head -c 16777216; }

# keep PATH [WORDS]: a file, without secrets; with words (patterns of awk,
# commas between), only its lines that match one of them (the others stay,
# empty, so that line numbers are right).
keep() {
	[ -e "$1" ] || [ -h "$1" ] || return 0
	[ -e "$dir/b/files$1" ] && return 0
	if [ ! -f "$1" ]; then
		note file "$1" unreadable "not a regular file"
	elif [ ! -r "$1" ]; then
		note file "$1" unreadable "Permission denied"
	else
		mkdir -p "$dir/b/files${1%/*}"
		limit <"$1" | redact "$1" "$2" >"$dir/b/files$1"
		note file "$1" read ""
	fi
}

# all PATTERN…: keep every file that a pattern matches.
all() {
	for pattern in "$@"; do
		set +f
		for file in $pattern; do
			set -f
			if [ -f "$file" ]; then keep "$file"; fi
		done
		set -f
	done
}

# some WORDS PATTERN: keep, of every file that a pattern matches, the lines with
# a word.
some() {
	set +f
	for file in $2; do
		set -f
		if [ -f "$file" ]; then keep "$file" "$1"; fi
	done
	set -f
}

# leave PATH WHY: a file that is never opened.
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

# ask ID COMMAND…: what a command prints, without secrets.
ask() {
	id=$1
	shift
	if ! command -v "$1" >/dev/null 2>&1; then
		note query "$id" no-command "$1: not found"
		return 0
	fi
	# A kernel asked for what it has not complains to console and log.
	if [ -n "$module" ] && ! kldstat -q -m "$module" 2>/dev/null; then
		note query "$id" no-command "the module $module is not loaded"
		return 0
	fi
	if command -v timeout >/dev/null 2>&1; then
		timeout "${wait:-30}" "$@" </dev/null >"$dir/raw" 2>"$dir/err"
	else
		"$@" </dev/null >"$dir/raw" 2>"$dir/err"
	fi
	code=$?
	limit <"$dir/raw" | redact "$id" "" "$drop" >"$dir/b/out/$id"
	why=
	[ -s "$dir/err" ] && why=$(head -n 1 "$dir/err" | cut -c 1-300 | tr -d '\r')
	note query "$id" "$code" "$why"
}
drop=
wait=
module=

# values FILE…: what loader.conf or rc.conf lines set a name to, without
# running them: "value NAME FILE…".
value() {
	name=$1
	shift
	for file in "$@"; do
		[ -r "$file" ] && sed -n "s/^[ 	]*$name=[\"']\{0,1\}\([^\"'#]*\).*/\1/p" "$file"
	done
}

freebsd() {
@FREEBSD_QUERIES@
	drop= wait= module=
	vmstat -i 2>/dev/null | sed -n 's/^irq\([0-9]*\):.*/\1/p' | head -n 512 >"$dir/irqs"
	while read -r irq; do
		if cpuset -g -x "$irq" >"$dir/raw" 2>/dev/null; then
			cp "$dir/raw" "$dir/b/out/cpuset-irq$irq"
		fi
	done <"$dir/irqs"

	all @FREEBSD_FILES@
	for file in $(value loader_conf_files /boot/loader.conf /boot/loader.conf.local /boot/defaults/loader.conf); do
		case $file in /boot/*) all "$file" ;; esac
	done
	rcs="/etc/rc.conf /etc/rc.conf.local /etc/defaults/vendor.conf"
	for file in $(value rc_conf_files $rcs) $(value pf_rules $rcs) $(value firewall_script $rcs) \
		$(value firewall_type $rcs) $(value ipfilter_rules $rcs) $(value ipnat_rules $rcs); do
		case $file in *..*) ;; /etc/*|/usr/local/etc/*|/conf/*) all "$file" ;; esac
	done
	[ -r /etc/pf.conf ] && for file in $(sed -n 's/^[ 	]*include[ 	]*"\([^"]*\)".*/\1/p' /etc/pf.conf); do
		case $file in *..*) ;; /etc/*|/usr/local/etc/*) all "$file" ;; esac
	done
@FREEBSD_WORDS@
@FREEBSD_SECRETS@
}

# tree NAME: the small files whose paths are read from standard input, as
# lines "path, tab, text". One awk reads them all.
tree() {
	awk '
	/\/(stable_secret|tcp_fastopen_key|uuid|boot_id)$/ { next }
	{
		n = 0
		while ((getline line < $0) > 0 && n < 64) { print $0 "\t" substr(line, 1, 4096); n++ }
		close($0)
	}' 2>/dev/null | limit | redact "$1" >"$dir/b/trees/$1"
}

linux() {
@LINUX_QUERIES@
	set +f
	for path in /sys/class/net/*; do
		nic=${path##*/}
		[ -e "$path/device" ] || continue
		for flag in -k -g -l -a -S; do
			set -f
			ask "ethtool$flag-$nic" ethtool $flag "$nic"
			set +f
		done
	done
	find /proc/sys -type f 2>/dev/null | tree proc-sys
	ls -d @LINUX_TREES@ 2>/dev/null | tree sys
	set -f
	note left-out "/proc/sys: stable_secret, tcp_fastopen_key" "keys of the kernel"
	all @LINUX_FILES@
	all "/lib/modules/$(uname -r)/modules.builtin"
@LINUX_WORDS@
@LINUX_SECRETS@
}

note bundle 1
note os "$(uname -s)"
note taken "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
note by "linerate capture, uid $(id -u)"
case $(uname -s) in
FreeBSD) freebsd ;;
Linux) linux ;;
*)
	echo "capture: $(uname -s) is neither FreeBSD nor Linux" >&2
	exit 1
	;;
esac

# archive writes the bundle as a tar archive; where there is no tar(1), awk does, in
# POSIX's format (ustar). \001 stands for NUL, which not every awk can print.
archive() {
	cd "$dir/b" || exit 1
	if have tar; then exec tar -cf - .; fi
	find . -type f | awk '
	function pad(s, n) { while (length(s) < n) s = s "\001"; return s }
	function sum(s,   i, n) { for (i = 1; i <= length(s); i++) n += code[substr(s, i, 1)]; return n }
	# header prints an entry of a size. A long name is cut in two at a slash.
	function header(name, size,   at, dir, a, b) {
		if (length(name) > 100) {
			for (at = length(name) - 100; at < length(name) && substr(name, at, 1) != "/"; at++) ;
			dir = substr(name, 1, at - 1)
			name = substr(name, at + 1)
		}
		if (name == "" || length(dir) > 155) return 0
		a = pad(name, 100) "0000600\0010000000\0010000000\001" sprintf("%011o", size) "\00100000000000\001"
		b = "0" pad("", 100) "ustar\00100" pad("", 64) "0000000\0010000000\001" pad(dir, 167)
		printf "%s%06o\001 %s", a, 256 + sum(a) + sum(b), b # its sum is taken as blanks
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
