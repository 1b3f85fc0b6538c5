package netbenches

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"linerate/internal/list"
)

// Limits on the contents of a tree; the archive has 52,000 files and 1.1 GB.
const (
	maxFiles    = 1_000_000
	maxParsed   = 64 << 20  // larger logs and texts are not read
	maxTextRead = 4 << 20   // READMEs, configurations
	maxValues   = 256 << 10 // a file of numbers
)

// File is a file of a tree.
type File struct {
	Path    string // relative to the root, with slashes
	Size    int64
	Role    Role
	SHA256  string // hex; "" until read, and for files that may hold keys
	Problem string // why it could not be read or parsed, or ""
	Packed  []byte // zstd-compressed content, if requested
}

// Tree is an archive, or a part of one, on disk: its files and, once loaded, their
// content.
type Tree struct {
	Root       string // absolute path
	Files      []*File
	Series     []*Series          // sorted by folder, then key
	Readmes    []*Readme          // in path order
	Configs    map[string]*Config // by folder of the set
	Reductions []Reduction        // .pps files
	Bytes      int64              // total size of the files read and parsed

	sets map[string]map[string]*Config // topic, name → configuration set
}

// Reduction is a .pps file: one number per iteration of a series.
type Reduction struct {
	Dir, Name string
	Values    []float64
}

// List walks the tree and determines the role of each file without opening any.
// Symbolic links are not followed, and are listed with this as their problem.
func List(ctx context.Context, root string) (*Tree, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return nil, err
	}
	t := &Tree{Root: abs}
	err = filepath.WalkDir(abs, func(p string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			if p == abs {
				return err
			}
			t.Files = append(t.Files, &File{Path: t.rel(p), Role: RoleOther, Problem: cause(err)})
			return nil
		}
		return t.visit(p, d)
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", root, err)
	}
	slices.SortFunc(t.Files, func(a, b *File) int { return cmp.Compare(a.Path, b.Path) })
	return t, nil
}

func (t *Tree) visit(p string, d fs.DirEntry) error {
	if d.IsDir() {
		if d.Name() == ".git" {
			return filepath.SkipDir
		}
		return nil
	}
	f := &File{Path: t.rel(p)}
	f.Role = roleOf(t.named(f.Path))
	if t.Files = append(t.Files, f); len(t.Files) > maxFiles {
		return fmt.Errorf("more than %d files", maxFiles)
	}
	if !d.Type().IsRegular() {
		f.Role, f.Problem = RoleOther, "not a regular file: not followed"
		return nil
	}
	info, err := d.Info()
	if err != nil {
		f.Problem = cause(err)
		return nil
	}
	f.Size = info.Size()
	return nil
}

func (t *Tree) rel(p string) string {
	r, err := filepath.Rel(t.Root, p)
	if err != nil {
		return filepath.ToSlash(p)
	}
	return filepath.ToSlash(r)
}

// named returns a relative path with the path of the root in front, so that a
// part of the archive is understood like the whole.
func (t *Tree) named(rel string) string {
	return strings.TrimPrefix(filepath.ToSlash(t.Root), "/") + "/" + rel
}

// cause returns the last part of an error message, without the path that the reader already knows.
func cause(err error) string {
	s := err.Error()
	if i := strings.LastIndex(s, ": "); i >= 0 {
		return s[i+2:]
	}
	return s
}

// Unread lists the files that could not be read or parsed.
func (t *Tree) Unread() []*File {
	return list.Filter(t.Files, func(f *File) bool { return f.Problem != "" })
}

// IsArchive reports whether a folder has the layout of an archive at its top:
// <CPU>_<n>Cores folders, or a topic with results.
func IsArchive(dir string) bool {
	for _, pattern := range []string{
		"*_*ores/*/*/results", "*_*ores/*/*/result", "*/*/results/*/bench.*", "*/results/*/bench.*",
		"results/*/bench.*", "results/*/RAW/bench.*", "*/results/*/RAW/bench.*",
	} {
		if m, err := filepath.Glob(filepath.Join(globQuote(dir), filepath.FromSlash(pattern))); err == nil && len(m) > 0 {
			return true
		}
	}
	return false
}

// globQuote escapes a folder's name for use in a glob pattern.
func globQuote(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(s)
}
