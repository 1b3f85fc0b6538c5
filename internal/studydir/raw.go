package studydir

import (
	"fmt"
	"path/filepath"
)

// Keep writes a file of raw material next to the trials, atomically.
func (d *Dir) Keep(name string, data []byte) error {
	if filepath.Base(name) != name {
		return fmt.Errorf("keep %q: not the name of a file", name)
	}
	return writeFile(d.Path, name, data)
}
