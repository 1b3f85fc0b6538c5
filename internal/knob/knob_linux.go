package knob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"linerate/internal/port"
	"linerate/internal/setting"
	"linerate/internal/testbed"
)

// Target is a network namespace in which settings are applied.
type Target struct {
	In    port.Place // inside the namespace
	InSys port.Place // inside it, with /sys showing its devices
	// Devices maps a setting's device role ("ingress", "egress") to an
	// interface name.
	Devices map[string]string
	// Spare are the CPUs that the DUT may use.
	Spare []int
	// Host applies settings that are global to the kernel; nil refuses them
	// (see HostSysctls).
	Host *HostSysctls
}

// Apply applies one setting and returns a note for the report. A
// *testbed.ErrUnavailable means that this kernel, namespace or machine does not
// support it; any other error means that the setting is invalid or failed.
func (t *Target) Apply(ctx context.Context, s setting.Setting) (note string, err error) {
	switch s.Mechanism {
	case setting.Sysctl:
		return t.sysctl(s)
	case setting.NFT:
		return t.nft(ctx, s.Rules)
	case setting.Firewall:
		return t.firewall(ctx, s)
	case setting.Routes:
		return t.routes(ctx, s)
	case setting.Forward:
		return t.forward(s)
	case setting.CPUs:
		return t.spread(s)
	case setting.PolicyRules:
		return t.policyRules(s)
	case setting.Route:
		return "", t.In(func() error { return addRoute(s, t.Devices) })
	case setting.Link:
		return "", t.link(s)
	case setting.NAPI:
		return "", t.napi(s)
	case setting.Command:
		return "", t.command(ctx, s)
	}
	return "", fmt.Errorf("unknown mechanism %q of a setting", s.Mechanism)
}

// device resolves a role to an interface; a real interface name is returned unchanged.
func (t *Target) device(role string) (string, error) {
	if d, ok := t.Devices[role]; ok {
		return d, nil
	}
	for _, d := range t.Devices {
		if d == role {
			return d, nil
		}
	}
	return "", fmt.Errorf("unknown device %q: a variant sets ingress or egress", role)
}

// helped adds help to an error, if it says that something is unavailable.
func helped(err error, help string) error {
	var un *testbed.ErrUnavailable
	if errors.As(err, &un) {
		un.Help = help
	}
	return err
}

// command runs an argument vector inside the namespace; no shell is involved.
func (t *Target) command(ctx context.Context, s setting.Setting) error {
	if len(s.Argv) == 0 {
		return errors.New("a command setting has no arguments")
	}
	path, err := exec.LookPath(s.Argv[0])
	if err != nil {
		return helped(unavailable(s, "%s is not installed", s.Argv[0]), "install it")
	}
	if said, err := execute(ctx, t.InSys, "", path, s.Argv[1:]...); err != nil {
		return fmt.Errorf("%v failed: %w: %s", s.Argv, err, said)
	}
	return nil
}

// execute runs a program in a place with an input, and returns its output.
func execute(ctx context.Context, in port.Place, input, path string, args ...string) (said string, err error) {
	var out bytes.Buffer
	err = in(func() error {
		cmd := exec.CommandContext(ctx, path, args...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &out
		return cmd.Run()
	})
	return strings.TrimSpace(out.String()), err
}
