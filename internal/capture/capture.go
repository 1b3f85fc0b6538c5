// Package capture makes the script that collects a host into a bundle, and
// runs it on this machine. The script is all there is: what it asks and
// keeps is a list here, so that a host is read the same way live, by script
// and from a bundle.
package capture

import (
	"context"
	_ "embed" // the script and its awk program
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"linerate/internal/fact"
	"linerate/internal/fact/secret"
	"linerate/internal/host"
)

//go:embed capture.sh
var template string

//go:embed redact.awk
var redactTemplate string

// redact is the script's part of package secret, with its patterns.
var redact = strings.Replace(redactTemplate, "@PATTERNS@\n", secret.Awk(), 1)

// freebsdFiles are kept whole but for their secrets.
var freebsdFiles = []string{
	"/boot/defaults/loader.conf", "/boot/loader.conf", "/boot/loader.conf.local", "/boot/loader.conf.d/*.conf", "/boot/device.hints", "/boot/nextboot.conf",
	"/etc/defaults/rc.conf", "/etc/defaults/vendor.conf", "/etc/rc.conf", "/etc/rc.conf.local", "/etc/rc.conf.misc", "/etc/rc.conf.d/*", "/etc/rc.conf.d/*/*",
	"/usr/local/etc/rc.conf.d/*", "/usr/local/etc/rc.conf.d/*/*",
	"/etc/sysctl.conf", "/etc/sysctl.conf.local", "/etc/sysctl.kld.d/*.conf",
	"/etc/pf.conf", "/etc/ipfw.rules", "/etc/ipf.rules", "/etc/ipnat.rules", "/etc/fstab", "/etc/login.conf", "/var/run/dmesg.boot",
}

// freebsdWords are files of which only the lines with these words, between
// commas, are kept.
var freebsdWords = []struct{ path, words string }{
	{"/usr/local/etc/nginx/nginx.conf", "listen,accept_filter,sendfile,worker_processes,worker_connections,aio"},
	{"/usr/local/etc/apache24/httpd.conf", "Listen,AcceptFilter,ListenBacklog,EnableSendfile"},
	{"/usr/local/etc/namedb/named.conf", "tcp-listen-queue"},
}

// freebsdSecrets are files that are made of secrets and never opened.
var freebsdSecrets = []struct{ path, why string }{
	{"/etc/master.passwd", "password hashes"}, {"/etc/spwd.db", "password hashes"}, {"/etc/wpa_supplicant.conf", "wireless keys"},
	{"/etc/hostapd.conf", "wireless keys"}, {"/etc/ppp/ppp.conf", "passwords"}, {"/usr/local/etc/mpd5/mpd.conf", "passwords"},
	{"/etc/ipsec.conf", "keys"}, {"/usr/local/etc/ipsec.secrets", "keys"}, {"/usr/local/etc/swanctl/swanctl.conf", "keys"}, {"/usr/local/etc/racoon/psk.txt", "keys"},
	{"/usr/local/etc/wireguard/*.conf", "private keys"}, {"/etc/wg*.conf", "private keys"}, {"/usr/local/etc/openvpn/*", "keys"}, {"/etc/snmpd.config", "community strings"},
	{"/usr/local/etc/snmp/snmpd.conf", "community strings"}, {"/etc/ssh/*_key", "private keys"}, {"/etc/bluetooth/hcsecd.conf", "keys"}, {"/boot/keys", "keys of disks"},
}

