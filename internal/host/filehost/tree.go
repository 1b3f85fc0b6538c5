package filehost

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/list"
)

// Tree is a host.Reader of a directory tree. Paths cannot leave it, neither by ".." nor through
// symbolic links; absolute links are followed as if the tree were the root, up to maxLinks.
type Tree struct {
	dir  string
	root *os.Root
}

// OpenTree opens a directory tree.
func OpenTree(dir string) (*Tree, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, hint.With(fmt.Errorf("open tree %s: %w", dir, host.Bare(err)), "%s takes the directory that holds etc/ and boot/", hint.Option("root", ""))
	}
	return &Tree{dir: dir, root: root}, nil
}

// Origin implements host.Reader.
func (t *Tree) Origin() fact.Origin { return fact.Origin{Kind: fact.KindTree, Path: t.dir} }

// OS returns the system named in os-release(5), which FreeBSD has too, or guesses it from files
// that only one of them has.
func (t *Tree) OS() string {
	for _, name := range []string{"etc/os-release", "usr/lib/os-release"} {
		text, _ := t.ReadFile(context.Background(), name) // empty if missing
		for line := range strings.Lines(string(text)) {
			id, ok := strings.CutPrefix(strings.TrimSpace(line), "ID=")
			switch {
			case !ok:
			case strings.Trim(id, `"'`) == "freebsd":
				return fact.FreeBSD
			default:
				return fact.Linux
			}
		}
	}
	for _, row := range list.Table(kindsText, "tree") {
		if t.hasAny(row[1]) {
			return row[0]
		}
	}
	return ""
}

// Tells reports whether a tree contains its own release: a copy of Linux's /proc/sys, or an
// appliance's files.
func (t *Tree) Tells() bool { return t.hasAny(list.Table(kindsText, "release")[0][0]) }

func (t *Tree) hasAny(paths string) bool {
	return slices.ContainsFunc(strings.Fields(paths), func(p string) bool {
		_, err := t.root.Lstat(p)
		return err == nil
	})
}

// ReadFile implements host.Reader.
func (t *Tree) ReadFile(_ context.Context, name string) ([]byte, error) {
	f, err := t.open(name, fs.FileMode.IsRegular, "a regular file")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return host.ReadBounded(f, host.MaxFile)
}

// maxLinks is the maximum length of a chain of absolute links.
const maxLinks = 8

// open opens a file of a given kind, following absolute links inside the tree. It checks the kind
// before opening: a FIFO would block, a device could do anything.
func (t *Tree) open(name string, is func(fs.FileMode) bool, kind string) (*os.File, error) {
	rel := relative(name)
	info, err := t.root.Lstat(rel)
	for links := 0; err == nil && info.Mode()&fs.ModeSymlink != 0; links++ {
		target, _ := t.root.Readlink(rel)
		if !path.IsAbs(target) {
			info, err = t.root.Stat(rel)
			break
		}
		if links == maxLinks {
			return nil, errors.New("too many symbolic links")
		}
		rel = relative(target)
		info, err = t.root.Lstat(rel)
	}
	if err != nil {
		return nil, host.Bare(err)
	}
	if !is(info.Mode()) {
		return nil, fmt.Errorf("not %s (%s)", kind, info.Mode().Type())
	}
	f, err := t.root.Open(rel)
	if err != nil {
		return nil, host.Bare(err)
	}
	return f, nil
}

// relative converts an absolute path into one relative to the tree.
func relative(name string) string {
	rel := strings.TrimPrefix(path.Clean("/"+name), "/")
	if rel == "" {
		return "."
	}
	return rel
}

// ReadDir implements host.Reader.
func (t *Tree) ReadDir(_ context.Context, name string) ([]string, error) {
	f, err := t.open(name, fs.FileMode.IsDir, "a directory")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(host.MaxNames + 1)
	if err != nil && len(names) == 0 {
		return nil, nil
	}
	return host.BoundNames(names)
}

// Output implements host.Reader: a tree has no commands.
func (t *Tree) Output(context.Context, host.Query) ([]byte, error) { return nil, host.ErrNotLive }

// LeftOut implements host.Reader.
func (t *Tree) LeftOut() []fact.LeftOut { return nil }

// Close implements host.Reader.
func (t *Tree) Close() error { return t.root.Close() }

var _ host.Reader = (*Tree)(nil)

// Mode implements host.Moded.
func (t *Tree) Mode(name string) (fs.FileMode, error) {
	f, err := t.open(name, fs.FileMode.IsRegular, "a regular file")
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Mode(), nil
}
