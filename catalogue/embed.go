// Package catalogue holds what linerate knows of every tunable, as YAML:
// freebsd/ and linux/ the records, one file per subsystem; claims/ what
// guides and talks say of them; spaces/ what servers have worth trying; concepts.yaml the ideas that systems share,
// conditions.yaml the conditions of records in words.
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

// spaces are what servers have worth trying, as package tune/space reads it.
//
//go:embed spaces/*.yaml
var spaces embed.FS

// Spaces are the files of factors that a search by experiment adds to its space where
// its workload is of a server.
func Spaces() embed.FS { return spaces }

// Evidence is what public archives measured, read once: evidence/netbenches.tsv, which
// `linerate ledger export --catalogue` makes from a ledger.
var Evidence = sync.OnceValues(func() ([]evidence.Row, error) { return evidence.Parse(beside(2)) })

// packed is what the YAML files say, in a form that is read in a few milliseconds.
// `go test ./catalogue -update` makes it, and the same test fails while it is stale.
//
//go:embed catalogue.pack
var packed []byte

// Version is the hash of the built-in catalogue.
func Version() string {
	sum := sha256.Sum256(packed)
	return hex.EncodeToString(sum[:])
}

// Load is the built-in catalogue, read once. Its expressions were checked by the tests.
func Load() (*tunable.Catalogue, error) {
	b, err := load()
	return b.catalogue, err
}

// PackedRules are the audit's rules as package audit packed them.
func PackedRules() []byte { return beside(0) }

// PackedPlans is the advice of plans as package plan packed it.
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
