package knob

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"linerate/internal/setting"
)

// Target is a vnet jail in which settings are applied.
type Target struct {
	// Run runs a tool of the base system in the jail, with an input or "",
	// and returns its output.
	Run func(ctx context.Context, input string, argv ...string) (string, error)
	// Devices maps a setting's device role ("ingress", "egress") to an
	// interface name.
	Devices map[string]string
	// Host applies settings that are global to the kernel; nil refuses them
	// (see HostSysctls).
	Host *HostSysctls
	// RouteSocket opens a routing socket in the jail (OpenRouteSocket); nil:
	// large routing tables are unavailable.
	RouteSocket func() (*os.File, error)
}

// Apply applies one setting and returns a note for the report. A
// *testbed.ErrUnavailable means that this kernel, jail or machine does not
// support it; any other error means that the setting is invalid or failed.
func (t *Target) Apply(ctx context.Context, s setting.Setting) (note string, err error) {
	switch s.Mechanism {
	case setting.Sysctl:
		return t.sysctl(ctx, s)
	case setting.Firewall:
		return t.firewall(ctx, s)
	case setting.Link:
		return t.link(ctx, s)
	case setting.Routes:
		return t.routes(ctx, s)
	case setting.Forward:
		return t.forward(ctx, s)
	case setting.Command:
		_, err := t.Run(ctx, "", s.Argv...)
		return "", err
	}
	return "", unavailable(s, "%s", Never(s))
}

// sysctl writes a variable of the jail's network stack; one that jails cannot
// write goes to the journalled host settings.
func (t *Target) sysctl(ctx context.Context, s setting.Setting) (string, error) {
	if _, err := t.Run(ctx, "", "/sbin/sysctl", "-n", "--", s.Name); err != nil {
		return "", unavailable(s, "this kernel has no such sysctl (%s)", reason(err))
	}
	said, err := t.Run(ctx, "", "/sbin/sysctl", "--", s.Name+"="+s.Value)
	switch {
	case err == nil:
		return afterWrite(said, s.Value).outcome(s)
	case strings.Contains(err.Error(), "Operation not permitted"):
		return t.Host.global(s)
	}
	return "", unavailable(s, "the kernel does not take it (%s)", reason(err))
}

// afterWrite parses the output of sysctl(8) for a write: the old and the new value.
func afterWrite(said, value string) written {
	before, after, ok := wasAndIs(said)
	return written{before: before, asked: folded(value), after: after, blind: !ok}
}

// sysctlTool runs the base system's sysctl(8), which knows every variable's type.
func sysctlTool(argument ...string) (string, error) {
	out, err := exec.Command("/sbin/sysctl", argument...).CombinedOutput()
	said := strings.TrimSpace(string(out))
	if err != nil {
		return "", fmt.Errorf("sysctl: %s: %w", strings.TrimPrefix(said, "sysctl: "), err)
	}
	return said, nil
}

func readHost(name string) (string, error) { return sysctlTool("-n", "--", name) }

func writeHost(name, value string) (written, error) {
	said, err := sysctlTool("--", name+"="+value)
	if err != nil {
		return written{}, err
	}
	return afterWrite(said, value), nil
}

// link sets an interface's MTU or one of ifconfig(8)'s flags: on, or off with
// a dash before its name.
func (t *Target) link(ctx context.Context, s setting.Setting) (string, error) {
	device, ok := t.Devices[s.Device]
	if !ok {
		return "", fmt.Errorf("unknown device %q: a variant sets ingress or egress", s.Device)
	}
	argv := []string{"/sbin/ifconfig", device}
	switch {
	case s.Name == "mtu":
		argv = append(argv, "mtu", s.Value)
	case s.Value == "on":
		argv = append(argv, s.Name)
	case s.Value == "off":
		argv = append(argv, "-"+s.Name)
	default:
		return "", unavailable(s, "ifconfig has no such property")
	}
	if _, err := t.Run(ctx, "", argv...); err != nil {
		return "", unavailable(s, "%s", reason(err))
	}
	return "", nil
}
