package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"linerate/internal/hint"
	"linerate/internal/queue"
)

// Brake prevents blocks from starting; "" releases the brake.
func (b *Book) Brake(ctx context.Context, why string) error {
	return do(ctx, b.DB, func(w *work) { w.exec("UPDATE queue_settings SET value = ? WHERE name = 'brake'", why) })
}

// Braked returns why nothing starts, "" if blocks can.
func (b *Book) Braked(ctx context.Context) (string, error) { return one[string](ctx, b.DB, brakeQuery) }

const brakeQuery = "SELECT value FROM queue_settings WHERE name = 'brake'"

// Studies returns the submitted studies, newest first.
func (b *Book) Studies(ctx context.Context, all bool) ([]queue.Study, error) {
	where := ""
	if !all {
		where = fmt.Sprintf("WHERE s.state IN ('%s', '%s')", queue.Open, queue.Finishing)
	}
	return collect(ctx, b.DB, `SELECT s.id, s.name, s.label, s.kind, s.submitter, s.submitted, s.state, s.why, s.estimate, s.ledger,
		(SELECT COUNT(*) FROM queue_blocks b WHERE b.study = s.id AND b.block > 0),
		(SELECT COUNT(*) FROM queue_blocks b WHERE b.study = s.id AND b.block > 0 AND b.state = 'done'),
		(SELECT COUNT(*) FROM queue_blocks b WHERE b.study = s.id AND b.block > 0 AND b.state = 'running'),
		(SELECT COUNT(*) FROM queue_trials t WHERE t.study = s.id)
		FROM queue_studies s `+where+` ORDER BY s.submitted DESC, s.id`, nil, func(r Row) (s queue.Study, err error) {
		var submitted, estimate int64
		err = r.Scan(&s.ID, &s.Name, &s.Label, &s.Kind, &s.Submitter, &submitted, &s.State, &s.Why, &estimate, &s.Ledger, &s.Blocks, &s.Done, &s.Running, &s.Trials)
		s.Submitted, s.EstimateSeconds = time.UnixMilli(submitted).UTC(), float64(estimate)/1000
		return s, err
	})
}

// Study returns the study with an ID prefix.
func (b *Book) Study(ctx context.Context, id string) (queue.Study, error) {
	all, err := b.Studies(ctx, true)
	if err != nil {
		return queue.Study{}, err
	}
	var names []string
	var found []queue.Study
	for _, s := range all {
		names = append(names, s.ID)
		if s.ID == id {
			return s, nil
		}
		if id != "" && strings.HasPrefix(s.ID, id) {
			found = append(found, s)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return queue.Study{}, hint.Usagef("%q matches %d studies of the queue", id, len(found))
	}
	err = hint.Unknown("study in the queue", id, names)
	if hint.Of(err) == "" {
		err = hint.With(err, "linerate study queue lists them")
	}
	return queue.Study{}, err
}

// Record returns a study's record so far.
func (b *Book) Record(ctx context.Context, id string) (files []queue.File, err error) {
	err = do(ctx, b.DB, func(w *work) {
		var text, sets []byte
		if !w.row("SELECT spec, sets FROM queue_studies WHERE id = ?", []any{id}, &text, &sets) {
			w.fail(fmt.Errorf("study %s: %w", id, queue.ErrNotFound))
			return
		}
		spec, seed, trials := b.soFar(w, id, text)
		beds := b.beds(w, id)
		if w.err != nil {
			return
		}
		files, err = queue.MakeRecord(spec, seed, text, beds, trials)
		w.fail(err)
		if len(sets) > len("{}") {
			files = append(files, queue.File{Name: queue.SetsFile, Data: sets})
		}
		files = append(files, rows(w, "SELECT name, data FROM queue_files WHERE study = ? ORDER BY name"+b.Dialect.Order, []any{id}, func(r Row) (f queue.File, err error) {
			err = r.Scan(&f.Name, &f.Data)
			return f, err
		})...)
	})
	return files, err
}

// Testbeds returns all testbeds that were ever leased, by name.
func (b *Book) Testbeds(ctx context.Context) (list []queue.Testbed, err error) {
	err = do(ctx, b.DB, func(w *work) {
		now := b.now(w)
		list = rows(w, "SELECT name, label, kind, state, why, holder, epoch, beat FROM queue_testbeds ORDER BY name"+b.Dialect.Order, nil, func(r Row) (t queue.Testbed, err error) {
			var beat int64
			err = r.Scan(&t.Name, &t.Label, &t.Kind, &t.State, &t.Why, &t.Holder, &t.Epoch, &beat)
			t.SilentSeconds = float64(now-beat) / 1000
			return t, err
		})
		if w.err != nil {
			return
		}
		w.fail(w.tx.Query(ctx, "SELECT testbed, study, block FROM queue_blocks WHERE state = 'running'", nil, func(r Row) error {
			var name, id string
			var block int
			err := r.Scan(&name, &id, &block)
			if i := slices.IndexFunc(list, func(t queue.Testbed) bool { return t.Name == name }); i >= 0 {
				list[i].Study, list[i].Block = id, block
			}
			return err
		}))
	})
	return list, err
}
