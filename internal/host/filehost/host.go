package filehost

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/host"
)

// Host is a host.Reader over files in memory.
type Host struct {
	memory
	base host.Reader // whose other files are read too; nil: none
	os   string
	from string // the archive that had the files; "" for files by themselves
}

// New reads files, by their absolute paths, alone. os is "" where they do not
// tell.
func New(files map[string][]byte, os string) *Host {
	h := &Host{memory: memory{files: make(map[string][]byte, len(files))}, os: os}
	for p, text := range files {
		h.files[path.Clean("/"+p)] = text
	}
	h.index()
	return h
}

// Over reads files over a host's own of the same paths.
func Over(base host.Reader, files map[string][]byte) *Host {
	h := New(files, base.OS())
	h.base = base
	return h
}

// From says which archive the files were in: all that its host has, as a tree.
func (h *Host) From(archive string) *Host {
	h.from = archive
	return h
}

// Origin implements host.Reader.
func (h *Host) Origin() fact.Origin {
	if h.from != "" {
		return fact.Origin{Kind: fact.KindTree, Path: h.from}
	}
	if h.base != nil {
		return h.base.Origin()
	}
	return fact.Origin{Kind: fact.KindTree, Path: strings.Join(slices.Sorted(maps.Keys(h.files)), " "), Alone: true}
}

// OS implements host.Reader.
func (h *Host) OS() string { return h.os }

// ReadFile implements host.Reader.
func (h *Host) ReadFile(ctx context.Context, name string) ([]byte, error) {
	if _, ours := h.files[path.Clean("/"+name)]; h.base != nil && !ours {
		return h.base.ReadFile(ctx, name)
	}
	return h.readFile(name)
}

// ReadDir implements host.Reader.
func (h *Host) ReadDir(ctx context.Context, name string) ([]string, error) {
	names, err := h.readDir(name)
	if _, file := h.files[path.Clean("/"+name)]; h.base == nil || file {
		return names, err
	}
	more, err := h.base.ReadDir(ctx, name)
	if err != nil && (len(names) == 0 || !errors.Is(err, fs.ErrNotExist)) {
		return more, err
	}
	names = append(names, more...)
	slices.Sort(names)
	return host.BoundNames(slices.Compact(names))
}

// Output implements host.Reader.
func (h *Host) Output(ctx context.Context, q host.Query) ([]byte, error) {
	if h.base != nil {
		return h.base.Output(ctx, q)
	}
	return nil, host.ErrNotLive
}

// LeftOut implements host.Reader.
func (h *Host) LeftOut() []fact.LeftOut {
	if h.base != nil {
		return h.base.LeftOut()
	}
	return nil
}

// Close implements host.Reader; the host below is its owner's to close.
func (h *Host) Close() error { return nil }

var _ host.Reader = (*Host)(nil)