// linuxFiles are kept whole but for their secrets.
var linuxFiles = []string{
	"/proc/cpuinfo", "/proc/meminfo", "/proc/interrupts", "/proc/uptime", "/proc/version", "/proc/modules", "/proc/cmdline", "/proc/self/mounts",
	"/proc/net/softnet_stat", "/proc/net/snmp", "/proc/net/snmp6", "/proc/net/netstat", "/proc/net/stat/nf_conntrack", "/proc/net/stat/arp_cache", "/proc/net/stat/ndisc_cache", "/proc/net/tcp", "/proc/net/tcp6",
	"/etc/os-release", "/usr/lib/os-release", "/etc/sysctl.conf", "/etc/sysctl.d/*", "/run/sysctl.d/*.conf", "/usr/local/lib/sysctl.d/*.conf", "/usr/lib/sysctl.d/*.conf", "/lib/sysctl.d/*.conf",
	"/etc/modprobe.d/*.conf", "/usr/lib/modprobe.d/*.conf", "/lib/modprobe.d/*.conf", "/run/modprobe.d/*.conf", "/etc/default/grub", "/etc/nftables.conf", "/etc/fstab",
	"/etc/systemd/system/multi-user.target.wants/*.service",
	"/etc/default/grub.d/*.cfg", "/etc/kernel/cmdline", "/usr/lib/kernel/cmdline", "/usr/local/lib/modprobe.d/*.conf", "/etc/modules", "/etc/modules-load.d/*.conf", "/run/modules-load.d/*.conf",
	"/usr/local/lib/modules-load.d/*.conf", "/usr/lib/modules-load.d/*.conf", "/lib/modules-load.d/*.conf",
	"/etc/systemd/network/*.link", "/run/systemd/network/*.link", "/usr/local/lib/systemd/network/*.link", "/usr/lib/systemd/network/*.link", "/lib/systemd/network/*.link",
	"/etc/systemd/network/*.network", "/run/systemd/network/*.network", "/usr/local/lib/systemd/network/*.network", "/usr/lib/systemd/network/*.network", "/lib/systemd/network/*.network",
	"/etc/systemd/networkd.conf", "/etc/systemd/networkd.conf.d/*.conf", "/etc/udev/rules.d/*.rules", "/run/udev/rules.d/*.rules",
	"/usr/lib/systemd/system/systemd-sysctl.service", "/lib/systemd/system/systemd-sysctl.service", // systemd starts this machine
	"/etc/ufw/ufw.conf", "/etc/ufw/sysctl.conf", "/etc/default/ufw", "/etc/network/interfaces", "/etc/network/interfaces.d/*", "/etc/rc.local", "/etc/rc.d/rc.local", "/etc/tuned/active_profile", "/etc/tuned/tuned-main.conf",
	"/etc/tuned/*/tuned.conf", "/etc/tuned/profiles/*/tuned.conf", "/usr/lib/tuned/*/tuned.conf", "/usr/lib/tuned/profiles/*/tuned.conf",
}

// linuxWords are files that hold passwords and keys among the few lines that
// an audit wants: of them only lines that match one of the patterns (awk's, a
// comma between) are kept, without comments, and of those none that holds a
// secret.
var linuxWords = []struct{ path, words string }{
	{"/etc/NetworkManager/system-connections/*.nmconnection", nmWords},
	{"/etc/netplan/*.yaml", netplanWords}, {"/run/netplan/*.yaml", netplanWords}, {"/usr/lib/netplan/*.yaml", netplanWords}, {"/lib/netplan/*.yaml", netplanWords},
	{"/etc/sysconfig/network-scripts/ifcfg-*", "^ *DEVICE=,^ *MTU=,^ *ETHTOOL_OPTS="},
	// The keys at the margin tell what bootcmd is, and what runcmd.
	{"/etc/cloud/cloud.cfg.d/*.cfg", "^[a-z_]+: *(#.*)?$,sysctl,ethtool,/proc/sys/,/sys/class/net/,ip link,ifconfig "},
}

const (
	nmWords = "^ *[[],^ *interface-name *=,^ *mtu *=,^ *(ring|feature|coalesce|channels|pause)-[a-z0-9-]+ *="
	// netplanWords keep the keys that hold others, which the text's depth needs.
	netplanWords = ": *(#.*)?$,^ *mtu *:,-offload *:,[{].*(mtu|-offload) *:"
)

// linuxTrees are small files of /sys and /proc/irq.
var linuxTrees = []string{
	"/sys/class/net/*/address", "/sys/class/net/*/mtu", "/sys/class/net/*/operstate", "/sys/class/net/*/speed", "/sys/class/net/*/duplex", "/sys/class/net/*/flags",
	"/sys/class/net/*/type", "/sys/class/net/*/uevent", "/sys/class/net/*/tx_queue_len", "/sys/class/net/*/gro_flush_timeout", "/sys/class/net/*/napi_defer_hard_irqs",
	"/sys/class/net/*/threaded", "/sys/class/net/*/statistics/*", "/sys/class/net/*/queues/rx-*/rps_cpus", "/sys/class/net/*/queues/tx-*/tx_timeout",
	"/sys/class/net/*/brif/*/port_no", "/sys/class/net/*/bonding/slaves",
	"/sys/class/net/*/device/uevent", "/sys/class/net/*/device/vendor", "/sys/class/net/*/device/device", "/sys/class/net/*/device/subsystem_vendor",
	"/sys/class/net/*/device/subsystem_device", "/sys/class/net/*/device/class", "/sys/class/net/*/device/numa_node", "/sys/class/net/*/device/current_link_width",
	"/sys/class/net/*/device/max_link_width", "/sys/class/net/*/device/current_link_speed", "/sys/class/net/*/device/max_link_speed",
	"/sys/bus/virtio/devices/*/net/*/ifindex", "/sys/module/*/parameters/*", "/sys/devices/system/node/node*/cpulist", "/sys/devices/system/node/node*/meminfo",
	"/sys/devices/system/cpu/vulnerabilities/*", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
	"/sys/devices/system/clocksource/clocksource0/current_clocksource", "/sys/class/dmi/id/sys_vendor", "/sys/class/dmi/id/product_name",
	"/proc/irq/*/effective_affinity_list", "/proc/irq/*/smp_affinity_list",
}

