package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/apply"
	"linerate/internal/assemble"
	"linerate/internal/assemble/hosts"
	"linerate/internal/audit"
	"linerate/internal/calc"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/host/localhost"
	"linerate/internal/ledger"
)

// The flags that several verbs share; docs/reference/flags.md describes them.

func addLedgerFlag(cmd *cobra.Command, at *string) {
	cmd.Flags().StringVar(at, "ledger", "", "ledger: a file, postgres://… or none (default: LINERATE_LEDGER, else your state directory)")
	cli.Share(cmd, "ledger")
}

// reading returns a verb that reads a ledger and prints a document.
func reading(path string, args cobra.PositionalArgs, f func(cmd *cobra.Command, s ledger.Reader, args []string) error) *cobra.Command {
	var at string
	cmd := verb(path, args, func(cmd *cobra.Command, args []string) error {
		return assemble.ReadLedger(cmd.Context(), at, func(s ledger.Reader) error { return f(cmd, s, args) })
	})
	addLedgerFlag(cmd, &at)
	cli.JSONFlag(cmd)
	return cmd
}

// addLabFlags adds the flags of all verbs that run trials on a testbed.
func addLabFlags(cmd *cobra.Command, o *assemble.Options) {
	cmd.Flags().StringVar(&o.Engine, "engine", "auto", "traffic engine of this machine's lab: auto, xdp or af_packet")
	cmd.Flags().BoolVar(&o.AllowHost, "allow-host-settings", false, "let variants change settings that are global to the kernel; they are journalled and restored")
	cli.Share(cmd, "engine", "allow-host-settings")
	addSSHConfig(cmd, &o.SSHConfig)
}

func addSSHConfig(cmd *cobra.Command, config *string) {
	cmd.Flags().StringVar(config, "ssh-config", "", "read this `FILE` instead of ~/.ssh/config")
	cli.Share(cmd, "ssh-config")
}

// source holds the flags that name the host to read.
type source struct{ hosts.Source }

// addFlags adds --root, --release and the flags for a host over SSH.
func (s *source) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.Root, "root", "", "read the files of a host under this `DIR`")
	cmd.Flags().StringVar(&s.Release, "release", "", "the host's `RELEASE`, such as 14.3, where the files do not tell it")
	cmd.Flags().StringVar(&s.OS, "os", "", "freebsd or linux, if the files under --root do not identify it")
	cmd.Flags().Func("memory", "the host's memory, such as `8GiB`, if the source does not contain it", s.setMemory)
	cmd.Flags().IntVar(&s.CPUs, "cpus", 0, "the host's `N` logical CPUs, if the source does not contain them")
	cli.Share(cmd, "root", "release", "os", "memory", "cpus")
	s.Stdin = cmd.InOrStdin
	addRemoteFlags(cmd, &s.Remote)
}

func (s *source) setMemory(text string) error {
	bytes, err := calc.ParseWithUnit(text, calc.Bytes)
	if err == nil && (bytes < 1<<20 || bytes > 1<<50) {
		err = fmt.Errorf("%s: want 1MiB to 1PiB", text)
	}
	s.Memory = uint64(bytes)
	return err
}

// addRemoteFlags adds the flags for access to hosts over SSH.
func addRemoteFlags(cmd *cobra.Command, r *hosts.Remote) {
	f := cmd.Flags()
	f.StringVar(&r.Become, "become", "", "over SSH, become root with `sudo` or doas (without a password)")
	f.DurationVar(&r.Timeout, "timeout", 2*time.Minute, "time limit per host over SSH")
	addSSHConfig(cmd, &r.Config)
	cli.Share(cmd, "become", "timeout")
}

// target holds the flags for access to the host to change.
type target struct{ hosts.Remote }

func (t *target) addFlags(cmd *cobra.Command) { addRemoteFlags(cmd, &t.Remote) }

// reach returns the machine that args name, and its runner, which the caller closes.
func (t *target) reach(args []string) (apply.Machine, host.Runner, error) {
	r := host.Runner(&localhost.Runner{})
	if len(args) > 0 {
		if err := hosts.CheckRemote(args[0]); err != nil {
			return nil, nil, err
		}
		r = t.Runner(args[0])
	}
	return apply.On(r), r, nil
}

// fresh returns a check that a new connection to the host still succeeds; for this machine it
// returns none.
func (t *target) fresh(args []string) []apply.Check {
	if len(args) == 0 {
		return nil
	}
	return []apply.Check{t.Fresh(args[0])}
}

// checkTimeout is the default time limit of one try of a check.
const checkTimeout = 5 * time.Second

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

// onTarget returns a verb that acts on a host, given the state of its changes.
func onTarget(path string, t *target, do func(cmd *cobra.Command, m apply.Machine, st apply.Status) error) *cobra.Command {
	cmd := verb(path, cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error {
		m, conn, err := t.reach(args)
		if err != nil {
			return err
		}
		defer conn.Close()
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

// parseSeverity parses the severity given to a flag; "" stays "".
func parseSeverity(flag, text string) (audit.Severity, error) {
	if text == "" {
		return "", nil
	}
	var known []string
	for _, s := range audit.Severities() {
		if string(s) == text {
			return s, nil
		}
		known = append(known, string(s))
	}
	return "", hint.Unknown("severity for "+flag, text, known)
}
