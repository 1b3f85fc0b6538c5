#!/bin/sh
# make.sh [NAME…]: run the studies of the guide's pages, or those named, one at a
# time, and regenerate from the records the pages, their pictures, and the figures
# of talk-2017.md and report-2004.md.
#
# Records are in RECORDS (default /var/tmp/linerate-guide). A study with a complete
# record is skipped, an interrupted one continues, and one whose definition has
# changed is put aside and run again. So after any failure, run the same command
# again; to repeat a study, remove its record. The script first prints how long the
# rest takes on an idle machine.
# QUICK=--quick makes short runs. LINERATE names a program that is already built.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
records=${RECORDS:-/var/tmp/linerate-guide}
mkdir -p "$records"
lr=${LINERATE:-$records/linerate}
[ -n "${LINERATE:-}" ] || (cd "$here/../../.." && CGO_ENABLED=0 go build -o "$lr" ./cmd/linerate)
[ $# -gt 0 ] || set -- $(cd "$here" && ls -- *.md | sed 's/\.md$//')

# study NAME|FILE: prints the study with its defaults, without what a record adds.
study() {
	"$lr" study show "$1" --resolved 2>/dev/null | sed -e '/^seed:/d' -e '/^gates:/,/^[a-z]/{/^gates:/d;/^ /d;}'
}

# whole NAME: tests whether the record is complete.
whole() {
	"$lr" report "$records/$1" --json 2>/dev/null | grep -q '^ *"complete": true'
}

# seconds NAME: prints the study's estimated duration.
seconds() {
	"$lr" study list --json | awk -F'[:,]' -v name="\"$1\"" -v key="${QUICK:+quick_}seconds" \
		'$1 ~ /"name"/ {of = $2; gsub(/ /, "", of)} $1 ~ "\"" key "\"" && of == name {print int($2); exit}'
}

todo= rest=0
for name; do
	dir=$records/$name
	if [ -e "$dir/study.yaml" ] && [ -z "${QUICK:-}" ] && [ "$(study "$name")" != "$(study "$dir/study.yaml")" ]; then
		rm -rf "$dir.aside"
		mv "$dir" "$dir.aside"
		echo "$name: the record is of another study by now, put aside"
	fi
	if whole "$name"; then
		echo "$name: on record"
	else
		todo="$todo $name"
		rest=$((rest + $(seconds "$name")))
	fi
done
[ -z "$todo" ] || echo "to run:$todo: about $((rest / 60 + 1)) minutes on an idle machine"

begun=$(date +%s) failed=
for name in $todo; do
	dir=$records/$name
	host=
	case $name in
	firewall-state) host=--allow-host-settings ;; # the connection table's size applies to the whole host
	esac
	start=$(date +%s)
	if [ -e "$dir/trials.jsonl" ]; then
		"$lr" study resume "$dir" $host --ledger none >/dev/null 2>"$dir.err" || failed="$failed $name"
	else
		rm -rf "$dir"
		"$lr" study run "$name" ${QUICK:-} $host --out "$dir" --ledger none >/dev/null 2>"$dir.err" || failed="$failed $name"
	fi
	echo "$name: $(($(date +%s) - start)) s"
done
echo "all: $(($(date +%s) - begun)) s"
if [ -n "$failed" ]; then
	for name in $failed; do tail -n 3 "$records/$name.err"; done
	echo "make.sh: failed:$failed; run it again to go on"
	exit 1
fi
# Draw all pictures with the current program, even for old records.
for name; do "$lr" report "$records/$name" >/dev/null; done
cd "$here/../../.." && LINERATE_RECORDS=$records go test -count=1 ./cmd/linerate -run TestGuide -update
