package main

import (
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/assemble/hosts"
)

// sourceUse is how every verb that reads a host shows its argument.
const sourceUse = "[SOURCE]"

// sourceHelp is the paragraph on SOURCE in those verbs' help.
const sourceHelp = `SOURCE is what to read: nothing for this machine, ssh://[user@]host[:port] for
another (sh and its base system are all it needs; keys, agent, ~/.ssh/config and
known_hosts as ssh(1) has them), the file of a capture bundle (linerate capture),
or --root DIR with --release R for a directory that holds a host's etc/ and boot/.`

// source holds the flags by which a verb names the host it reads.
type source struct{ hosts.Source }

// addFlags adds --root, --release and what a host over SSH needs to a verb.
func (s *source) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.Root, "root", "", "read the files of a host under this `DIR`")
	cmd.Flags().StringVar(&s.Release, "release", "", "the host's `RELEASE`, such as 14.3 (needed with --root)")
	cmd.Flags().StringVar(&s.OS, "os", "", "freebsd or linux, where the files under --root do not tell")
	addRemoteFlags(cmd, &s.Remote)
}

// remote holds the flags by which a verb reaches hosts over SSH.
type remote struct{ hosts.Remote }

func (r *remote) addFlags(cmd *cobra.Command) {
	addRemoteFlags(cmd, &r.Remote)
}

func addRemoteFlags(cmd *cobra.Command, r *hosts.Remote) {
	f := cmd.Flags()
	f.StringVar(&r.Become, "become", "", "over SSH, look as root by way of `sudo` or doas (without a password)")
	f.DurationVar(&r.Timeout, "timeout", 2*time.Minute, "give up on a host over SSH after this long")
	f.StringVar(&r.Config, "ssh-config", "", "read this `FILE` instead of ~/.ssh/config")
	r.Talk = cmd.ErrOrStderr
}
