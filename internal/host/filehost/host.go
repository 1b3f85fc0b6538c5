package filehost

import (
	"context"
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
	return fact.Origin{Kind: fact.KindTree, Path: strings.Join(slices.Sorted(maps.Keys(h.files)), " "), Alone: true}
}

// OS implements host.Reader.
func (h *Host) OS() string { return h.os }

// Output implements host.Reader.
func (h *Host) Output(context.Context, host.Query) ([]byte, error) { return nil, host.ErrNotLive }

// LeftOut implements host.Reader.
func (h *Host) LeftOut() []fact.LeftOut { return nil }

var _ host.Reader = (*Host)(nil)
