package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"linerate/internal/queue"
	"linerate/internal/study"
)

// Submit queues a study.
func (b *Book) Submit(ctx context.Context, s queue.Submission) error {
	if err := queue.CheckLabel(s.Label); err != nil {
		return err
	}
	spec, seed, err := parse(s.ID, s.Spec)
	if err != nil {
		return err
	}
	units := study.Units(spec, seed, nil, nil)
	if len(units) == 0 {
		return fmt.Errorf("study %s has nothing to run", s.Name)
	}
	return do(ctx, b.DB, func(w *work) {
		w.exec("INSERT INTO queue_studies (id, name, label, kind, submitter, submitted, estimate, state, why, waiting, spec, sets, ledger) VALUES (?, ?, ?, ?, ?, ?, ?, ?, '', 0, ?, ?, '')",
			s.ID, s.Name, s.Label, s.Kind, s.Submitter, b.now(w), s.Estimate.Milliseconds(), string(queue.Open), s.Spec, append([]byte{}, s.Sets...))
		b.hand(w, s.ID, s.Label, units)
	})
}

// parse parses a submitted study.
func parse(id string, text []byte) (study.Spec, uint64, error) {
	spec, err := study.Parse(id, text)
	if err == nil && spec.Seed == nil {
		err = errors.New("the study has no seed")
	}
	if err != nil {
		return study.Spec{}, 0, err
	}
	return spec, *spec.Seed, nil
}

// hand creates jobs for units.
func (b *Book) hand(w *work, id, label string, units []study.Unit) {
	for _, u := range units {
		b.put(w, id, label, u.Part, u.Blocks)
	}
	w.exec("UPDATE queue_studies SET waiting = waiting + ? WHERE id = ?", len(units), id)
}

// put creates one job; without blocks it finishes the study.
func (b *Book) put(w *work, id, label, part string, blocks []int) {
	first := 0
	if len(blocks) > 0 {
		first = blocks[0]
	}
	job := b.job(w, label, Ticket{Study: id, Block: first})
	list, err := json.Marshal(blocks)
	w.fail(err)
	w.exec("INSERT INTO queue_blocks (study, block, part, blocks, job, state, testbed, epoch, tries) VALUES (?, ?, ?, ?, ?, 'open', '', 0, 0)",
		id, first, part, string(list), job)
}

// job creates a job of the engine.
func (b *Book) job(w *work, label string, t Ticket) (job int64) {
	if w.err == nil {
		job, w.err = b.Engine.Put(w.ctx, w.tx, label, t)
	}
	return job
}

func (b *Book) withdraw(w *work, job int64) {
	if w.err == nil {
		w.err = b.Engine.Withdraw(w.ctx, w.tx, job)
	}
}

// again hands a block out once more: its job is withdrawn, and the worker that has it can no longer
// end it.
func (b *Book) again(w *work, id string, block int, old int64, blame int) {
	job := b.job(w, value[string](w, "SELECT label FROM queue_studies WHERE id = ?", id), Ticket{Study: id, Block: block})
	w.exec("UPDATE queue_blocks SET state = 'open', testbed = '', epoch = 0, job = ?, tries = tries + ? WHERE study = ? AND block = ?", job, blame, id, block)
	b.withdraw(w, old)
}

// Cancel cancels a study.
func (b *Book) Cancel(ctx context.Context, id, why string) error {
	return do(ctx, b.DB, func(w *work) { b.end(w, id, queue.Cancelled, why) })
}

// end ends a study and withdraws its jobs.
func (b *Book) end(w *work, id string, state queue.State, why string) {
	var was string
	switch found := w.row("SELECT state FROM queue_studies WHERE id = ?"+b.Dialect.RowLock, []any{id}, &was); {
	case !found:
		w.fail(fmt.Errorf("study %s: %w", id, queue.ErrNotFound))
	case queue.State(was).Ended():
		w.fail(fmt.Errorf("study %s ended before: it is %s", id, was))
	}
	for _, job := range rows(w, "SELECT job FROM queue_blocks WHERE study = ? AND state <> 'done'", []any{id}, only[int64]) {
		b.withdraw(w, job)
	}
	w.exec("DELETE FROM queue_blocks WHERE study = ? AND state <> 'done'", id)
	w.exec("UPDATE queue_studies SET state = ?, why = ? WHERE id = ?", string(state), why, id)
}
