package hosts

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/declared"
	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/hint"
	"linerate/internal/host/filehost"
	"linerate/internal/inspect"
	"linerate/internal/lazy"
)

// Repository is a directory with the files of many hosts, such as a checkout.
type Repository struct {
	dir  string
	root *os.Root
	// Files lists those that may set something, as paths relative to the directory.
	Files []string
	// Pinned maps distributions to the release that its files name, if they agree.
	Pinned map[string]string
	vars   declared.Variables
}

// IsRepository distinguishes a repository from a host's directory: it has a .git, or none of the
// directories that a host has.
func IsRepository(dir string) bool {
	if !isDir(dir) {
		return false
	}
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
		return true
	}
	tree, err := filehost.OpenTree(dir)
	if err != nil || tree.OS() != "" {
		return false
	}
	defer tree.Close()
	return !slices.ContainsFunc([]string{"boot", "cf", "etc", "proc", "usr"}, func(d string) bool { return isDir(filepath.Join(dir, d)) })
}

// maxFiles is the maximum number of files examined in a repository.
const maxFiles = 50_000

// skipped lists directories of third-party files and of metadata.
var skipped = []string{".git", ".hg", "openbsd", "OpenBSD", "netbsd", "NetBSD", "dragonfly", "node_modules", "vendor", ".terraform", ".venv", ".direnv"}

// plainName matches names of settings files that a host reads itself.
var plainName = lazy.Regexp(`(^|/)(sysctl\.conf(\.local)?|sysctl\.d/[^/]*\.conf|[^/]*(sysctl[^/]*|loader)\.conf(\.sample|\.dist|\.example)?|loader\.conf(\.local|\.d/[^/]*)?|rc\.conf(\.local|\.d/[^/]*)?|pf\.conf|ipfw\.rules|nftables\.conf|iptables/rules\.v[46]|sysconfig/ip6?tables|iptables\.rules|modules-load\.d/[^/]*\.conf|security/limits\.(conf|d/[^/]*\.conf)|udev/rules\.d/[^/]*\.rules|network/[^/]*\.(network|netdev)|network/interfaces|tuned\.conf|modprobe\.d/[^/]*\.conf|[^/]*\.link|default/grub(\.d/[^/]*)?|rc\.local)$`)

// OpenRepository finds the files of a repository; it does not follow symbolic links. The caller
// closes it.
func OpenRepository(dir string) (*Repository, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	r := &Repository{dir: dir, root: root, Pinned: map[string]string{}}
	pins := map[string][]string{}
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // skip what cannot be listed
		case d.IsDir() && slices.Contains(skipped, d.Name()):
			return fs.SkipDir
		case !d.Type().IsRegular() || !plainName().MatchString(name) && !declared.May(name) && path.Base(name) != "flake.lock":
			return nil
		case len(r.Files) == maxFiles:
			return hint.With(fmt.Errorf("%s: more than %d files that may have settings", dir, maxFiles), "name a directory of it")
		}
		text, err := r.Read(name)
		if err != nil {
			return nil
		}
		for system, versions := range declared.Pinned(string(text)) {
			pins[system] = append(pins[system], versions...)
		}
		r.vars.Add(name, text)
		r.Files = append(r.Files, name)
		return nil
	})
	for system, versions := range pins {
		slices.Sort(versions)
		if versions = slices.Compact(versions); len(versions) == 1 {
			r.Pinned[system] = versions[0]
		}
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return r, nil
}

// Close closes the directory.
func (r *Repository) Close() error { return r.root.Close() }

// Read reads a file up to the size limit of declared settings.
func (r *Repository) Read(name string) ([]byte, error) {
	info, err := r.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > declared.MaxFile {
		return nil, errors.New("not a regular file, or too large")
	}
	f, err := r.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, declared.MaxFile+1))
}

// Plain reports whether it is a settings file that a host reads itself.
func Plain(name string) bool { return plainName().MatchString(filepath.ToSlash(name)) }

