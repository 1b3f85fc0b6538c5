# shellcheck shell=sh
# shellcheck disable=SC2015 # a && b || c: c is to follow a failure of either
# shellcheck disable=SC2012 # ls lists names that only linerate or the kernel makes
#
# Reads settings. OS is the system, NL a newline, listed the device whose offloads
# listing holds, or ''.

# slashes sets path to a sysctl's path: dots become slashes, slashes become dots.
slashes() {
	rest=$1 path=
	while :; do
		part=${rest%%.*}
		case $part in */*) part=${part%%/*}.${part#*/} ;; esac
		path=$path$part
		case $rest in *.*) rest=${rest#*.} path=$path/ ;; *) return 0 ;; esac
	done
}

# knob_file sets file to the file that holds a setting on Linux; it fails if none does.
knob_file() {
	[ "$OS" = Linux ] || return 1
	net=/sys/class/net/$2
	case $1:$3 in
	sysctl:*) slashes "$3" && file=/proc/sys/$path ;;
	link:mtu) file=$net/mtu ;;
	link:txqueuelen) file=$net/tx_queue_len ;;
	napi:threaded) file=$net/threaded ;;
	napi:defer-hard-irqs) file=$net/napi_defer_hard_irqs ;;
	napi:gro-flush-timeout) file=$net/gro_flush_timeout ;;
	rps:*) file=$net/queues/$3/rps_cpus ;;
	rfs:*) file=$net/queues/$3/rps_flow_cnt ;;
	xps:*) file=$net/queues/$3/xps_cpus ;;
	irq:*) file=/proc/irq/$3/smp_affinity_list ;;
	governor:*) file=/sys/devices/system/cpu/$3/cpufreq/scaling_governor ;;
	module-param:*/*) file=/sys/module/${3%%/*}/parameters/${3#*/} ;;
	*) return 1 ;;
	esac
}

# knob_read sets value to a setting's running value, with white space folded; it
# fails when there is none, or one of several lines.
knob_read() {
	if knob_file "$@"; then
		value=$(cat "$file" 2>/dev/null) || return 1
	elif [ "$1" = offload ]; then
		knob_offload "$2" "$3" || return 1
	else
		value=$(knob_ask "$@" 2>/dev/null) || return 1
		[ -n "$value" ] || return 1
	fi
	case $value in *"$NL"*) return 1 ;; esac
	# shellcheck disable=SC2086 # splitting folds white space
	set -- $value
	value=$*
}

# knob_offload sets value to on or off. It lists a device's offloads once and keeps the listing.
knob_offload() {
	feature "$2" || return 1
	[ "$listed" = "$1" ] || case $OS in
	FreeBSD) listing=$(ifconfig "$1" 2>/dev/null | sed -n "/^[[:space:]]*options=/{s/.*<\\(.*\\)>.*/,\\1,/p;q;}") ;;
	*) listing=$NL$(ethtool -k "$1" 2>/dev/null | tr -d '\t') ;;
	esac
	listed=$1
	case $OS:$listing in
	FreeBSD:*",$spelt,"*) value=on ;;
	FreeBSD:,*) value=off ;;
	Linux:*"$NL$spelt: "*) value=${listing#*"$NL$spelt: "} && value=${value%%[!a-z]*} && [ -n "$value" ] ;;
	*) return 1 ;;
	esac
}

# knob_ask prints the value of a setting that no file holds.
knob_ask() {
	case $OS:$1 in
	Linux:ring) ethtool -g "$2" | current "$3" ;;
	Linux:channels) ethtool -l "$2" | current "$3" ;;
	Linux:coalesce) ethtool -c "$2" | awk -v k="$3" '
		/^Adaptive/ { a["adaptive-rx"] = $3; a["adaptive-tx"] = $5; if (k in a) { print a[k]; exit } }
		$1 == k ":" { print $2; exit }' ;;
	Linux:module) loaded test -d "/sys/module/$3" ;;
	Linux:link) [ "$3" = state ] && f=$(cat "/sys/class/net/$2/flags") && if [ $((f & 1)) = 1 ]; then echo up; else echo down; fi ;;
	Linux:route) route=$(routes show exact "$3") && if [ -z "$route" ]; then echo absent; else printf '%s\n' "$route" | sed -e 's/^[^ ]* //' -e 's/ linkdown//g' -e 's/ dead//g'; fi ;;
	Linux:address) if ip -o addr show dev "$2" | grep -qF " $3 "; then echo present; else echo absent; fi ;;
	Linux:nft) # shellcheck disable=SC2086 # chain holds three words
		chain "$3" && nft list chain $chain | sed -n 's/.* policy \([a-z]*\);.*/\1/p' ;;
	FreeBSD:sysctl) sysctl -n "$3" ;;
	FreeBSD:link) ifconfig "$2" | awk -v k="$3" '{ for (i = 1; i < NF; i++) if ($i == k) { print $(i + 1); exit } }' ;;
	FreeBSD:module) loaded kldstat -q -n "$3" ;;
	FreeBSD:pf-timeout) pfctl -st | awk -v k="$3" '$1 == k { print $2 + 0; exit }' ;;
	FreeBSD:pf-limit) pfctl -sm | awk -v k="$3" '$1 == k { print $NF; exit }' ;;
	FreeBSD:irq) cpuset -g -x "$3" | sed -e 's/.*: *//' -e 's/ //g' ;;
	FreeBSD:loader) kenv -q "$3" ;;
	FreeBSD:rc) sysrc -n "$3" ;;
	*) return 1 ;;
	esac
}

