// Package apply applies a plan to a host, and reverts it unless it is confirmed
// in time. One POSIX sh script, the agent, changes the host, this machine or a
// remote one; this package decides what to change, checks what the agent reads
// back, and asks the user.
// docs/design/apply.md has the state machine and its reasons.
package apply

import (
	"bytes"
	"context"
	_ "embed" // agent.sh
	"errors"
	"fmt"
	"strings"

	"linerate/internal/appliance"
	"linerate/internal/apply/record"
	"linerate/internal/fact"
	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/knob"
)

//go:embed agent.sh
var agent string

// Agent returns the complete script that runs on a host; its last line calls main.
func Agent() string { return Script("") }

// Script returns the agent with shell text inserted before its last line: benchmarks and tests
// inject faults by functions that override commands.
func Script(before string) string {
	return "#!/bin/sh\n" + knob.Script + record.Script + fact.MachineIDScript + agent + products() + before + "\nmain \"$@\"\n"
}

// products returns the shell function with which a host recognises that it is an appliance: by
// files that only the product has.
func products() string {
	var b strings.Builder
	b.WriteString("products() { for tell in")
	all, _ := appliance.Products() // a test reads them
	for _, p := range all {
		for _, f := range p.Tells {
			fmt.Fprintf(&b, " %s:%s", f, p.Name)
		}
	}
	b.WriteString("; do [ ! -e \"$ROOT${tell%:*}\" ] || say \"product ${tell##*:}\"; done; }\n")
	return b.String()
}

// Machine is a host as apply sees it: it can be read, and changed by a journal. The implementations
// are that of On and its decorator DryRun.
type Machine interface {
	// Hello identifies the host and reports whether something is pending.
	Hello(ctx context.Context) (Identity, error)
	// Look returns the current settings and files. A key's name may be a pattern made by
	// knob.Companions.
	Look(ctx context.Context, keys []knob.Key, files []string) (Snapshot, error)
	// Reach reports which default gateways answer, by address.
	Reach(ctx context.Context) (map[string]bool, error)
	// Status returns what is pending, the history and the drift.
	Status(ctx context.Context) (Status, error)
	// Apply writes the journal, arms the switch, makes the changes, and returns the ID and the
	// values read back. If it fails the host is unchanged.
	Apply(ctx context.Context, t Transaction) (id string, after map[knob.Key]string, err error)
	// Ready marks the applied change as good: it can be confirmed.
	Ready(ctx context.Context) error
	// Confirm makes the pending change permanent; digest may be "".
	Confirm(ctx context.Context, digest string) (string, error)
	// Revert reverts the pending change; id may be "any".
	Revert(ctx context.Context, id, why string) (string, error)
	// Rollback reverts the last confirmed transaction.
	Rollback(ctx context.Context, id string) (string, error)
	// Reboot reboots the host to try what was applied with Trial.
	Reboot(ctx context.Context) error
	// Where names the host for the user.
	Where() string
}

// On returns the Machine behind a Runner.
func On(r host.Runner) Machine { return &machine{r, Agent()} }

// OnWith is like On, with another text of the agent (see Script).
func OnWith(r host.Runner, script string) Machine { return &machine{r, script} }

type machine struct {
	host.Runner
	script string
}

func (m *machine) ask(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	out, err := m.Run(ctx, m.script, args, stdin)
	if err != nil {
		return out, fmt.Errorf("%s: %w", m.Where(), err)
	}
	return out, nil
}

// change installs the agent, then runs one of its commands. A command that leaves nothing pending
// removes the agent.
func (m *machine) change(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	if _, err := m.ask(ctx, []byte(m.script), "install"); err != nil {
		return nil, err
	}
	return m.ask(ctx, stdin, args...)
}

func (m *machine) Hello(ctx context.Context) (Identity, error) {
	out, err := m.ask(ctx, nil, "hello")
	if err != nil {
		return Identity{}, err
	}
	return parseIdentity(out)
}

func (m *machine) Look(ctx context.Context, keys []knob.Key, files []string) (Snapshot, error) {
	var b bytes.Buffer
	for _, k := range keys {
		fmt.Fprintf(&b, "%s %s %s\n", k.Mechanism, dash(k.Device), k.Name)
	}
	for _, f := range files {
		fmt.Fprintf(&b, "file - %s\n", f)
	}
	out, err := m.ask(ctx, b.Bytes(), "look")
	if err != nil {
		return Snapshot{}, err
	}
	return parseSnapshot(out)
}

func (m *machine) Reach(ctx context.Context) (map[string]bool, error) {
	out, err := m.ask(ctx, nil, "reach")
	if err != nil {
		return nil, err
	}
	gateways := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "gateway" {
			gateways[f[1]] = f[2] == "yes"
		}
	}
	return gateways, nil
}

func (m *machine) Status(ctx context.Context) (Status, error) {
	out, err := m.ask(ctx, nil, "status")
	if err != nil {
		return Status{}, err
	}
	st, err := parseStatus(out)
	if err == nil && st.State == "unreadable" {
		return st, hint.With(fmt.Errorf("%s: only root can see what linerate applied", m.Where()), "run it with sudo or doas, or log in as root")
	}
	return st, err
}

func (m *machine) Apply(ctx context.Context, t Transaction) (string, map[knob.Key]string, error) {
	kind := "now"
	if t.Trial {
		kind = "trial"
	}
	out, err := m.change(ctx, t.Journal(), "apply", kind)
	if err != nil {
		return "", nil, err
	}
	s, err := parseSnapshot(out)
	return s.id, s.Values, err
}

func (m *machine) Ready(ctx context.Context) error {
	_, err := m.ask(ctx, nil, "ready")
	return err
}

func (m *machine) Confirm(ctx context.Context, digest string) (string, error) {
	return trimmed(m.ask(ctx, nil, "confirm", digest))
}

func (m *machine) Revert(ctx context.Context, id, why string) (string, error) {
	return trimmed(m.ask(ctx, nil, "revert", id, why))
}

func (m *machine) Rollback(ctx context.Context, id string) (string, error) {
	return trimmed(m.change(ctx, nil, "rollback", id))
}

func (m *machine) Reboot(ctx context.Context) error {
	_, err := m.ask(ctx, nil, "reboot")
	return err
}

func trimmed(out []byte, err error) (string, error) { return strings.TrimSpace(string(out)), err }

// dash returns "-" for an empty device in the agent's lines.
func dash(device string) string {
	if device == "" {
		return "-"
	}
	return device
}

// errDryRun aborts a run before its first change.
var errDryRun = errors.New("dry run")

// dryRun is a Machine that reads the host but changes nothing.
type dryRun struct {
	Machine
	would func(Transaction)
}

// DryRun returns m without the ability to change: it passes what would be applied to would, and
// writes nothing on the host.
func DryRun(m Machine, would func(Transaction)) Machine { return dryRun{m, would} }

func (d dryRun) Apply(_ context.Context, t Transaction) (string, map[knob.Key]string, error) {
	d.would(t)
	return "", nil, errDryRun
}

func (d dryRun) Ready(context.Context) error                            { return errDryRun }
func (d dryRun) Confirm(context.Context, string) (string, error)        { return "", errDryRun }
func (d dryRun) Revert(context.Context, string, string) (string, error) { return "", errDryRun }
func (d dryRun) Rollback(context.Context, string) (string, error)       { return "", errDryRun }
func (d dryRun) Reboot(context.Context) error                           { return errDryRun }
