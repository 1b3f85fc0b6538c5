package store

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"linerate/internal/fleet"
	"linerate/internal/ledger"
)

const (
	waveColumns  = "id, began, ended, source, hosts, outcome, reason, options"
	eventColumns = "time, name, host, source, become, step, state, digest, txn, text"
)

// Waves returns the latest waves, newest first.
func (s *Ledger) Waves(ctx context.Context, limit int) ([]fleet.Wave, error) {
	return collect(ctx, s.db, "SELECT "+waveColumns+" FROM fleet_waves ORDER BY n DESC"+limited(limit), nil, func(r Row) (w fleet.Wave, err error) {
		var began, ended int64
		var options []byte
		if err = r.Scan(&w.ID, &began, &ended, &w.From, &w.Hosts, &w.Outcome, &w.Reason, &options); err == nil {
			err = json.Unmarshal(options, &w.Options)
		}
		w.Start, w.End = timeOf(began), timeOf(ended)
		return w, err
	})
}

// WaveEvents returns the events of hosts in waves that match a filter.
func (s *Ledger) WaveEvents(ctx context.Context, f fleet.WaveFilter) ([]fleet.WaveEvent, error) {
	var w where
	if f.Wave != "" {
		w.add("w.id = ?", f.Wave)
	}
	if n := len(f.Hosts); n > 0 {
		in := " IN (?" + strings.Repeat(", ?", n-1) + ")"
		w.add("(e.name" + in + " OR e.host" + in + ")")
		for range 2 {
			for _, h := range f.Hosts {
				w.args = append(w.args, h)
			}
		}
	}
	query := "SELECT e.seq, w.id, e." + strings.ReplaceAll(eventColumns, ", ", ", e.") + " FROM fleet_wave_events e JOIN fleet_waves w ON w.n = e.wave" + w.sql() + " ORDER BY e.seq"
	return collect(ctx, s.db, query, args(w.args...), func(r Row) (e fleet.WaveEvent, err error) {
		var at int64
		err = r.Scan(&e.Seq, &e.Wave, &at, &e.Name, &e.Host, &e.Source, &e.Become, &e.Step, &e.State, &e.Digest, &e.Transaction, &e.Text)
		e.Time = timeOf(at)
		return e, err
	})
}

// BeginWave records a wave with its hosts before any of them is changed.
func (s *Ledger) BeginWave(ctx context.Context, w fleet.Wave, hosts ...fleet.WaveEvent) error {
	options, err := json.Marshal(w.Options)
	if err != nil {
		return err
	}
	return s.write(ctx, func(t *work) {
		n := last(t, "n", "fleet_waves") + 1
		t.exec("INSERT INTO fleet_waves (n, "+waveColumns+") VALUES (?, ?, ?, 0, ?, ?, '', '', ?)", n, w.ID, millis(w.Start), w.From, w.Hosts, string(options))
		waveEvents(t, n, hosts)
	})
}

// NoteWave records events of hosts of a wave.
func (s *Ledger) NoteWave(ctx context.Context, wave string, events ...fleet.WaveEvent) error {
	return s.write(ctx, func(t *work) {
		var n int64
		if !t.row("SELECT n FROM fleet_waves WHERE id = ?", []any{wave}, &n) {
			t.fail(ledger.ErrNotFound)
		}
		waveEvents(t, n, events)
	})
}

func waveEvents(t *work, wave int64, events []fleet.WaveEvent) {
	seq := last(t, "seq", "fleet_wave_events")
	for _, e := range events {
		seq++
		t.exec("INSERT INTO fleet_wave_events (seq, wave, "+eventColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			seq, wave, millis(e.Time), e.Name, e.Host, e.Source, e.Become, e.Step, string(e.State), e.Digest, e.Transaction, e.Text)
	}
}

// EndWave records the outcome of a wave; a resumed one has fleet.WaveRuns.
func (s *Ledger) EndWave(ctx context.Context, wave string, at time.Time, outcome fleet.WaveOutcome, reason string) error {
	ended := millis(at)
	if outcome == fleet.WaveRuns {
		ended = 0
	}
	return s.setWave(ctx, "ended = ?, outcome = ?, reason = ?", ended, string(outcome), reason, wave)
}

// KeepWave stores the options of a wave, with the measurements so far.
func (s *Ledger) KeepWave(ctx context.Context, wave string, o fleet.WaveOptions) error {
	options, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return s.setWave(ctx, "options = ?", string(options), wave)
}

func (s *Ledger) setWave(ctx context.Context, set string, values ...any) error {
	return s.write(ctx, func(t *work) {
		if t.exec("UPDATE fleet_waves SET "+set+" WHERE id = ?", values...) == 0 {
			t.fail(ledger.ErrNotFound)
		}
	})
}
