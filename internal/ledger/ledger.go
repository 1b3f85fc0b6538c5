// Package ledger is the append-only store of what was measured: studies,
// their trials, the verdicts drawn from them, the environments
// they hold for, the files every number came from, and exclusions with their
// reasons.
//
// Nothing is ever changed or removed. Rows are added in entries; each entry
// carries a digest of its rows and the hash of the entry before it, so that a
// later edit shows (Verify). What a study was measured in lies outside, in
// its directory or archive: the ledger can be made again from there, and by
// content: the same bytes give the same identifiers.
//
// The package holds the records, the chain and the queries. How
// they are stored is package store's business.
package ledger

import (
	"context"
	"errors"
	"time"

	"linerate/internal/stats"
)

// Errors that callers tell apart.
var (
	// ErrNotFound: no record has that identifier.
	ErrNotFound = errors.New("not in the ledger")
	// ErrFull: the disk has no room; nothing of the entry was kept.
	ErrFull = errors.New("no space left for the ledger")
	// ErrNewer: the ledger was written by a later version of linerate.
	ErrNewer = errors.New("the ledger was made by a newer linerate")
	// ErrOlder: the ledger was written by an earlier version, whose tables this one lacks.
	ErrOlder = errors.New("the ledger was made by an older linerate")
	// ErrCorrupt: the database itself is damaged.
	ErrCorrupt = errors.New("the ledger's database is damaged")
)

// Batch is what one entry adds, all of it or nothing.
type Batch struct {
	Kind string // what the entry is about: study, exclusion …
	Ref  string // identifier of that; an entry of this kind and ref is added once
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
	Prev   string    `json:"prev"`   // hash of the entry before, "" for the first
	Hash   string    `json:"hash"`
}

// Row is a record as the database holds it.
type Row struct {
	Table  string
	ID     ID
	Entry  int64 // 0 until it is stored
	Digest string
	Doc    []byte
	Cols   []string // in the order of Table.Columns
}

// Reader is what can be read of a ledger, and no more: its holder cannot
// change the ledger. Implementations are safe for concurrent use.
type Reader interface {
	// Head is the last entry; ok is false for an empty ledger.
	Head(ctx context.Context) (head Entry, ok bool, err error)
	// Entries calls f for each entry in order.
	Entries(ctx context.Context, f func(Entry) error) error
	// Rows calls f for each row of a table, ordered by entry and identifier.
	Rows(ctx context.Context, table string, f func(Row) error) error
	// Get returns the document of one row by the beginning of its identifier,
	// at least four characters, whichever table it is in.
	Get(ctx context.Context, prefix string) ([]Row, error)

	// Evidence lists verdicts with what they hold for, newest entry last.
	Evidence(ctx context.Context, f Filter) ([]Evidence, error)
	// Trials of a study, in the order they were stored.
	Trials(ctx context.Context, study ID) ([]Trial, error)
	// Sources are the files that a study was read from, by path.
	Sources(ctx context.Context, study ID) ([]Source, error)
	// Studies that a filter admits.
	Studies(ctx context.Context, f Filter) ([]Study, error)
	// Exclusions, in order.
	Exclusions(ctx context.Context) ([]Exclusion, error)
	// Tunables returns the tunables that have evidence, with the number of verdicts.
	Tunables(ctx context.Context) (map[string]int, error)

	// Blob returns raw bytes by their SHA-256, or ErrNotFound.
	Blob(ctx context.Context, sha256 string) (Blob, error)
	// Blobs calls f for every blob kept.
	Blobs(ctx context.Context, f func(Blob) error) error

	FleetReader

	// Place says where the ledger is, without secrets.
	Place() string
	Close() error
}

// Store keeps a ledger. Implementations are safe for concurrent use, by
// several processes too.
type Store interface {
	Reader
	FleetStore
	// Append adds the batches, one entry each, in one transaction: when it
	// returns nil everything is on stable storage, otherwise nothing is there.
	// A batch whose kind and ref the ledger has is skipped; added counts the
	// others.
	Append(ctx context.Context, batches ...*Batch) (added int, err error)
}

// ReadOnly hides all of a store but its Reader, also from type assertions.
func ReadOnly(s Store) Reader { return readOnly{s} }

type readOnly struct{ Reader }

// Filter narrows a query. Zero fields admit everything. Texts match without
// case, as part of what is stored, but for Tunable and Study.
type Filter struct {
	Tunable    string   // exact name, any unit number
	Names      []string // or any of these
	Hardware   string   // CPU or machine
	NIC        string
	Driver     string
	OS         string
	Release    string // beginning of it
	Workload   string
	Study      string // identifier's beginning, name or part of its place
	Kind       string // of study
	Metric     string
	Verdict    stats.Verdict
	Primary    bool // primary metric only
	Superseded bool // also studies that a later import of the same place replaced
	Limit      int
}
