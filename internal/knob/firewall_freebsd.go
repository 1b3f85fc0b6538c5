package knob

import (
	"context"
	"os"

	"linerate/internal/setting"
)

// firewall loads a packet filter with pf(4) or ipfw(4): the requested one,
// else pf if the kernel has it.
func (t *Target) firewall(ctx context.Context, s setting.Setting) (string, error) {
	r := s.Rules
	if r == nil {
		return "", unavailable(s, "it says nothing")
	}
	by := r.By
	if by == "" {
		by = setting.ByPF
		if !exists("/dev/pf") {
			by = setting.ByIPFW
		}
	}
	switch {
	case r.MapElements > 0:
		return "", unavailable(s, "maps from addresses to verdicts are nftables', of Linux")
	case by == setting.ByPF:
		return t.pf(ctx, s)
	case by == setting.ByIPFW:
		return t.ipfw(ctx, s)
	}
	return "", unavailable(s, "%s is Linux's; FreeBSD has %s and %s", by, setting.ByPF, setting.ByIPFW)
}

func (t *Target) pf(ctx context.Context, s setting.Setting) (string, error) {
	if !exists("/dev/pf") {
		return "", unavailable(s, "this kernel has no pf: kldload pf")
	}
	// With optimisation, pfctl would combine consecutive rules into one table.
	level := "none"
	if s.Rules.Optimise {
		level = "basic"
	}
	if _, err := t.Run(ctx, PFRules(*s.Rules), "/sbin/pfctl", "-q", "-o", level, "-f", "-"); err != nil {
		return "", err
	}
	if table := PFTable(*s.Rules); table != "" {
		if _, err := t.Run(ctx, table, "/sbin/pfctl", "-q", "-t", "never", "-T", "add", "-f", "-"); err != nil {
			return "", err
		}
	}
	_, err := t.Run(ctx, "", "/sbin/pfctl", "-q", "-e")
	return "loaded by pf", err
}

func (t *Target) ipfw(ctx context.Context, s setting.Setting) (string, error) {
	if _, err := t.Run(ctx, "", "/sbin/sysctl", "-n", "net.inet.ip.fw.enable"); err != nil {
		return "", unavailable(s, "this kernel has no ipfw: kenv net.inet.ip.fw.default_to_accept=1; kldload ipfw")
	}
	if s.Rules.Optimise {
		return "", unavailable(s, "ipfw does not merge rules")
	}
	if _, err := t.Run(ctx, IPFWRules(*s.Rules), "/sbin/ipfw", "-q", "/dev/stdin"); err != nil {
		return "", err
	}
	_, err := t.Run(ctx, "", "/sbin/sysctl", "net.inet.ip.fw.enable=1")
	if err == nil {
		_, _ = t.Run(ctx, "", "/sbin/sysctl", "net.inet6.ip6.fw.enable=1") // a kernel without IPv6 lacks it
	}
	return "loaded by ipfw", err
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }
