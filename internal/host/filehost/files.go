// Package filehost reads hosts from files: a directory tree, a capture bundle, a
// backup of settings, or a few single files.
package filehost

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"

	"linerate/internal/host"
)

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
