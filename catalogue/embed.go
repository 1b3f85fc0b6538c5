// Package catalogue holds linerate's knowledge of tunables, as YAML: records in freebsd/
// and linux/, one file per subsystem; statements of guides and talks in claims/; settings
// of servers worth trying in spaces/; concepts shared by systems in concepts.yaml;
// conditions of records in words in conditions.yaml.
// docs/reference/catalogue.md describes the format; package tunable reads it.
package catalogue

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"sync"

	"linerate/internal/evidence"
	"linerate/internal/tunable"
)

// spaces are settings of servers worth trying, read by package tune/space.
//
//go:embed spaces/*.yaml
var spaces embed.FS

// Spaces returns the files of factors that a search adds to its space if its workload is that of a
// server.
func Spaces() embed.FS { return spaces }

// Evidence returns the measurements of public archives; they are read once from
// evidence/netbenches.tsv, the output of `linerate ledger export --catalogue`.
var Evidence = sync.OnceValues(func() ([]evidence.Row, error) { return evidence.Parse(beside(2)) })

// packed is the content of the YAML files in a form that is read in a few milliseconds. `go test
// ./catalogue -update` generates it, and the same test fails while it is stale.
//
//go:embed catalogue.pack
var packed []byte

// Version returns the hash of the built-in catalogue.
func Version() string {
	sum := sha256.Sum256(packed)
	return hex.EncodeToString(sum[:])
}

// Load returns the built-in catalogue; it is read once. Tests have checked its expressions.
func Load() (*tunable.Catalogue, error) {
	b, err := load()
	return b.catalogue, err
}

// PackedRules returns the audit's rules as packed by package audit.
func PackedRules() []byte { return beside(0) }

// PackedPlans returns the advice of plans as packed by package plan.
func PackedPlans() []byte { return beside(1) }

// beside returns the i-th file packed with the catalogue; the test that packs it defines
// the order.
func beside(i int) []byte {
	b, err := load()
	if err != nil || i >= len(b.beside) {
		return nil
	}
	return b.beside[i]
}

type builtin struct {
	catalogue *tunable.Catalogue
	beside    [][]byte
}

var load = sync.OnceValues(func() (builtin, error) {
	c, beside, err := tunable.Unpack(packed)
	return builtin{c, beside}, err
})
