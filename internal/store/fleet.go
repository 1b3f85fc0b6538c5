package store

import (
	"context"
	"errors"
	"time"

	"linerate/internal/fleet"
	"linerate/internal/ledger"
)

// millis converts a time for storage, 0 for none.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func timeOf(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// args returns values for a statement, with storable texts.
func args(values ...any) []any {
	for i, v := range values {
		if s, ok := v.(string); ok {
			values[i] = ledger.Storable(s)
		}
	}
	return values
}

const sweepColumns = "id, began, ended, source, hosts, reached, unreachable, changes, alerts, errors, warnings, infos, knowledge"

func scanSweep(row Row) (w fleet.Sweep, err error) {
	var began, ended int64
	err = row.Scan(&w.ID, &began, &ended, &w.From, &w.Hosts, &w.Reached, &w.Unreachable, &w.Changes, &w.Alerts, &w.Errors, &w.Warnings, &w.Infos, &w.Knowledge)
	w.Start, w.End = timeOf(began), timeOf(ended)
	return w, err
}

// BeginSweep starts a sweep, or resumes the one with its ID; it returns ledger.ErrSweepEnded if that has ended.
func (s *Ledger) BeginSweep(ctx context.Context, w fleet.Sweep) (out fleet.Sweep, err error) {
	err = s.write(ctx, func(tx Tx) error {
		out, err = scanSweep(lookup(ctx, tx, "SELECT "+sweepColumns+" FROM fleet_sweeps WHERE id = ?", w.ID))
		if !errors.Is(err, errNoRow) {
			if err == nil && !out.End.IsZero() {
				err = ledger.ErrSweepEnded
			}
			return err
		}
		n, err := next(ctx, tx, "n", "fleet_sweeps")
		if err != nil {
			return err
		}
		out = fleet.Sweep{ID: w.ID, Start: timeOf(millis(w.Start)), From: w.From, Hosts: w.Hosts, Knowledge: w.Knowledge}
		_, err = tx.Exec(ctx, "INSERT INTO fleet_sweeps (n, "+sweepColumns+") VALUES (?, ?, ?, 0, ?, ?, 0, 0, 0, 0, 0, 0, 0, ?)",
			args(n, w.ID, millis(w.Start), w.From, w.Hosts, w.Knowledge)...)
		return err
	})
	return out, err
}

// next returns the next number in a table.
func next(ctx context.Context, tx Tx, column, table string) (n int64, err error) {
	err = lookup(ctx, tx, "SELECT COALESCE(MAX("+column+"), 0) + 1 FROM "+table).Scan(&n)
	return n, err
}

// Swept returns the hosts that a sweep has visited so far.
func (s *Ledger) Swept(ctx context.Context, sweep string) (map[string]bool, error) {
	done := map[string]bool{}
	err := s.db.Query(ctx, "SELECT m.name FROM fleet_names m JOIN fleet_sweeps w ON w.n = m.sweep WHERE w.id = ?", []any{sweep}, func(r Row) error {
		var name string
		err := r.Scan(&name)
		done[name] = true
		return err
	})
	return done, err
}

// EndSweep ends a sweep and stores totals of the fleet.
func (s *Ledger) EndSweep(ctx context.Context, sweep string, at time.Time) (w fleet.Sweep, err error) {
	err = s.write(ctx, func(tx Tx) error {
		if _, err := tx.Exec(ctx, "DELETE FROM fleet_rule_counts WHERE hosts = 0"); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `UPDATE fleet_sweeps SET ended = ?,
			errors = (SELECT COALESCE(SUM(errors), 0) FROM fleet_hosts), warnings = (SELECT COALESCE(SUM(warnings), 0) FROM fleet_hosts),
			infos = (SELECT COALESCE(SUM(infos), 0) FROM fleet_hosts) WHERE id = ? AND ended = 0`, millis(at), sweep)
		if err != nil {
			return err
		}
		w, err = scanSweep(lookup(ctx, tx, "SELECT "+sweepColumns+" FROM fleet_sweeps WHERE id = ?", sweep))
		if errors.Is(err, errNoRow) {
			return ledger.ErrNotFound
		}
		return err
	})
	return w, err
}
