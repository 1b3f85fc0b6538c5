# shellcheck shell=sh
#
# Which boot of a host it is, and how long it lasts. OS is the system.

# since_boot sets up to the seconds since boot, and boot_id tells which boot it is: by
# clocks that nobody can set, and on Linux without a program, for a switch asks often.
since_boot() {
	if [ "$OS" = FreeBSD ]; then up=$(sysctl -n kern.boottime) && up=${up#*sec = } && up=$(($(date +%s) - ${up%%,*}))
	else read -r up _ </proc/uptime && up=${up%%.*}; fi
}
boot_id() {
	if [ "$OS" = FreeBSD ]; then sysctl -b kern.boot_id 2>/dev/null | od -An -tx1 | tr -d ' \n'
	else { read -r boot </proc/sys/kernel/random/boot_id; } 2>/dev/null && printf '%s\n' "$boot"; fi
}
