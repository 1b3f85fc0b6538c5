#!/bin/sh
# make.sh LINERATE NAME…: run studies and write their pages' pictures and
# outputs anew. FLAGS (default --quick) are the run's; RECORDS is a directory of
# records NAME made earlier, which are then reported and not run.
set -eu
lr=$1; shift
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for name; do
	load=$(cut -d' ' -f1 /proc/loadavg)
	if [ -n "${RECORDS:-}" ]; then
		dir=$RECORDS/$name
		"$lr" report "$dir" >"$tmp/out" 2>/dev/null
		load=${LOAD:-$load}
	else
		dir=$tmp/$name
		"$lr" study run "$name" ${FLAGS---quick} --out "$dir" --no-ledger >"$tmp/out" 2>/dev/null
	fi
	cp "$dir/picture.svg" "$here/$name.svg" 2>/dev/null || rm -f "$here/$name.svg"
	{
		echo
		[ -f "$here/$name.svg" ] && printf '![the answer in a picture](%s.svg)\n\n' "$name"
		echo "\`linerate study run $name ${FLAGS---quick}\`, on a machine of $(nproc) CPUs with a load average of $load:"
		echo
		echo '```'
		cat "$tmp/out"
		echo '```'
		echo
	} >"$tmp/block"
	page=$here/$name.md
	awk -v block="$tmp/block" '
		/^<!-- run -->$/ { print; while ((getline line < block) > 0) print line; skip = 1 }
		/^<!-- end -->$/ { skip = 0 }
		!skip { print }
		/^<!-- run -->$/ { next }' "$page" | awk '!(/^<!-- run -->$/ && seen++)' >"$tmp/page"
	cp "$tmp/page" "$page"
done
