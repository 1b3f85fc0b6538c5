package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/apply"
	"linerate/internal/assemble/hosts"
	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/host/localhost"
	"linerate/internal/host/sshhost"
)

// target holds the flags by which a verb names the host it changes.
type target struct{ remote }

// machine reaches the host that args name; close it.
func (t *target) machine(args []string) (apply.Machine, func() error, error) {
	m, r, err := t.reach(args)
	if err != nil {
		return nil, nil, err
	}
	return m, r.Close, nil
}

// reach is the host that args name, and what runs scripts there; close that.
func (t *target) reach(args []string) (apply.Machine, host.Runner, error) {
	if len(args) == 0 {
		r := &localhost.Runner{}
		return apply.On(r), r, nil
	}
	if !hosts.IsRemote(args[0]) {
		return nil, nil, hint.With(hint.Usagef("%q is no host", args[0]), "name it as ssh://user@host, or leave it out for this machine")
	}
	if _, err := sshhost.ParseTarget(args[0]); err != nil {
		return nil, nil, err
	}
	r := t.Runner(args[0])
	return apply.On(r), r, nil
}

// fresh is the check that the host can still be reached by a connection that
// did not exist before the change; none for this machine.
func (t *target) fresh(args []string) []apply.Check {
	if len(args) == 0 {
		return nil
	}
	return []apply.Check{t.Fresh(args[0])}
}

// checkTimeout bounds a try of a check, unless somebody says otherwise.
const checkTimeout = 5 * time.Second

// parseChecks reads --check.
func parseChecks(texts, args []string) ([]apply.Check, error) {
	var about apply.CheckedHost
	if len(args) > 0 {
		about = apply.CheckedHost{Name: args[0], Source: args[0]}
	}
	var checks []apply.Check
	for _, text := range texts {
		c, err := apply.ParseCheck(text, about, checkTimeout)
		if err != nil {
			return nil, err
		}
		checks = append(checks, c)
	}
	return checks, nil
}

// onTarget makes a verb that does something to a host in a state.
func onTarget(path string, do func(cmd *cobra.Command, m apply.Machine, st apply.Status) error) *cobra.Command {
	t := &target{}
	cmd := verb(path, cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error {
		m, closer, err := t.machine(args)
		if err != nil {
			return err
		}
		defer func() { _ = closer() }()
		st, err := m.Status(cmd.Context())
		if err != nil {
			return err
		}
		return do(cmd, m, st)
	})
	t.addFlags(cmd)
	return cmd
}

func notRoot(m apply.Machine) error {
	return hint.With(fmt.Errorf("changing %s needs root", m.Where()), "run it with sudo or doas; over SSH: --become sudo")
}
