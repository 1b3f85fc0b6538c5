package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/host/bundlehost"
	"linerate/internal/host/localhost"
	"linerate/internal/host/sshhost"
	"linerate/internal/host/treehost"
	"linerate/internal/inspect"
)

// sourceUse is how every verb that reads a host shows its argument.
const sourceUse = "[SOURCE]"

// sourceHelp is the paragraph on SOURCE in those verbs' help.
const sourceHelp = `SOURCE is what to read: nothing for this machine, ssh://[user@]host[:port] for
another (sh and its base system are all it needs; keys, agent, ~/.ssh/config and
known_hosts as ssh(1) has them), the file of a capture bundle (linerate capture),
or --root DIR with --release R for a directory that holds a host's etc/ and boot/.`

// source holds the flags by which a verb names the host it reads.
type source struct {
	root    string
	release string
	os      string
	remote
}

// addFlags adds --root, --release and what a host over SSH needs to a verb.
func (s *source) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.root, "root", "", "read the files of a host under this `DIR`")
	cmd.Flags().StringVar(&s.release, "release", "", "the host's `RELEASE`, such as 14.3 (needed with --root)")
	cmd.Flags().StringVar(&s.os, "os", "", "freebsd or linux, where the files under --root do not tell")
	s.remote.addFlags(cmd)
}

// facts reads the host that args and flags name.
func (s *source) facts(ctx context.Context, args []string) (*fact.Facts, error) {
	opts, err := s.options()
	if err != nil {
		return nil, err
	}
	reader, err := s.open(ctx, args)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	return inspect.Host(ctx, reader, opts)
}

// options checks the release.
func (s *source) options() (inspect.Options, error) {
	if s.os != "" && s.os != fact.FreeBSD && s.os != fact.Linux {
		return inspect.Options{}, hint.Usage(hint.Unknown("system", s.os, []string{fact.FreeBSD, fact.Linux}))
	}
	if s.release == "" {
		return inspect.Options{OS: s.os}, nil
	}
	r, err := release.Parse(s.release)
	if err != nil {
		return inspect.Options{}, hint.With(hint.Usage(err), "give it as --release 14.3 or 14.3-RELEASE")
	}
	return inspect.Options{Release: r, OS: s.os}, nil
}

// openTree opens a tree with a release, or one that tells its own: an
// extracted sos report, or a copy of /proc.
func openTree(dir, release string) (host.Reader, error) {
	tree, err := treehost.Open(dir)
	if err != nil || release != "" || tree.Tells() {
		return tree, err
	}
	tree.Close()
	return nil, hint.With(hint.Usagef("--root %s needs --release", dir), "files do not say which release reads them: add --release 14.3")
}

// open finds the reader for the one source named.
func (s *source) open(ctx context.Context, args []string) (host.Reader, error) {
	switch {
	case s.root != "" && len(args) > 0:
		return nil, hint.With(hint.Usagef("both SOURCE %q and --root %s given", args[0], s.root), "one host at a time: leave one out")
	case s.root != "":
		return openTree(s.root, s.release)
	case len(args) > 0 && isRemote(args[0]):
		return s.remote.open(ctx, args[0])
	case len(args) > 0:
		return openBundle(args[0])
	}
	return openThisHost()
}

// isRemote tells a host over SSH from the name of a file.
func isRemote(arg string) bool { return strings.HasPrefix(arg, sshhost.Scheme) }

// openBundle and openThisHost are the implementations a source can have.
func openBundle(path string) (host.Reader, error) { return bundlehost.Open(path) }

func openThisHost() (host.Reader, error) { return localhost.New(), nil }
