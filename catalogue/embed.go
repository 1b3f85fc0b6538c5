// Package catalogue holds what linerate knows of every tunable, as YAML:
// freebsd/ and linux/ the records, one file per subsystem; claims/ what
// guides and talks say of them; concepts.yaml the ideas that systems share.
// docs/reference/catalogue.md describes the format; package tunable reads it.
package catalogue

import (
	"embed"
	"sync"

	"linerate/internal/tunable"
)

//go:embed concepts.yaml freebsd/*.yaml claims/*.yaml rules/*.yaml
var files embed.FS

// Files are the catalogue's files as they are in the repository.
func Files() embed.FS { return files }

// Load is the built-in catalogue, read once. The error is a mistake in the
// YAML: `linerate catalogue check` and the tests show it before a release.
var Load = sync.OnceValues(func() (*tunable.Catalogue, error) { return tunable.Load(files) })