// linuxSecrets are likewise.
var linuxSecrets = []struct{ path, why string }{
	{"/etc/shadow", "password hashes"}, {"/etc/wpa_supplicant/*.conf", "wireless keys"}, {"/etc/hostapd/*.conf", "wireless keys"}, {"/etc/ipsec.secrets", "keys"},
	{"/etc/swanctl/swanctl.conf", "keys"}, {"/etc/wireguard/*.conf", "private keys"}, {"/etc/openvpn/*", "keys"}, {"/etc/snmp/snmpd.conf", "community strings"},
	{"/etc/ppp/*-secrets", "passwords"}, {"/etc/ssh/*_key", "private keys"},
}

// Script is the capture script, whole: POSIX sh.
func Script() string {
	return strings.NewReplacer(
		"@REDACT@\n", redact,
		"@FREEBSD_QUERIES@", asks(fact.FreeBSD),
		"@FREEBSD_FILES@", quoteAll(freebsdFiles),
		"@FREEBSD_WORDS@", keeps(freebsdWords),
		"@FREEBSD_SECRETS@", leaves(freebsdSecrets),
		"@LINUX_QUERIES@", asks(fact.Linux),
		"@LINUX_TREES@", strings.Join(linuxTrees, " \\\n\t\t"),
		"@LINUX_FILES@", quoteAll(linuxFiles),
		"@LINUX_WORDS@", keeps(linuxWords),
		"@LINUX_SECRETS@", leaves(linuxSecrets),
	).Replace(template)
}

// longSettings are whole texts that `sysctl -a` prints among the values.
const longSettings = "kern.msgbuf kern.geom.confxml kern.geom.confdot kern.geom.conftxt"

// asks writes the queries of a system, each under what it is wanted for.
func asks(os string) string {
	var out strings.Builder
	for _, q := range host.Queries(os) {
		drop := ""
		if q.ID() == "sysctl-a" {
			drop = longSettings
		}
		wait := 30
		if q.Slow() {
			wait = 120
		}
		fmt.Fprintf(&out, "\t# %s\n\tdrop=%s wait=%d module=%s\n\task %s %s\n", q.Why(), quote(drop), wait, quote(q.Module()), q.ID(), quoteAll(q.Argv()))
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func keeps(files []struct{ path, words string }) string {
	var lines []string
	for _, f := range files {
		lines = append(lines, "\tsome "+quote(f.words)+" "+quote(f.path))
	}
	return strings.Join(lines, "\n")
}

func leaves(files []struct{ path, why string }) string {
	var lines []string
	for _, f := range files {
		lines = append(lines, "\tleave "+quote(f.path)+" "+quote(f.why))
	}
	return strings.Join(lines, "\n")
}

func quoteAll(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(w)
	}
	return strings.Join(quoted, " ")
}

// quote makes a word that the shell takes as it is.
func quote(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Run collects this machine into a file by running the script; out "-" means
// data, "" a file named after the host in the working directory. What the
// script says goes to talk.
func Run(ctx context.Context, out string, data, talk io.Writer) error {
	argv := []string{"-c", Script(), "capture"}
	if out != "" {
		argv = append(argv, "-o", out)
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", argv...)
	cmd.Stdout, cmd.Stderr = data, talk
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // its trap cleans up
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return fmt.Errorf("capture: the script ended with status %d", exit.ExitCode())
		}
		return fmt.Errorf("capture: %w", err)
	}
	return nil
}
