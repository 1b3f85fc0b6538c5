package inspect

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	_ "modernc.org/sqlite" // reads TrueNAS' database

	"linerate/internal/fact"
	"linerate/internal/fact/redact"
	"linerate/internal/host"
	"linerate/internal/lazy"
)

// tunablesOfDatabase returns the rows of TrueNAS' tunables, as sqlite3 in a capture prints them, or
// from the file itself if it is readable.
func (in *inspection) tunablesOfDatabase() (string, error) {
	if in.f.From.Kind == fact.KindBundle || in.f.From.Kind == fact.KindSSH {
		q := host.QueryOf(in.f.OS, "sqlite-tunables")
		b, err := in.r.Output(in.ctx, q)
		if err == nil {
			in.record(q.String(), nil)
		}
		return string(b), err
	}
	b, err := in.r.ReadFile(in.ctx, host.TrueNASDatabase)
	status, _ := host.Status(err)
	if status == fact.StatusMissing {
		return "", err
	}
	text := ""
	switch {
	case err == nil && rowsOnly().Match(b): // treat it like one of linerate's exports
		text = string(b)
	case err == nil:
		text, err = tunablesIn(in.ctx, b)
	}
	in.record(host.TrueNASDatabase, err)
	return in.kept(redact.Database, host.TrueNASDatabase, text), err
}

// rowsOnly matches a table as sqlite3 prints it.
var rowsOnly = lazy.Regexp(`\A([^\t\n]+\t[^\t\n]*\t(SYSCTL|LOADER|RC|ZFS)\t1\n)+\z`)

// sqliteHead begins every SQLite file.
const sqliteHead = "SQLite format 3\x00"

// maxTunables is the maximum number of rows read from a database.
const maxTunables = 10_000

// tunablesIn reads the table of tunables of a database in memory. It executes nothing from the
// file: the table must not be a view, and no function of its schema is trusted.
func tunablesIn(ctx context.Context, data []byte) (string, error) {
	if len(data) < 100 || string(data[:len(sqliteHead)]) != sqliteHead {
		return "", errors.New("not an SQLite database")
	}
	data = slices.Clone(data)
	data[18], data[19] = 1, 1 // a database in memory cannot have a write-ahead log
	db, err := sql.Open("sqlite", "file:tunables?mode=memory&_pragma=trusted_schema(0)&_pragma=cell_size_check(1)&_pragma=query_only(1)")
	if err != nil {
		return "", err
	}
	defer db.Close()
	c, err := db.Conn(ctx)
	if err != nil {
		return "", err
	}
	defer c.Close()
	err = c.Raw(func(driver any) error {
		d, ok := driver.(interface{ Deserialize(data []byte) error })
		if !ok {
			return errors.New("the SQLite driver cannot open a database from memory")
		}
		return d.Deserialize(data)
	})
	if err != nil {
		return "", fmt.Errorf("not an SQLite database: %w", err)
	}
	var kind string
	if err := c.QueryRowContext(ctx, `SELECT type FROM sqlite_master WHERE name = 'system_tunable'`).Scan(&kind); err != nil {
		return "", fmt.Errorf("not a TrueNAS database: %w", err)
	}
	if kind != "table" {
		return "", fmt.Errorf("system_tunable is a %.20s, not TrueNAS's table", kind)
	}
	return rowsOf(ctx, c)
}

// rowsOf prints the rows, tab-separated.
func rowsOf(ctx context.Context, c *sql.Conn) (string, error) {
	rows, err := c.QueryContext(ctx, `SELECT tun_var, tun_value, tun_type, tun_enabled FROM system_tunable LIMIT ?`, maxTunables)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	var out strings.Builder
	blank := strings.NewReplacer("\t", " ", "\n", " ", "\r", " ")
	for rows.Next() {
		var name, value, kind string
		var enabled bool
		if err := rows.Scan(&name, &value, &kind, &enabled); err != nil {
			return out.String(), err
		}
		on := 0
		if enabled {
			on = 1
		}
		fmt.Fprintf(&out, "%s\t%s\t%s\t%d\n", blank.Replace(name), blank.Replace(value), blank.Replace(kind), on)
	}
	return out.String(), rows.Err()
}
