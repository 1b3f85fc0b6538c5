// Package filehost reads a few files as if they were a host's, alone or over
// another host's own: what somebody has in hand, and what an audit makes of it.
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
	base  host.Reader // nil: there is nothing else
	files map[string][]byte
	os    string
	from  string // the archive that had the files; "" for files by themselves
}

// New reads files, by their absolute paths, alone. os is "" where they do not
// tell.
func New(files map[string][]byte, os string) *Host { return &Host{files: cleaned(files), os: os} }

// Over reads files over a host's own of the same paths.
func Over(base host.Reader, files map[string][]byte) *Host {
	return &Host{base: base, files: cleaned(files), os: base.OS()}
}

func cleaned(files map[string][]byte) map[string][]byte {
	all := make(map[string][]byte, len(files))
	for p, text := range files {
		all[path.Clean("/"+p)] = text
	}
	return all
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
	p := path.Clean("/" + name)
	if text, ok := h.files[p]; ok {
		return host.ReadBounded(bytes.NewReader(text), host.MaxFile)
	}
	if h.base != nil {
		return h.base.ReadFile(ctx, name)
	}
	if len(h.under(p)) > 0 {
		return nil, errors.New("not a regular file (directory)")
	}
	return nil, fs.ErrNotExist
}

// under are the names right below a directory.
func (h *Host) under(dir string) []string {
	var names []string
	for p := range h.files {
		if rest, ok := strings.CutPrefix(p, strings.TrimSuffix(dir, "/")+"/"); ok {
			name, _, _ := strings.Cut(rest, "/")
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// ReadDir implements host.Reader.
func (h *Host) ReadDir(ctx context.Context, name string) ([]string, error) {
	p := path.Clean("/" + name)
	if _, file := h.files[p]; file {
		return nil, errors.New("not a directory")
	}
	names := h.under(p)
	if h.base != nil {
		more, err := h.base.ReadDir(ctx, name)
		if err != nil && len(names) == 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
			return more, err
		}
		names = append(names, more...)
		slices.Sort(names)
		names = slices.Compact(names)
	} else if len(names) == 0 {
		return nil, fs.ErrNotExist
	}
	return host.BoundNames(names)
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
