package store

import (
	"context"
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
	err = s.write(ctx, func(t *work) {
		var known bool
		if out, known = sweep(t, w.ID); known {
			if !out.End.IsZero() {
				t.fail(ledger.ErrSweepEnded)
			}
			return
		}
		out = fleet.Sweep{ID: w.ID, Start: timeOf(millis(w.Start)), From: w.From, Hosts: w.Hosts, Knowledge: w.Knowledge}
		t.exec("INSERT INTO fleet_sweeps (n, "+sweepColumns+") VALUES (?, ?, ?, 0, ?, ?, 0, 0, 0, 0, 0, 0, 0, ?)",
			last(t, "n", "fleet_sweeps")+1, w.ID, millis(w.Start), w.From, w.Hosts, w.Knowledge)
	})
	return out, err
}

// sweep returns a sweep by its ID.
func sweep(t *work, id string) (fleet.Sweep, bool) {
	for _, w := range rows(t, "SELECT "+sweepColumns+" FROM fleet_sweeps WHERE id = ?", []any{id}, scanSweep) {
		return w, true
	}
	return fleet.Sweep{}, false
}

// last returns the last number in a table, 0 in an empty one.
func last(w *work, column, table string) int64 {
	return value[int64](w, "SELECT COALESCE(MAX("+column+"), 0) FROM "+table)
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
func (s *Ledger) EndSweep(ctx context.Context, id string, at time.Time) (w fleet.Sweep, err error) {
	err = s.write(ctx, func(t *work) {
		t.exec("DELETE FROM fleet_rule_counts WHERE hosts = 0")
		t.exec(`UPDATE fleet_sweeps SET ended = ?,
			errors = (SELECT COALESCE(SUM(errors), 0) FROM fleet_hosts), warnings = (SELECT COALESCE(SUM(warnings), 0) FROM fleet_hosts),
			infos = (SELECT COALESCE(SUM(infos), 0) FROM fleet_hosts) WHERE id = ? AND ended = 0`, millis(at), id)
		var known bool
		if w, known = sweep(t, id); !known {
			t.fail(ledger.ErrNotFound)
		}
	})
	return w, err
}
