package sqldb

import (
	"fmt"
	"strings"

	"linerate/internal/ledger"
)

// migrations are the steps from an empty database to the current schema, in
// order; a step is never edited once released. {blob} and {bigint} are the
// dialect's types.
var migrations = []string{schema1(), schema2, schema3, schema4, schema5}

// schema1 is the first schema: the chain, one table per kind of record, raw
// bytes, and the cache of imports.
func schema1() string {
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
