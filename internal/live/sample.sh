# Reads the counters of a host in production once. It needs sh and the base system,
# writes nothing, and prints lines KEY VALUE….
set -u -f
PATH=/sbin:/bin:/usr/sbin:/usr/bin
LC_ALL=C
export PATH LC_ALL

linux() {
	echo "boot $(cat /proc/sys/kernel/random/boot_id 2>/dev/null)"
	read -r up rest </proc/uptime && echo "uptime $up"
	echo "hz $(getconf CLK_TCK 2>/dev/null || echo 100)"
	sed -n 's/^cpu  */cpu /p; s/^cpu[0-9].*/core/p; s/^procs_running/running/p' /proc/stat
	sed -n 's/^MemTotal: *\([0-9]*\).*/memory \1/p; s/^MemAvailable: *\([0-9]*\).*/available \1/p' /proc/meminfo
	sed -n 's/^ *\([^: ]*\): */dev \1 /p' /proc/net/dev
	sed 's/^/softnet /' /proc/net/softnet_stat
	sed 's/^/snmp /' /proc/net/snmp
	sed -n 's/^\(TcpExt\)/snmp \1/p' /proc/net/netstat
	# cat, not read: dash reads byte by byte, and a sysctl file returns only its first byte so.
	[ ! -r /proc/sys/net/netfilter/nf_conntrack_max ] || echo states $(cd /proc/sys/net/netfilter && cat nf_conntrack_count nf_conntrack_max)
	[ -z "$CONNECTIONS" ] || connections
	[ -z "$SERVICE" ] || for p in $(pgrep -x -o "$SERVICE" 2>/dev/null) $(pgrep -x "$SERVICE" 2>/dev/null); do
		sed 's/.*) //' "/proc/$p/stat" 2>/dev/null | { read -r _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ start _ && echo "service $p $start"; }
	done
}

# connections prints each established connection: addresses, round-trip time in ms,
# segments sent and retransmitted, and the delivery rate.
connections() {
	ss -Htin state established 2>/dev/null | head -n 8000 | awk '
	!/^[ \t]/ { id = $3 ">" $4 }
	/ rtt:/ {
		rtt = segs = again = 0; rate = "-"
		for (i = 1; i <= NF; i++) {
			if ($i ~ /^rtt:/) { rtt = substr($i, 5); sub("/.*", "", rtt) }
			if ($i ~ /^segs_out:/) segs = substr($i, 10)
			if ($i ~ /^retrans:/) { again = $i; sub(".*/", "", again) }
			if ($i == "delivery_rate") rate = $(i + 1)
		}
		print "conn", id, rtt, segs, again, rate
	}'
}

# freebsd starts few processes, as starting them is most of the cost of a sample.
freebsd() {
	# -o also prints the opaque kern.boot_id; kern.boottime moves when the clock is set.
	sysctl -o kern.boot_id kern.boottime kern.clockrate kern.cp_time hw.ncpu vm.loadavg vm.stats.vm.v_page_count \
		vm.stats.vm.v_free_count vm.stats.vm.v_inactive_count vm.stats.vm.v_laundry_count 2>/dev/null | awk -v now="$NOW" '
		{ name = $1; sub(/^[^:]*: */, "") }
		name == "kern.boot_id:" { sub(/.*Dump:/, ""); print "boot", $0 }
		name == "kern.boottime:" { sub(/.*[{ ]sec = /, ""); print "uptime", now - ($0 + 0) }
		name == "kern.clockrate:" { sub(/.*stathz = /, ""); print "hz", $0 + 0 }
		name == "kern.cp_time:" { print "cp_time", $0 }
		name == "hw.ncpu:" { print "cores", $0 }
		name == "vm.loadavg:" { gsub(/[{}]/, ""); print "running", $0 }
		name ~ /page_count/ { print "memory", $0 }
		name ~ /(free|inactive|laundry)_count/ { available += $0 }
		END { print "available", available + 0 }'
	netstat -ibnd -W | awk '$3 ~ /^<Link/ { print "link", $0 }'
	netstat -s -p tcp | sed 's/^[[:space:]]*/tcp /'
	netstat -s -p ip | sed 's/^[[:space:]]*/ip /'
	{ pfctl -si && pfctl -sm; } 2>/dev/null | awk '/current entries/ { print "entries", $3 } $1 == "states" { print "entries-limit", $NF }'
	[ -z "$SERVICE" ] || ps -axo pid=,lstart=,comm= | awk -v s="$SERVICE" '$NF == s { print "service", $1, $2, $3, $4, $5, $6 }'
}

# piece PATH INODE OFFSET MOST: prints a log's inode and size, then at most MOST bytes from
# OFFSET. After a rotation it first prints the rest of the old file.
piece() {
	path=$1 inode=$2 at=$3 most=$4
	[ -f "$path" ] || { echo "gone"; return; }
	now=$(ls -Li "$path") && now=$(echo "$now" | awk '{ print $1; exit }')
	size=$(wc -c <"$path" | tr -d ' ')
	if [ "$inode" = 0 ]; then echo "piece $now $size 0"; return; fi
	if [ "$inode" != "$now" ]; then
		for old in "$path.1" "$path.0"; do
			[ -f "$old" ] && [ "$(ls -Li "$old" | awk '{ print $1; exit }')" = "$inode" ] || continue
			left=$(($(wc -c <"$old" | tr -d ' ') - at))
			[ $left -gt 0 ] && [ $left -le "$most" ] || continue
			echo "piece $now 0 $left" && tail -c +$((at + 1)) "$old" | head -c "$left"
			return
		done
		at=0
	fi
	[ "$at" -le "$size" ] || at=0
	n=$((size - at)) && [ $n -le "$most" ] || n=$most
	# FreeBSD's head rejects a count of 0.
	echo "piece $now $((at + n)) $n" && { [ $n -eq 0 ] || tail -c +$((at + 1)) "$path" | head -c "$n"; }
}

case $1 in
look)
	CONNECTIONS=$2 SERVICE=$3
	NOW=$(date +%s) OS=$(uname -s)
	echo "clock $NOW"
	case $OS in FreeBSD) live=${LINERATE_ROOT-}/var/db/linerate/live ;; *) live=${LINERATE_ROOT-}/var/lib/linerate/live ;; esac
	[ ! -r "$live" ] || { read -r owner _ <"$live" && echo "owner $owner"; }
	case $OS in
	FreeBSD) freebsd ;;
	*) linux ;;
	esac
	echo "end"
	;;
piece) shift && piece "$@" ;;
esac
