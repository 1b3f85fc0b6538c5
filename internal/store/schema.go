package store

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/ledger"
)

// tables are those of one part of the store, versioned together. There is no migration, because no
// release had another version.
type tables struct {
	name    string // table that has the version
	version int
	text    string

	newer, older error
}

var (
	ledgerTables = tables{"schema_version", 2, ledgerSQL + recordTables() + recordsSQL + fleetSQL, ledger.ErrNewer, ledger.ErrOlder}
	queueTables  = tables{"queue_version", 2, queueSQL, errors.New("the queue was made by a newer linerate"), errors.New("the queue was made by an older linerate")}
)

func (t *tables) check(v int) error {
	switch {
	case v > t.version:
		return fmt.Errorf("%w (schema %d, this one knows %d)", t.newer, v, t.version)
	case v < t.version:
		return hint.With(fmt.Errorf("%w (schema %d, this one wants %d)", t.older, v, t.version), "move it away: linerate makes a new one")
	}
	return nil
}

// made returns the version of the tables, 0 if there are none.
func (t *tables) made(ctx context.Context, q Querier) (int, error) {
	return one[int](ctx, q, "SELECT COALESCE(MAX(version), 0) FROM "+t.name)
}

// current fails unless the tables exist and have this version; it writes nothing.
func (t *tables) current(ctx context.Context, q Querier) error {
	v, err := t.made(ctx, q)
	return cmp.Or(err, t.check(v))
}

// make creates the tables if there are none.
func (t *tables) make(ctx context.Context, tx Tx, d *Dialect) error {
	if _, err := tx.Exec(ctx, "CREATE TABLE IF NOT EXISTS "+t.name+" (version BIGINT NOT NULL)"); err != nil {
		return err
	}
	v, err := t.made(ctx, tx)
	if err != nil || v > 0 {
		return cmp.Or(err, t.check(v))
	}
	text := strings.NewReplacer("{blob}", d.Blob, "{bigint}", d.Bigint).Replace(t.text)
	for stmt := range strings.SplitSeq(strings.TrimSpace(text), ";\n") {
		if _, err := tx.Exec(ctx, stmt); err != nil {
			return fmt.Errorf("make the tables: %w", err)
		}
	}
	_, err = tx.Exec(ctx, "INSERT INTO "+t.name+" (version) VALUES (?)", t.version)
	return err
}

// Definitions of the tables; {blob} and {bigint} stand for types of the dialect.
var (
	//go:embed ledger.sql
	ledgerSQL string
	//go:embed records.sql
	recordsSQL string
	//go:embed fleet.sql
	fleetSQL string
	//go:embed queue.sql
	queueSQL string
)

// recordTables defines one table per kind of record.
func recordTables() string {
	var b strings.Builder
	for _, t := range ledger.Tables {
		fmt.Fprintf(&b, "CREATE TABLE %s (id TEXT NOT NULL PRIMARY KEY, entry {bigint} NOT NULL, digest TEXT NOT NULL, doc TEXT NOT NULL", t.Name)
		for _, c := range t.Columns {
			fmt.Fprintf(&b, ", %s TEXT NOT NULL", c)
		}
		b.WriteString(");\n")
	}
	return b.String()
}
