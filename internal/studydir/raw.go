package studydir

import (
	"fmt"
	"os"
	"path/filepath"

	"linerate/internal/hint"
	"linerate/internal/study/record"
)

// Keep writes a file of raw material next to the trials, atomically.
func (d *Dir) Keep(name string, data []byte) error {
	if filepath.Base(name) != name {
		return fmt.Errorf("keep %q: not the name of a file", name)
	}
	return writeFile(d.Path, name, data)
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
