// Package studies holds the built-in studies, one YAML file each.
package studies

import (
	"embed"
	"io/fs"
	"slices"
	"strings"
)

//go:embed *.yaml
var files embed.FS

// Names returns the names of the built-in studies, sorted.
func Names() []string {
	paths, err := fs.Glob(files, "*.yaml")
	if err != nil { // only for a malformed pattern, which this is not
		return nil
	}
	for i, p := range paths {
		paths[i] = strings.TrimSuffix(p, ".yaml")
	}
	slices.Sort(paths)
	return paths
}

// Read returns a built-in study's YAML; fs.ErrNotExist if there is none with that name.
func Read(name string) ([]byte, error) { return files.ReadFile(name + ".yaml") }
