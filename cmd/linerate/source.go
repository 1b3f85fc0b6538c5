package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/assemble/hosts"
	"linerate/internal/calc"
	"linerate/internal/cli"
	"linerate/internal/fact"
	"linerate/internal/hint"
)

// source holds the flags by which a verb names the host it reads.
type source struct {
	hosts.Source
	memory string
}

// addFlags adds --root, --release and what a host over SSH needs to a verb.
func (s *source) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.Root, "root", "", "read the files of a host under this `DIR`")
	cmd.Flags().StringVar(&s.Release, "release", "", "the host's `RELEASE`, such as 14.3, where the files do not tell it")
	cmd.Flags().StringVar(&s.OS, "os", "", "freebsd or linux, if the files under --root do not identify it")
	cmd.Flags().StringVar(&s.memory, "memory", "", "the host's memory, such as `8GiB`, if the source does not contain it")
	cmd.Flags().IntVar(&s.CPUs, "cpus", 0, "the host's `N` logical CPUs, if the source does not contain them")
	cli.Share(cmd, "root", "release", "os", "memory", "cpus")
	s.Stdin = cmd.InOrStdin
	addRemoteFlags(cmd, &s.Remote)
}

// Open checks the flags that describe the host, and finds its reader.
func (s *source) Open(ctx context.Context, args []string) (*hosts.Opened, error) {
	if s.memory != "" {
		bytes, err := calc.ParseWithUnit(s.memory, calc.Bytes)
		if err != nil {
			return nil, hint.Usage(fmt.Errorf("--memory: %w", err))
		}
		if bytes < 1<<20 || bytes > 1<<50 {
			return nil, hint.Usagef("--memory %s: want 1MiB to 1PiB", s.memory)
		}
		s.Memory = uint64(bytes)
	}
	if s.CPUs < 0 || s.CPUs > 1<<16 {
		return nil, hint.Usagef("--cpus %d: want 1 to %d", s.CPUs, 1<<16)
	}
	return s.Source.Open(ctx, args)
}

// Facts inspects the source.
func (s *source) Facts(ctx context.Context, args []string) (*fact.Facts, error) {
	o, err := s.Open(ctx, args)
	if err != nil {
		return nil, err
	}
	defer o.Close()
	return o.Facts(ctx)
}

// remote holds the flags by which a verb reaches hosts over SSH.
type remote struct{ hosts.Remote }

func (r *remote) addFlags(cmd *cobra.Command) { addRemoteFlags(cmd, &r.Remote) }

func addRemoteFlags(cmd *cobra.Command, r *hosts.Remote) {
	f := cmd.Flags()
	f.StringVar(&r.Become, "become", "", "over SSH, become root with `sudo` or doas (without a password)")
	f.DurationVar(&r.Timeout, "timeout", 2*time.Minute, "time limit per host over SSH")
	addSSHConfig(cmd, &r.Config)
	cli.Share(cmd, "become", "timeout")
}
