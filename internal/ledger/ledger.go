// Package ledger is the append-only store of measurements: studies, their
// trials, the verdicts drawn from them, the environments to which they apply,
// the files from which all numbers come, and exclusions with their reasons.
//
// Nothing is ever changed or removed. Rows are added in entries; each entry
// contains a digest of its rows and the hash of the previous entry, so that
// later edits can be detected (Verify). The measurements themselves stay in a
// study's directory or archive, from which the ledger can be rebuilt.
// Identifiers derive from content: the same bytes give the same identifiers.
//
// This package holds the records, the chain and the queries; package store
// stores them.
package ledger

import (
	"context"
	"errors"
	"time"

	"linerate/internal/stats"
)

// Errors that callers distinguish.
var (
	// ErrNotFound is returned if no record has the identifier.
	ErrNotFound = errors.New("not in the ledger")
	// ErrFull is returned if the disk is full; nothing of the entry was stored.
	ErrFull = errors.New("no space left for the ledger")
	// ErrNewer is returned for a ledger written by a later version of linerate.
	ErrNewer = errors.New("the ledger was made by a newer linerate")
	// ErrOlder is returned for a ledger of an earlier version, without this version's tables.
	ErrOlder = errors.New("the ledger was made by an older linerate")
	// ErrCorrupt is returned if the database itself is damaged.
	ErrCorrupt = errors.New("the ledger's database is damaged")
)

// Batch is what one entry adds, atomically.
type Batch struct {
	Kind string // subject of the entry: study, exclusion …
	Ref  string // identifier of the subject; each kind and ref is added once
	Time time.Time

	Studies      []Study
	Environments []Environment
	Trials       []Trial
	Verdicts     []Verdict
	Exclusions   []Exclusion
	Sources      []Source
	Blobs        []Blob
}

// Entry is one link of the chain.
type Entry struct {
	Seq    int64     `json:"seq"`
	Kind   string    `json:"kind"`
	Ref    string    `json:"ref"`
	Time   time.Time `json:"time"`
	Rows   int       `json:"rows"`
	Digest string    `json:"digest"` // of the rows, hex SHA-256
	Prev   string    `json:"prev"`   // hash of the previous entry, "" for the first
	Hash   string    `json:"hash"`
}

// Row is a record as stored in the database.
type Row struct {
	Table  string
	ID     ID
	Entry  int64 // 0 until it is stored
	Digest string
	Doc    []byte
	Cols   []string // in the order of Table.Columns
}

// Reader gives read-only access to a ledger. Implementations are safe for
// concurrent use.
type Reader interface {
	// Head returns the last entry; ok is false if the ledger is empty.
	Head(ctx context.Context) (head Entry, ok bool, err error)
	// Entries calls f for each entry in order.
	Entries(ctx context.Context, f func(Entry) error) error
	// Rows calls f for each row of a table, ordered by entry and identifier.
	Rows(ctx context.Context, table string, f func(Row) error) error
	// Get returns the rows whose identifier begins with prefix, at least four
	// characters, in any table.
	Get(ctx context.Context, prefix string) ([]Row, error)

	// Evidence returns verdicts with their context, newest entry last.
	Evidence(ctx context.Context, f Filter) ([]Evidence, error)
	// Trials returns the trials of a study, in the order of storage.
	Trials(ctx context.Context, study ID) ([]Trial, error)
	// Sources returns the files from which a study was read, by path.
	Sources(ctx context.Context, study ID) ([]Source, error)
	// Studies returns the studies that match a filter.
	Studies(ctx context.Context, f Filter) ([]Study, error)
	// Exclusions returns all exclusions, in order.
	Exclusions(ctx context.Context) ([]Exclusion, error)
	// Tunables returns the tunables with evidence, and their numbers of verdicts.
	Tunables(ctx context.Context) (map[string]int, error)

	// Blob returns raw bytes by their SHA-256, or ErrNotFound.
	Blob(ctx context.Context, sha256 string) (Blob, error)
	// Blobs calls f for every stored blob.
	Blobs(ctx context.Context, f func(Blob) error) error

	FleetReader

	// Place returns the location of the ledger, without secrets.
	Place() string
	Close() error
}

// Store stores a ledger. Implementations are safe for concurrent use, also by
// several processes.
type Store interface {
	Reader
	FleetStore
	// Append adds the batches, one entry each, in one transaction: if it
	// returns nil everything is on stable storage, else nothing is. It skips
	// batches whose kind and ref the ledger already has; added counts the
	// others.
	Append(ctx context.Context, batches ...*Batch) (added int, err error)
}

// ReadOnly hides everything of a store but its Reader, also from type assertions.
func ReadOnly(s Store) Reader { return readOnly{s} }

type readOnly struct{ Reader }

// Filter narrows a query; zero fields match everything. Texts match as
// case-insensitive substrings, except for Tunable and Study.
type Filter struct {
	Tunable    string   // exact name, any unit number
	Names      []string // or any of these
	Hardware   string   // CPU or machine
	NIC        string
	Driver     string
	OS         string
	Release    string // prefix
	Workload   string
	Study      string // identifier's beginning, name or part of its place
	Kind       string // of study
	Metric     string
	Verdict    stats.Verdict
	Primary    bool // primary metrics only
	Superseded bool // include studies that a later import of the same place replaced
	Limit      int
}
