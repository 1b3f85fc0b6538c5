#!/bin/sh
# The init of a machine whose power goes at another moment of each boot.
PATH=/bin
export PATH LINERATE_INIT=sysv
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -o remount,rw /
ip link set lo up
read -r n </boot
read -r boots </boots
echo $((n + 1)) >/boot && sync /boot
# What a boot runs: the entries of rcS.d, then what reads sysctl.d.
for s in /etc/rcS.d/S*; do [ ! -e "$s" ] || sh "$s" start; done
for f in /etc/sysctl.d/*.conf; do
	while IFS='=' read -r k v; do
		case $k in net.*) echo "$v" >"/proc/sys/$(echo "$k" | tr . /)" 2>/dev/null ;; esac
	done <"$f"
done
# What it is: files with content, mode and owner; values.
state() {
	find /etc ! -type l -exec stat -c '%n %a %u %g' {} + | sort
	find /etc -type f -exec md5sum {} + | sort
	cat /proc/sys/net/ipv4/ip_forward /proc/sys/net/ipv4/tcp_keepalive_time /proc/sys/net/core/somaxconn
}
confirmed=no pending=no
for d in /var/lib/linerate/history/*.confirmed; do [ ! -d "$d" ] || confirmed=yes; done
for d in /var/lib/linerate/pending /var/lib/linerate/reverting; do [ ! -d "$d" ] || pending=yes; done
read -r cut </cut 2>/dev/null || cut=-
set -- $(state | md5sum)
echo "state $n $1 $confirmed $pending $cut"
if [ "$n" -ge "$boots" ]; then echo o >/proc/sysrq-trigger; sleep 100; fi
# The power goes after so many hundredths of a second.
h=$((n * 137 % 700))
after=$((h / 100)).$(printf %02d $((h % 100)))
what=apply
[ $((n % 2)) = 0 ] || what=confirm
[ $confirmed = no ] || what=rollback
echo "$what:$after" >/cut && sync /cut
case $what in
apply) (sleep "$after"; echo b >/proc/sysrq-trigger) & ;;
rollback) (sleep "$after"; echo b >/proc/sysrq-trigger) & ;;
esac
sh /agent install </agent
case $what in
rollback) for d in /var/lib/linerate/history/*.confirmed; do d=${d##*/}; sh /agent rollback "${d%.confirmed}"; done ;;
*) sh /agent apply now </journal >/dev/null && sh /agent ready ;;
esac
if [ $what = confirm ]; then
	(sleep "0.$(printf %02d $((n * 13 % 90)))"; echo b >/proc/sysrq-trigger) &
	sh /agent confirm ''
fi
sleep 8
echo b >/proc/sysrq-trigger
sleep 100
