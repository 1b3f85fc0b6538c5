package hosts

import (
	"context"
	"strings"

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

// Source is the host to read: this machine, where nothing else is named.
type Source struct {
	Root    string // a directory with a host's files
	Release string // of the host whose files they are
	OS      string // theirs, where the files do not tell
	Remote
}

// Facts reads the host that args and the source name.
func (s *Source) Facts(ctx context.Context, args []string) (*fact.Facts, error) {
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
func (s *Source) options() (inspect.Options, error) {
	if s.OS != "" && s.OS != fact.FreeBSD && s.OS != fact.Linux {
		return inspect.Options{}, hint.Usage(hint.Unknown("system", s.OS, []string{fact.FreeBSD, fact.Linux}))
	}
	if s.Release == "" {
		return inspect.Options{OS: s.OS}, nil
	}
	r, err := release.ParseGiven(s.Release)
	if err != nil {
		return inspect.Options{}, hint.With(hint.Usage(err), "give it as --release 14.3 or 14.3-RELEASE; uname -r on the host prints it")
	}
	return inspect.Options{Release: r, OS: s.OS}, nil
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
func (s *Source) open(ctx context.Context, args []string) (host.Reader, error) {
	switch {
	case s.Root != "" && len(args) > 0:
		return nil, hint.With(hint.Usagef("both SOURCE %q and --root %s given", args[0], s.Root), "one host at a time: leave one out")
	case s.Root != "":
		return openTree(s.Root, s.Release)
	case len(args) > 0 && IsRemote(args[0]):
		return s.Remote.Open(ctx, args[0])
	case len(args) > 0:
		return bundlehost.Open(args[0])
	}
	return localhost.New(), nil
}

// IsRemote tells a host over SSH from the name of a file.
func IsRemote(arg string) bool { return strings.HasPrefix(arg, sshhost.Scheme) }

// Release is this machine's, without the inspection that Facts takes; zero
// where it does not tell.
func Release(ctx context.Context) release.Release {
	reader := localhost.New()
	defer reader.Close()
	return inspect.Release(ctx, reader)
}
