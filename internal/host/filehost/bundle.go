package filehost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/hint"
	"linerate/internal/host"
)

// Limits of a bundle in addition to those of any archive (host.Untar).
const (
	maxPath = 1024
	// treeEntries limits the number of files in listings under trees/.
	treeEntries = 100_000
)

// Bundle is a host.Reader over a capture bundle, held in memory.
type Bundle struct {
	memory
	path     string
	outputs  map[string][]byte // by query ID
	manifest manifest
	ssh      bool // just received over SSH
}

// OverSSH marks the bundle as just received over SSH.
func (b *Bundle) OverSSH() *Bundle {
	b.ssh = true
	return b
}

// OpenBundle reads a bundle from a file.
func OpenBundle(name string) (*Bundle, error) {
	f, err := os.Open(name)
	if err != nil {
		err = host.Bare(err)
		advice := "name a file that linerate capture -o FILE wrote, or one of configuration"
		if errors.Is(err, fs.ErrPermission) {
			advice = "read it as its owner, or as root"
		}
		return nil, hint.With(fmt.Errorf("open %s: %w", name, err), "%s", advice)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, hint.With(hint.Usagef("open bundle %s: it is a directory", name), "for a directory tree: %s %s", hint.Option("root", name), hint.Option("release", "R"))
	}
	return ReadBundle(f, name)
}

// ReadBundle reads a bundle: a tar archive, compressed by gzip or not.
func ReadBundle(r io.Reader, name string) (*Bundle, error) {
	a, err := Unpack(r, name)
	if err != nil {
		return nil, err
	}
	return a.Bundle()
}

// advice is the hint for files that are not bundles.
const advice = "a bundle is a tar.gz that linerate capture or its script wrote"

// Archive is an unpacked bundle that is not yet parsed.
type Archive struct {
	path    string
	entries []archived
}

type archived struct {
	name string
	data []byte
}

// Unpack unpacks a bundle.
func Unpack(r io.Reader, name string) (*Archive, error) {
	a := &Archive{path: name}
	if err := host.Untar(r, false, func(entry string, data []byte) error {
		a.entries = append(a.entries, archived{entry, data})
		return nil
	}); err != nil {
		return nil, hint.With(fmt.Errorf("read bundle %s: %w", name, err), advice)
	}
	return a, nil
}

// Bundle parses the whole archive.
func (a *Archive) Bundle() (*Bundle, error) {
	return a.read(func(_ string, data []byte) []byte { return data })
}

// Entry returns an entry by name; nil if there is none.
func (a *Archive) Entry(name string) []byte {
	for _, e := range a.entries {
		if e.name == name {
			return e.data
		}
	}
	return nil
}

// read makes a bundle of the entries as changed by take, which returns nil to drop one.
func (a *Archive) read(take func(name string, data []byte) []byte) (*Bundle, error) {
	b := &Bundle{memory: memory{files: map[string][]byte{}}, path: a.path, outputs: map[string][]byte{}}
	for _, e := range a.entries {
		if data := take(e.name, e.data); data != nil {
			if err := b.entry(e.name, data); err != nil {
				return nil, hint.With(fmt.Errorf("read bundle %s: %w", a.path, err), advice)
			}
		}
	}
	if b.manifest.os == "" {
		return nil, hint.With(fmt.Errorf("read bundle %s: it has no manifest that names its system", a.path), advice)
	}
	b.index()
	return b, nil
}

// entry stores one entry by its kind.
func (b *Bundle) entry(name string, data []byte) error {
	kind, rest, _ := strings.Cut(name, "/")
	switch kind {
	case "manifest.tsv":
		m, err := parseManifest(string(data))
		b.manifest = m
		return err
	case "files":
		b.files["/"+rest] = data
	case "out":
		b.outputs[rest] = data
	case "trees":
		return b.tree(string(data))
	}
	return nil // later versions may add kinds
}

// tree parses a listing of small files: path, tab, one line of its text.
func (b *Bundle) tree(text string) error {
	for line := range strings.Lines(text) {
		p, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok || !path.IsAbs(p) || len(p) > maxPath {
			continue
		}
		p = path.Clean(p)
		if len(b.files) > treeEntries {
			return fmt.Errorf("more than %d files in its listings", treeEntries)
		}
		b.files[p] = append(append(b.files[p], value...), '\n')
	}
	return nil
}

// Origin implements host.Reader.
func (b *Bundle) Origin() fact.Origin {
	from := fact.Origin{Kind: fact.KindBundle, Path: b.path, Taken: b.manifest.taken}
	if b.ssh {
		from.Kind = fact.KindSSH
	}
	return from
}

// OS implements host.Reader.
func (b *Bundle) OS() string { return b.manifest.os }

// MachineID implements host.Identified.
func (b *Bundle) MachineID() string { return b.manifest.machine }

// ReadFile implements host.Reader.
func (b *Bundle) ReadFile(ctx context.Context, name string) ([]byte, error) {
	p := path.Clean("/" + name)
	if e, noted := b.manifest.files[p]; noted && b.files[p] == nil {
		return nil, e.err()
	}
	return b.memory.ReadFile(ctx, p)
}

// Output implements host.Reader.
func (b *Bundle) Output(_ context.Context, q host.Query) ([]byte, error) {
	data, ok := b.outputs[q.ID()]
	e, noted := b.manifest.queries[q.ID()]
	switch {
	case noted:
		return data, e.err()
	case ok:
		return data, nil
	}
	return nil, host.ErrNoCommand
}

// LeftOut implements host.Reader.
func (b *Bundle) LeftOut() []fact.LeftOut { return b.manifest.leftOut }

var _ host.Reader = (*Bundle)(nil)
