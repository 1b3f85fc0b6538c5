# shellcheck shell=sh
#
# Identity and age of the running boot. OS is the system.

# since_boot sets up to the seconds since boot, independent of changes to the clock;
# boot_id prints the boot's ID. On Linux neither starts a process: a switch polls them.
since_boot() {
	if [ "$OS" = FreeBSD ]; then up=$(sysctl -n kern.boottime) && up=${up#*sec = } && up=$(($(date +%s) - ${up%%,*}))
	else read -r up _ </proc/uptime && up=${up%%.*}; fi
}
boot_id() {
	if [ "$OS" = FreeBSD ]; then sysctl -b kern.boot_id 2>/dev/null | od -An -tx1 | tr -d ' \n'
	else { read -r boot </proc/sys/kernel/random/boot_id; } 2>/dev/null && printf '%s\n' "$boot"; fi
}
