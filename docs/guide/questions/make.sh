#!/bin/sh
# make.sh [NAME…]: run the studies of the guide's pages, or those named, one at a
# time, and write the pages, their pictures and the figures of talk-2017.md and
# report-2004.md anew from the records.
#
# Records are kept in RECORDS (default /var/tmp/linerate-guide): a study that has a
# whole one is not run again, one that was interrupted goes on. So the same command
# again is what to do after anything went wrong; remove a record to run it anew.
# QUICK=--quick makes short runs. LINERATE is a program built before.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
records=${RECORDS:-/var/tmp/linerate-guide}
mkdir -p "$records"
lr=${LINERATE:-$records/linerate}
[ -n "${LINERATE:-}" ] || (cd "$here/../../.." && CGO_ENABLED=0 go build -o "$lr" ./cmd/linerate)
[ $# -gt 0 ] || set -- $(cd "$here" && ls -- *.md | sed 's/\.md$//')

begun=$(date +%s) failed=
for name; do
	dir=$records/$name
	host=
	case $name in
	firewall-state) host=--allow-host-settings ;; # the connection table's size is the kernel's
	esac
	start=$(date +%s)
	if "$lr" report "$dir" --json 2>/dev/null | grep -q '^ *"complete": true'; then
		echo "$name: on record"
		continue
	elif [ -e "$dir/trials.jsonl" ]; then
		"$lr" study resume "$dir" $host --no-ledger >/dev/null 2>"$dir.err" || failed="$failed $name"
	else
		rm -rf "$dir"
		"$lr" study run "$name" ${QUICK:-} $host --out "$dir" --no-ledger >/dev/null 2>"$dir.err" || failed="$failed $name"
	fi
	echo "$name: $(($(date +%s) - start)) s"
done
echo "all: $(($(date +%s) - begun)) s"
if [ -n "$failed" ]; then
	for name in $failed; do tail -n 3 "$records/$name.err"; done
	echo "make.sh: failed:$failed; run it again to go on"
	exit 1
fi
cd "$here/../../.." && LINERATE_RECORDS=$records go test -count=1 ./cmd/linerate -run TestGuide -update
