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