// hunk matches the position of lines in the new file: @@ -1,2 +3,4 @@.
var hunk = lazy.Regexp(`^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// Changed returns the line ranges that differ from the merge base with base, by file relative to a
// directory, according to git(1).
func Changed(ctx context.Context, dir, base string) (map[string][][2]int, error) {
	if strings.HasPrefix(base, "-") {
		return nil, hint.Usagef("--changed %s: want a commit or a branch", base)
	}
	cmd := exec.CommandContext(ctx, "git", "-C", dir, "-c", "core.quotepath=off", "-c", "core.fsmonitor=false", "diff", "--merge-base", "--relative", "--unified=0", "--no-color",
		"--no-ext-diff", "--no-textconv", "--no-renames", "--src-prefix=a/", "--dst-prefix=b/", "--end-of-options", base, "--")
	cmd.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0")
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		first, _, _ := strings.Cut(said.String(), "\n")
		return nil, hint.With(fmt.Errorf("changes since %s: git diff: %w: %s", base, err, first), "the checkout needs the base's history: fetch-depth: 0, or git fetch")
	}
	return hunks(out.String()), nil
}

// hunks parses git's diff without context.
func hunks(diff string) map[string][][2]int {
	changed := map[string][][2]int{}
	file, rest := "", 0
	for line := range strings.Lines(diff) {
		line = strings.TrimRight(line, "\n")
		switch m := hunk().FindStringSubmatch(line); {
		case rest > 0 && line != "" && line[0] != '\\':
			rest--
		case m != nil:
			from, _ := strconv.Atoi(m[2])
			n := lengthOf(m[3])
			rest = lengthOf(m[1]) + n
			changed[file] = append(changed[file], [2]int{from, from + n - 1})
		case strings.HasPrefix(line, "+++ "):
			file = strings.TrimSuffix(line[4:], "\t")
			if name, err := strconv.Unquote(file); err == nil {
				file = name
			}
			file = strings.TrimPrefix(file, "b/")
		}
	}
	return changed
}

// lengthOf returns a hunk's line count, which is omitted if it is one.
func lengthOf(s string) int {
	if s == "" {
		return 1
	}
	n, _ := strconv.Atoi(s)
	return n
}

// Declared is a machine, a pod or a container for which a file declares settings, with the
// resulting facts.
type Declared struct {
	*declared.Host
	Facts *fact.Facts
}

// Declared reads the settings that a file declares, if any. repo is nil for a single file.
func (s *Source) Declared(ctx context.Context, name string, text []byte, repo *Repository) ([]Declared, error) {
	opts, err := s.options()
	if err != nil {
		return nil, err
	}
	if repo == nil {
		repo = &Repository{}
	}
	var all []Declared
	for _, h := range declared.Read(name, text, &repo.vars) {
		if opts.OS = fact.Linux; h.FreeBSD {
			opts.OS = fact.FreeBSD
		}
		if s.OS != "" && s.OS != opts.OS {
			continue
		}
		f, err := declaredFacts(ctx, name, h, opts, repo.Pinned)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if err := s.complete(f); err != nil {
			return nil, err
		}
		all = append(all, Declared{h, f})
	}
	return all, nil
}

// declaredFacts inspects the files that a declaration gives a machine.
func declaredFacts(ctx context.Context, name string, h *declared.Host, opts inspect.Options, pinned map[string]string) (*fact.Facts, error) {
	texts := map[string][]byte{}
	if !h.FreeBSD {
		texts[declared.SysctlFile] = nil
	}
	for p, lines := range h.Files {
		var b strings.Builder
		for _, l := range lines {
			b.WriteString(l.Text + "\n")
		}
		texts[p] = []byte(b.String())
	}
	version := h.Version
	if version == "" {
		version = pinned[h.System]
	}
	switch r, err := release.Parse(version); {
	case h.System == "kernel" && err == nil && opts.Release.IsZero():
		opts.Release = r
	case version != "":
		texts["/etc/os-release"] = []byte("ID=" + h.System + "\nVERSION_ID=" + version + "\n")
	}
	f, err := inspect.Host(ctx, filehost.New(texts, opts.OS), opts)
	if err != nil {
		return nil, err
	}
	f.Container = h.Container
	f.Sources = slices.DeleteFunc(f.Sources, func(s fact.Source) bool { return s.Name == "/boot/loader.conf" }) // others may add to it
	place(f, name, h)
	return f, nil
}

// place sets the position of lines to where the file declares them.
func place(f *fact.Facts, name string, h *declared.Host) {
	at := func(file string, number int) (declared.Line, bool) {
		lines, ok := h.Files[file]
		if !ok || number < 1 || number > len(lines) {
			return declared.Line{}, false
		}
		return lines[number-1], true
	}
	for _, s := range f.Settings {
		for i := range s.Lines {
			if l, ok := at(s.Lines[i].File, s.Lines[i].Number); ok {
				s.Lines[i].Effective = s.Lines[i].Effective || h.Alternatives() && declared.Invented(s.Lines[i].File)
				s.Lines[i].File, s.Lines[i].Number, s.Lines[i].Place = cmp.Or(l.File, name), l.At, l.Place
				s.Lines[i].Default = s.Lines[i].Default || l.File != "" // judged where it is declared
			}
		}
	}
	for i := range f.Problems {
		if l, ok := at(f.Problems[i].File, f.Problems[i].Line); ok {
			f.Problems[i].File, f.Problems[i].Line = name, l.At
		}
	}
}
