package hosts

import (
	"context"
	"maps"
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
