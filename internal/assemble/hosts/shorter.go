package hosts

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"linerate/internal/host"
	"linerate/internal/plan"
)

// Shorter is a file without what an audit's fixes take out of it.
type Shorter struct {
	Path     string
	Old, New string
	Cuts     []plan.Removal
}

// WriteBelow writes the file below a directory, and never outside of it, by a name that
// may be a path.
func (f Shorter) WriteBelow(dir, name string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write the shorter files: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("write the shorter files: %w", err)
	}
	defer root.Close()
	rel := filepath.Clean("/" + name)[1:]
	if err := root.MkdirAll(filepath.Dir(rel), 0o755); err != nil {
		return fmt.Errorf("write the shorter files: %w", err)
	}
	if err := root.WriteFile(rel, []byte(f.New), 0o644); err != nil {
		return fmt.Errorf("write the shorter files: %w", err)
	}
	return nil
}

// Shorten takes a plan's cuts out of the host's files. A file that cannot be read whole
// stays as it is.
func Shorten(ctx context.Context, base host.Reader, p plan.Plan) []Shorter {
	byFile := map[string][]plan.Removal{}
	for _, c := range p.Cuts() {
		byFile[c.File] = append(byFile[c.File], c)
	}
	var all []Shorter
	for _, path := range slices.Sorted(maps.Keys(byFile)) {
		if text, err := base.ReadFile(ctx, path); err == nil {
			cuts := byFile[path]
			all = append(all, Shorter{path, string(text), plan.Shorten(string(text), cuts), cuts})
		}
	}
	return all
}
