// Package capture generates the script that captures a host in a bundle, and runs
// it on this machine. What the script queries and keeps is listed here, so that a
// host is read in the same way live, by script and from a bundle.
package capture

import (
	"context"
	_ "embed" // the script and its awk program
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"linerate/internal/apply/record"
	"linerate/internal/fact"
	"linerate/internal/fact/redact"
	"linerate/internal/host"
	"linerate/internal/knob"
	"linerate/internal/list"
)

//go:embed capture.sh
var template string

// freebsdSecrets lists files of secrets, which are never opened.
var freebsdSecrets = []struct{ path, why string }{
	{"/etc/master.passwd", "password hashes"}, {"/etc/spwd.db", "password hashes"}, {"/etc/wpa_supplicant.conf", "wireless keys"},
	{"/etc/hostapd.conf", "wireless keys"}, {"/etc/ppp/ppp.conf", "passwords"}, {"/usr/local/etc/mpd5/mpd.conf", "passwords"},
	{"/etc/ipsec.conf", "keys"}, {"/usr/local/etc/ipsec.secrets", "keys"}, {"/usr/local/etc/swanctl/swanctl.conf", "keys"}, {"/usr/local/etc/racoon/psk.txt", "keys"},
	{"/usr/local/etc/wireguard/*.conf", "private keys"}, {"/etc/wg*.conf", "private keys"}, {"/usr/local/etc/openvpn/*", "keys"}, {"/etc/snmpd.config", "community strings"},
	{"/usr/local/etc/snmp/snmpd.conf", "community strings"}, {"/etc/ssh/*_key", "private keys"}, {"/etc/bluetooth/hcsecd.conf", "keys"}, {"/boot/keys", "keys of disks"},
}

// linuxTrees lists small files of /sys and /proc/irq.
var linuxTrees = []string{
	"/sys/class/net/*/address", "/sys/class/net/*/mtu", "/sys/class/net/*/operstate", "/sys/class/net/*/speed", "/sys/class/net/*/duplex", "/sys/class/net/*/flags",
	"/sys/class/net/*/type", "/sys/class/net/*/uevent", "/sys/class/net/*/tx_queue_len", "/sys/class/net/*/gro_flush_timeout", "/sys/class/net/*/napi_defer_hard_irqs",
	"/sys/class/net/*/threaded", "/sys/class/net/*/statistics/*", "/sys/class/net/*/queues/rx-*/rps_cpus", "/sys/class/net/*/queues/tx-*/tx_timeout",
	"/sys/class/net/*/brif/*/port_no", "/sys/class/net/*/bonding/slaves",
	"/sys/class/net/*/device/uevent", "/sys/class/net/*/device/vendor", "/sys/class/net/*/device/device", "/sys/class/net/*/device/subsystem_vendor",
	"/sys/class/net/*/device/subsystem_device", "/sys/class/net/*/device/class", "/sys/class/net/*/device/numa_node", "/sys/class/net/*/device/current_link_width",
	"/sys/class/net/*/device/max_link_width", "/sys/class/net/*/device/current_link_speed", "/sys/class/net/*/device/max_link_speed",
	"/sys/bus/virtio/devices/*/net/*/ifindex", "/sys/module/*/parameters/*", "/sys/devices/system/node/node*/cpulist", "/sys/devices/system/node/node*/meminfo",
	"/sys/devices/system/cpu/vulnerabilities/*", "/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor",
	"/sys/devices/system/cpu/cpu0/cpuidle/state*/name", "/sys/devices/system/cpu/cpu0/cpuidle/state*/latency", "/sys/devices/system/cpu/cpu0/cpuidle/state*/disable", "/sys/kernel/iommu_groups/0/type",
	"/sys/devices/system/clocksource/clocksource0/current_clocksource", "/sys/class/dmi/id/sys_vendor", "/sys/class/dmi/id/product_name",
	"/proc/irq/*/effective_affinity_list", "/proc/irq/*/smp_affinity_list",
}

// linuxSecrets lists files of secrets, which are never opened.
var linuxSecrets = []struct{ path, why string }{
	{"/etc/shadow", "password hashes"}, {"/etc/wpa_supplicant/*.conf", "wireless keys"}, {"/etc/hostapd/*.conf", "wireless keys"}, {"/etc/ipsec.secrets", "keys"},
	{"/etc/swanctl/swanctl.conf", "keys"}, {"/etc/wireguard/*.conf", "private keys"}, {"/etc/openvpn/*", "keys"}, {"/etc/snmp/snmpd.conf", "community strings"},
	{"/etc/ppp/*-secrets", "passwords"}, {"/etc/ssh/*_key", "private keys"},
}

// Script returns the complete capture script, in POSIX sh.
func Script() string { return script() }

var script = sync.OnceValue(func() string {
	return strings.NewReplacer(
		"@KEEP@\n", redact.Awk(),
		"@KNOB@\n", knob.Reading,
		"@RECORD@\n", record.Script,
		"@MACHINE_ID@\n", fact.MachineIDScript+"\n",
		"@FREEBSD_QUERIES@", asks(fact.FreeBSD),
		"@FREEBSD_FILES@", takes(redact.FreeBSD),
		"@FREEBSD_SECRETS@", leaves(freebsdSecrets),
		"@LINUX_QUERIES@", asks(fact.Linux),
		"@LINUX_TREES@", strings.Join(linuxTrees, " \\\n\t\t"),
		"@LINUX_FILES@", takes(redact.Linux),
		"@LINUX_SECRETS@", leaves(linuxSecrets),
	).Replace(template)
})

// asks writes the queries of a system, each with its purpose.
func asks(os string) string {
	var out strings.Builder
	for _, q := range host.Queries(os) {
		wait := 30
		if q.Slow() {
			wait = 120
		}
		only := ""
		if q.File() != "" {
			only = "[ ! -r " + host.Word(q.File()) + " ] || "
		}
		fmt.Fprintf(&out, "\t# %s\n\twait=%d module=%s\n\t%sask %s %s %s\n", q.Why(), wait, host.Word(q.Module()), only, redact.KindOfAnswer(q.String()), q.ID(), strings.Join(list.Map(q.Argv(), host.Word), " "))
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// takes writes the files of a system, one line per kind.
func takes(sources []redact.Source) string {
	var lines []string
	for from := 0; from < len(sources); {
		to := from
		var patterns []string
		for ; to < len(sources) && sources[to].Kind == sources[from].Kind; to++ {
			patterns = append(patterns, strings.ReplaceAll(host.Word(sources[to].Pattern), "/lib/modules/*/", "/lib/modules/'$(uname -r)'/"))
		}
		lines = append(lines, "\ttake "+sources[from].Kind+" "+strings.Join(patterns, " "))
		from = to
	}
	return strings.Join(lines, "\n")
}

func leaves(files []struct{ path, why string }) string {
	return strings.Join(list.Map(files, func(f struct{ path, why string }) string {
		return "\tleave " + host.Word(f.path) + " " + host.Word(f.why)
	}), "\n")
}

// Run captures this machine in a file by running the script; out "-" means data, "" a file named
// after the host in the working directory. The script's messages go to talk.
func Run(ctx context.Context, out string, data, talk io.Writer) error {
	argv := []string{"-s", "--"}
	if out != "" {
		argv = append(argv, "-o", out)
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", argv...)
	cmd.Stdin = strings.NewReader(Script()) // may exceed the limit of an argument
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
