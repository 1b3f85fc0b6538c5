package studydir

import (
	"fmt"
	"os"
	"path/filepath"

	"linerate/internal/hint"
	"linerate/internal/study"
	"linerate/internal/study/record"
)

// Keep writes a file of raw material next to the trials, atomically.
func (d *Dir) Keep(name string, data []byte) error {
	if filepath.Base(name) != name {
		return fmt.Errorf("keep %q: not the name of a file", name)
	}
	return writeFile(d.Path, name, data)
}

// ReadInstance reads the slices that a trial of a directory was derived from.
func ReadInstance(path string, t study.Trial) (study.Instance, error) {
	name, sum, ok := study.RawFile(&t)
	if !ok {
		return study.Instance{}, fmt.Errorf("trial of %s in block %d has no slices", t.Variant, t.Block)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return study.Instance{}, fmt.Errorf("read the slices: %w", err)
	}
	defer root.Close()
	in, err := record.ReadInstance(root.FS(), name, sum)
	if err != nil {
		return in, fmt.Errorf("%s: %w", name, err)
	}
	return in, nil
}

// Verify reads a study's directory and derives its trials again from their raw
// slices. An error says that there is no record to verify.
func Verify(path string) (record.Verification, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return record.Verification{}, hint.With(fmt.Errorf("read the study: %w", err), "give a study's directory: one that a study was run into")
	}
	defer root.Close()
	r, err := record.Read(root.FS(), path)
	if err != nil {
		return record.Verification{}, err
	}
	return r.Verify(root.FS()), nil
}
