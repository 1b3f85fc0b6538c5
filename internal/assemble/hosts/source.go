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

// Source is the host to read; by default this machine.
type Source struct {
	Root    string // directory with a host's files
	Release string // release of the host with those files
	OS      string // its system, if the files do not tell
	// Memory in bytes and CPUs are the host's, for sources without them, such as a single
	// configuration file. 0 means not given.
	Memory uint64
	CPUs   int
	// Owned means that the facts are shown on the terminal of the user who named the source. What
	// came over SSH or in a capture is already redacted.
	Owned bool
	// Stdin returns standard input, for the source "-".
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

// Opened is an open source: its reader, the inspection options, and, for single files, the names
// given by the user, by path on the host.
type Opened struct {
	host.Reader
	Options inspect.Options
	Given   map[string]string
	source  *Source
}

// Open returns the reader of the host, or of the files, that args and the source name. The caller
// closes it.
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

// Facts inspects the source, and adds what the caller knows of the host.
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

// withWriters adds the values that programs on the host write by themselves.
func withWriters(f *fact.Facts) (*fact.Facts, error) {
	rules, err := Rules()
	if err != nil {
		return nil, fmt.Errorf("rules: %w", err)
	}
	return rules.WithWriters(f)
}

// complete adds what the caller knows of a host if its source does not contain it.
func (s *Source) complete(f *fact.Facts) error {
	if known := max(f.Memory.Physical, f.Memory.Real); s.Memory > 0 && known > 0 {
		return hint.With(hint.Usagef("the host states its memory: %s", show.Bytes(float64(known))), "leave %s out", hint.Option("memory", ""))
	}
	if s.CPUs > 0 && f.CPU.Count > 0 {
		return hint.With(hint.Usagef("the host states its CPUs: %d", f.CPU.Count), "leave %s out", hint.Option("cpus", ""))
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

// options validates the flags.
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

// openTree opens a tree with a given release, or one that contains its release: a copy of /proc, or
// the files of a distribution with a known kernel.
func openTree(ctx context.Context, dir, release string) (host.Reader, error) {
	tree, err := filehost.OpenTree(dir)
	if err != nil || release != "" || tree.Tells() || !inspect.Identity(ctx, tree).Release.IsZero() {
		return tree, err
	}
	tree.Close()
	return nil, hint.With(hint.Usagef("--root %s needs --release", dir), "files do not say which release reads them: add --release 14.3 for FreeBSD, or a kernel's such as 6.12 for Linux")
}

// open returns the reader of the named source.
func (s *Source) open(ctx context.Context, args []string) (host.Reader, error) {
	switch {
	case s.Root != "" && len(args) > 0:
		return nil, hint.With(hint.Usagef("both SOURCE %q and --root %s given", args[0], s.Root), "one host at a time: leave one out")
	case s.Root != "":
		return openTree(ctx, s.Root, s.Release)
	case len(args) > 1:
		return nil, hint.With(hint.Usagef("%q and %q cannot be read together", args[0], args[1]), "several sources at once are files of one host's configuration: no bundle, no directory, no ssh://")
	case len(args) > 0 && IsRemote(args[0]):
		return s.Remote.Open(ctx, args[0])
	case len(args) > 0 && isDir(args[0]):
		return openTree(ctx, args[0], s.Release)
	case len(args) > 0:
		return s.archive(args[0])
	}
	return localhost.New(), nil
}

// CheckRemote returns an error if arg is not a host over SSH.
func CheckRemote(arg string) error {
	if !IsRemote(arg) {
		return hint.With(hint.Usagef("%q is not the name of a host", arg), "name it as ssh://user@host, or leave it out for this machine")
	}
	_, err := sshhost.ParseTarget(arg)
	return err
}

// IsRemote reports whether arg is a host over SSH, not a file name.
func IsRemote(arg string) bool { return strings.HasPrefix(arg, sshhost.Scheme) }

// Here returns this machine's system, release and machine ID, faster than a full inspection by Facts.
func Here(ctx context.Context) *fact.Facts {
	reader := localhost.New()
	defer reader.Close()
	return inspect.Identity(ctx, reader)
}

// Inspected is the document of inspect --json: the facts and what is derived from them.
// docs/reference/facts.md describes it.
type Inspected struct {
	*fact.Facts
	role.Guess
	Drops []fact.Drop `json:"drops"`
}

// About returns an error's text for output after the host's name.
func About(source string, err error) string {
	text := strings.TrimPrefix(err.Error(), source+": ")
	return show.Clean(strings.Replace(text, " on "+source+": ", ": ", 1))
}
