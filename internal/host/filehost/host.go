// Package filehost reads hosts from files: a directory tree, a capture bundle, a
// backup of settings, or a few single files.
package filehost

import (
	"bytes"
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
	os   string
	from string // the archive of the files; "" for single files
}

// New returns a reader of only the given files, by absolute path. os is "" if unknown.
func New(files map[string][]byte, os string) *Host {
	h := &Host{memory: memory{files: make(map[string][]byte, len(files))}, os: os}
	for p, text := range files {
		h.files[path.Clean("/"+p)] = text
	}
	h.index()
	return h
}

// From names the archive that contained the files: they are then all that the host has, as in a tree.
func (h *Host) From(archive string) *Host {
	h.from = archive
	return h
}

// Origin implements host.Reader.
func (h *Host) Origin() fact.Origin {
	if h.from != "" {
		return fact.Origin{Kind: fact.KindTree, Path: h.from}
	}
	return fact.Origin{Kind: fact.KindTree, Path: strings.Join(slices.Sorted(maps.Keys(h.files)), " "), Alone: true}
}

// OS implements host.Reader.
func (h *Host) OS() string { return h.os }

// Output implements host.Reader.
func (h *Host) Output(context.Context, host.Query) ([]byte, error) { return nil, host.ErrNotLive }

// LeftOut implements host.Reader.
func (h *Host) LeftOut() []fact.LeftOut { return nil }

var _ host.Reader = (*Host)(nil)

// memory holds files by absolute path, and the directories that they imply.
type memory struct {
	files map[string][]byte
	dirs  map[string][]string
}

// index builds the directories after all files are added.
func (m *memory) index() {
	m.dirs = map[string][]string{}
	seen := map[string]bool{}
	for p := range m.files {
		for p != "/" && !seen[p] {
			seen[p] = true
			dir := path.Dir(p)
			m.dirs[dir] = append(m.dirs[dir], path.Base(p))
			p = dir
		}
	}
	for _, names := range m.dirs {
		slices.Sort(names)
	}
}

// ReadFile implements host.Reader.
func (m *memory) ReadFile(_ context.Context, name string) ([]byte, error) {
	p := path.Clean("/" + name)
	if text, ok := m.files[p]; ok {
		return host.ReadBounded(bytes.NewReader(text), host.MaxFile)
	}
	if m.dirs[p] != nil {
		return nil, errors.New("not a regular file (directory)")
	}
	return nil, fs.ErrNotExist
}

// ReadDir implements host.Reader.
func (m *memory) ReadDir(_ context.Context, name string) ([]string, error) {
	p := path.Clean("/" + name)
	if _, file := m.files[p]; file {
		return nil, errors.New("not a directory")
	}
	names, ok := m.dirs[p]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return host.BoundNames(slices.Clone(names))
}

// Close implements host.Reader.
func (m *memory) Close() error { return nil }
