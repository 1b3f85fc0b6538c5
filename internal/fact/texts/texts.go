// Package texts holds the tables of package fact that grow with what is known of configuration files,
// packed: slips.txt, the grammars, the vocabularies and what captures may show. Edit them where they are, then run
// go test ./internal/fact/texts -update.
package texts

import (
	_ "embed"
	"maps"
	"path"
	"slices"

	"linerate/internal/pack"
)

// packed holds all of them in one, a third of the size.
//
//go:embed texts.pack
var packed []byte

var texts = pack.Map[string](packed)

// Read returns a text by its path below internal/fact.
func Read(name string) string { return texts()[name] }

// Below returns the paths of the texts in a directory below internal/fact, sorted.
func Below(dir string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(texts())), func(name string) bool { return path.Dir(name) != dir })
}
