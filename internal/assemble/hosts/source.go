package hosts

import (
	"context"
	"fmt"
	"io"
	"strings"

	"linerate/internal/appliance"
	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/host/filehost"
	"linerate/internal/host/localhost"
	"linerate/internal/host/sshhost"
	"linerate/internal/inspect"
	"linerate/internal/role"
	"linerate/internal/show"
)

// Source is the host to read: this machine, where nothing else is named.
type Source struct {
	Root    string // a directory with a host's files
	Release string // of the host whose files they are
	OS      string // theirs, where the files do not tell
	// Memory in bytes and CPUs are the host's, for sources that do not tell: a
	// configuration by itself. 0 is not said.
	Memory uint64
	CPUs   int
	// Owned: the facts are shown on the terminal of the one who named the source. What
	// came over SSH or in a capture was redacted where it was taken.
	Owned bool
	// Stdin is standard input, for sources that are "-".
	Stdin func() io.Reader
	Remote
}

// Facts reads the host that args and the source name.
func (s *Source) Facts(ctx context.Context, args []string) (*fact.Facts, error) {
	o, err := s.Open(ctx, args)
	if err != nil {
		return nil, err
	}
	defer o.Close()
	return o.Facts(ctx)
}

// Opened is a source that was found: its reader, how it is to be inspected, and, for single
// files, the names that the user gave, by their places on the host.
type Opened struct {
	host.Reader
	Options inspect.Options
	Given   map[string]string
	source  *Source
}

// Open finds the reader of the host, or of the files, that args and the source name.
// The caller closes it.
func (s *Source) Open(ctx context.Context, args []string) (*Opened, error) {
	opts, err := s.options()
	if err != nil {
		return nil, err
	}
	o := &Opened{Options: opts, source: s}
	if s.Root == "" && AreFiles(args) {
		o.Reader, o.Given, err = s.files(args)
	} else {
		o.Reader, err = s.open(ctx, args)
	}
	if err != nil {
		return nil, err
	}
	return o, nil
}

// Facts inspects the source, and adds what its caller knows of the host.
func (o *Opened) Facts(ctx context.Context) (*fact.Facts, error) {
	f, err := inspect.Host(ctx, o.Reader, o.Options)
	if err != nil {
		return nil, err
	}
	for _, s := range f.Sources {
		if name := o.Given[s.Name]; name != "" && s.Status == fact.StatusUnreadable {
			return nil, fmt.Errorf("%s: %s", name, s.Reason)
		}
	}
	if err := o.source.complete(f); err != nil {
		return nil, err
	}
	return withWriters(f)
}

// withWriters adds what programs of the host write by themselves.
func withWriters(f *fact.Facts) (*fact.Facts, error) {
	rules, err := Rules()
	if err != nil {
		return nil, fmt.Errorf("rules: %w", err)
	}
	return rules.WithWriters(f)
}

// complete adds what the caller knows of a host where its source does not tell it.
func (s *Source) complete(f *fact.Facts) error {
	if known := max(f.Memory.Physical, f.Memory.Real); s.Memory > 0 && known > 0 {
		return hint.With(hint.Usagef("the host tells its memory itself: %s", show.Bytes(float64(known))), "leave %s out", hint.Option("memory", ""))
	}
	if s.CPUs > 0 && f.CPU.Count > 0 {
		return hint.With(hint.Usagef("the host tells its CPUs itself: %d", f.CPU.Count), "leave %s out", hint.Option("cpus", ""))
	}
	if s.Memory > 0 {
		f.Memory.Physical, f.From.Told = s.Memory, append(f.From.Told, "memory")
		appliance.AddLimits(f)
	}
	if s.CPUs > 0 {
		f.CPU.Count, f.From.Told = s.CPUs, append(f.From.Told, "cpus")
	}
	return nil
}

// options checks the release.
func (s *Source) options() (inspect.Options, error) {
	if s.OS != "" && s.OS != fact.FreeBSD && s.OS != fact.Linux {
		return inspect.Options{}, hint.Usage(hint.Unknown("system", s.OS, []string{fact.FreeBSD, fact.Linux}))
	}
	if s.CPUs < 0 || s.CPUs > 1<<16 {
		return inspect.Options{}, hint.Usagef("%d CPUs: want 1 to %d", s.CPUs, 1<<16)
	}
	if s.Release == "" {
		return inspect.Options{OS: s.OS, Owned: s.Owned}, nil
	}
	r, err := release.ParseGiven(s.Release)
	if err != nil {
		return inspect.Options{}, hint.With(hint.Usage(err), "give it as --release 14.3 or 14.3-RELEASE; uname -r on the host prints it")
	}
	return inspect.Options{Release: r, OS: s.OS, Owned: s.Owned}, nil
}

// openTree opens a tree with a release, or one that tells its own: a copy of /proc,
// the files of a distribution whose kernel is known.
func openTree(ctx context.Context, dir, release string) (host.Reader, error) {
	tree, err := filehost.OpenTree(dir)
	if err != nil || release != "" || tree.Tells() || !inspect.Identity(ctx, tree).Release.IsZero() {
		return tree, err
	}
	tree.Close()
	return nil, hint.With(hint.Usagef("--root %s needs --release", dir), "files do not say which release reads them: add --release 14.3 for FreeBSD, or a kernel's such as 6.12 for Linux")
}

// open finds the reader for the one source named.
func (s *Source) open(ctx context.Context, args []string) (host.Reader, error) {
	switch {
	case s.Root != "" && len(args) > 0:
		return nil, hint.With(hint.Usagef("both SOURCE %q and --root %s given", args[0], s.Root), "one host at a time: leave one out")
	case s.Root != "":
		return openTree(ctx, s.Root, s.Release)
	case len(args) > 1:
		return nil, hint.With(hint.Usagef("%q and %q are not both of one host", args[0], args[1]), "several sources at once are files of one host's configuration: no bundle, no directory, no ssh://")
	case len(args) > 0 && IsRemote(args[0]):
		return s.Remote.Open(ctx, args[0])
	case len(args) > 0 && isDir(args[0]):
		return openTree(ctx, args[0], s.Release)
	case len(args) > 0:
		return s.archive(args[0])
	}
	return localhost.New(), nil
}

// CheckRemote refuses what is no host over SSH.
func CheckRemote(arg string) error {
	if !IsRemote(arg) {
		return hint.With(hint.Usagef("%q is no host", arg), "name it as ssh://user@host, or leave it out for this machine")
	}
	_, err := sshhost.ParseTarget(arg)
	return err
}

// IsRemote tells a host over SSH from the name of a file.
func IsRemote(arg string) bool { return strings.HasPrefix(arg, sshhost.Scheme) }

// Here is this machine's system, release and machine-id, without the inspection that Facts takes.
func Here(ctx context.Context) *fact.Facts {
	reader := localhost.New()
	defer reader.Close()
	return inspect.Identity(ctx, reader)
}

// Inspected is the document of inspect --json: the facts, and what was made
// of them. docs/reference/facts.md describes it.
type Inspected struct {
	*fact.Facts
	role.Guess
	Drops []fact.Drop `json:"drops"`
}

// About is an error in words that follow the host's name.
func About(source string, err error) string {
	text := strings.TrimPrefix(err.Error(), source+": ")
	return show.Clean(strings.Replace(text, " on "+source+": ", ": ", 1))
}
