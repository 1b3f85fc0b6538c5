package studydir

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"linerate/internal/study"
)

// Keep writes a file of raw material beside the trials, at once.
func (d *Dir) Keep(name string, data []byte) error {
	if filepath.Base(name) != name {
		return fmt.Errorf("keep %q: not the name of a file", name)
	}
	return writeFile(d.Path, name, data)
}

// maxRaw bounds a file of raw material: an honest one has some hundred kB.
const maxRaw = 16 << 20

// ReadInstance reads the slices that a trial of a directory was derived from.
func ReadInstance(path string, t study.Trial) (study.Instance, error) {
	if t.Observed == nil || t.Observed.Interleaved == nil || t.Observed.Interleaved.Raw == "" {
		return study.Instance{}, fmt.Errorf("trial of %s in block %d has no slices", t.Variant, t.Block)
	}
	name := t.Observed.Interleaved.Raw
	if filepath.Base(name) != name {
		return study.Instance{}, fmt.Errorf("raw file %q: not the name of a file", name)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return study.Instance{}, fmt.Errorf("read the slices: %w", err)
	}
	defer root.Close()
	f, err := root.Open(name)
	if err != nil {
		return study.Instance{}, fmt.Errorf("read the slices: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxRaw))
	if err != nil {
		return study.Instance{}, fmt.Errorf("read the slices: %w", err)
	}
	in, err := study.DecodeInstance(data)
	if err != nil {
		return in, fmt.Errorf("%s: %w", name, err)
	}
	return in, nil
}
