package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"linerate/internal/ledger"
)

// tables are those of one part of the store, versioned together.
type tables struct {
	version string // the table that counts the steps that were taken
	// steps lead from an empty database to the current tables; none is edited once
	// released. {blob} and {bigint} are the dialect's types.
	steps        []string
	newer, older error
}

var (
	ledgerTables = tables{"schema_version", []string{ledgerSchema() + fleetSchema}, ledger.ErrNewer, ledger.ErrOlder}
	queueTables  = tables{"queue_version", []string{queueSchema}, errors.New("the queue was made by a newer linerate"), errors.New("the queue was made by an older linerate")}
)

// check refuses tables that are not of this version.
func (t *tables) check(v int) error {
	switch {
	case v > len(t.steps):
		return fmt.Errorf("%w (schema %d, this one knows %d)", t.newer, v, len(t.steps))
	case v < len(t.steps):
		return fmt.Errorf("%w (schema %d, this one wants %d)", t.older, v, len(t.steps))
	}
	return nil
}

// current is the version of the tables.
func (t *tables) current(ctx context.Context, q Querier) (int, error) {
	return one[int](ctx, q, "SELECT COALESCE(MAX(version), 0) FROM "+t.version)
}

// migrate makes the tables, and brings them up to date.
func (t *tables) migrate(ctx context.Context, tx Tx, d *Dialect) error {
	if _, err := tx.Exec(ctx, "CREATE TABLE IF NOT EXISTS "+t.version+" (version BIGINT NOT NULL)"); err != nil {
		return err
	}
	v, err := t.current(ctx, tx)
	if err != nil {
		return err
	}
	for ; v < len(t.steps); v++ {
		text := strings.NewReplacer("{blob}", d.Blob, "{bigint}", d.Bigint).Replace(t.steps[v])
		for stmt := range strings.SplitSeq(text, ";\n") {
			if strings.TrimSpace(stmt) == "" {
				continue
			}
			if _, err := tx.Exec(ctx, stmt); err != nil {
				return fmt.Errorf("migrate to schema %d: %w", v+1, err)
			}
		}
		if _, err := tx.Exec(ctx, "INSERT INTO "+t.version+" (version) VALUES (?)", v+1); err != nil {
			return err
		}
	}
	return t.check(v)
}

// ledgerSchema is the chain, one table for each kind of record, and raw bytes; the table of
// imports is not used any more.
func ledgerSchema() string {
	var b strings.Builder
	b.WriteString(`
CREATE TABLE entries (
	seq {bigint} NOT NULL PRIMARY KEY,
	kind TEXT NOT NULL, ref TEXT NOT NULL, time TEXT NOT NULL,
	row_count {bigint} NOT NULL, digest TEXT NOT NULL, prev TEXT NOT NULL, hash TEXT NOT NULL,
	UNIQUE (kind, ref)
);
CREATE TABLE blobs (
	sha256 TEXT NOT NULL PRIMARY KEY, size {bigint} NOT NULL, encoding TEXT NOT NULL, data {blob} NOT NULL
);
CREATE TABLE imports (
	fingerprint TEXT NOT NULL, tool TEXT NOT NULL, root TEXT NOT NULL, time TEXT NOT NULL,
	PRIMARY KEY (fingerprint, tool)
);
`)
	for _, t := range ledger.Tables {
		fmt.Fprintf(&b, "CREATE TABLE %s (id TEXT NOT NULL PRIMARY KEY, entry {bigint} NOT NULL, digest TEXT NOT NULL, doc TEXT NOT NULL", t.Name)
		for _, c := range t.Columns {
			kind := "TEXT"
			if t.Numeric[c] {
				kind = "{bigint}"
			}
			fmt.Fprintf(&b, ", %s %s NOT NULL", c, kind)
		}
		b.WriteString(");\n")
	}
	b.WriteString(`
CREATE INDEX studies_place ON studies (kind, place, entry);
CREATE INDEX trials_study ON trials (study);
CREATE INDEX verdicts_study ON verdicts (study);
CREATE INDEX samples_trial ON samples (trial);
CREATE INDEX sources_study ON sources (study);
CREATE INDEX exclusions_target ON exclusions (target);
`)
	return b.String()
}