# routes runs ip route for the address family of its last argument.
routes() {
	verb=$1 && shift
	for prefix; do :; done
	case $prefix in *:*) ip -6 route "$verb" "$@" ;; *) ip -4 route "$verb" "$@" ;; esac
}

# prefixes prints the prefixes of configured routes, and $1 for a default route.
prefixes() { awk -v default_="$1" '!/ proto (kernel|ra)( |$)/ { sub(/^default/, default_, $1); print $1 }'; }

# chain splits FAMILY/TABLE/CHAIN into the three words that nft(8) expects.
chain() {
	case $1 in */*/*/* | *' '*) return 1 ;; */*/*) chain=${1%%/*} && chain="$chain $(printf %s "${1#*/}" | tr / ' ')" ;; *) return 1 ;; esac
}

# loaded prints "loaded" if a command succeeds, else "absent".
loaded() { if "$@" >/dev/null 2>&1; then echo loaded; else echo absent; fi; }

# current prints a number from the "Current" section of ethtool -g or -l.
current() { awk -v k="$1:" '/^Current/ { now = 1 } now && tolower($1) == k { print $2; exit }'; }

# feature sets spelt to an offload's name in the system's listing.
feature() {
	case $OS in
	FreeBSD) table=' lro=LRO tso4=TSO4 tso6=TSO6 rxcsum=RXCSUM txcsum=TXCSUM rxcsum6=RXCSUM_IPV6 txcsum6=TXCSUM_IPV6 vlanhwtag=VLAN_HWTAGGING vlanhwcsum=VLAN_HWCSUM vlanhwtso=VLAN_HWTSO vlanhwfilter=VLAN_HWFILTER ' ;;
	*) table=' rx=rx-checksumming tx=tx-checksumming sg=scatter-gather tso=tcp-segmentation-offload
 gso=generic-segmentation-offload gro=generic-receive-offload lro=large-receive-offload rxvlan=rx-vlan-offload
 txvlan=tx-vlan-offload ntuple=ntuple-filters rxhash=receive-hashing ' ;;
	esac
	spelt=${table#*" $1="} && spelt=${spelt%%["$NL" ]*}
	case $table in *" $1="*) ;; *) spelt=$1 && [ "$OS" != FreeBSD ] ;; esac
}

# knob_names prints the names that a pattern with * matches, one per line: sysctls
# by path, and the offloads of a device that can be changed.
knob_names() {
	case $OS:$1:$3 in
	Linux:sysctl:*\**)
		knob_file "$1" "$2" "$3"
		set +f
		for f in $file; do
			set -f
			[ -e "$f" ] && printf '%s\n' "${f#/proc/sys/}" | tr ./ /.
		done
		set -f
		;;
	Linux:offload:\*) ethtool -k "$2" 2>/dev/null | awk '/: (on|off)$/ { sub(/:$/, "", $1); print $1 }' ;;
	Linux:rps:\* | Linux:rfs:\*) ls "/sys/class/net/$2/queues" 2>/dev/null | sed -n '/^rx-/p' ;;
	Linux:xps:\*) ls "/sys/class/net/$2/queues" 2>/dev/null | sed -n '/^tx-/p' ;;
	Linux:address:\*) ip -6 -o addr show dev "$2" scope global permanent 2>/dev/null | awk '{ print $4 }' ;;
	Linux:route:\*) # routes of the kernel and of router advertisements return without us
		ip -4 route show dev "$2" 2>/dev/null | prefixes 0.0.0.0/0
		ip -6 route show dev "$2" 2>/dev/null | prefixes ::/0 ;;
	*) printf '%s\n' "$3" ;;
	esac
}
