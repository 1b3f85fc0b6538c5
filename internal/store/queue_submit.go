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
	return b.DB.Do(ctx, func(tx Tx) error {
		now, err := b.now(ctx, tx)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "INSERT INTO queue_studies (id, name, label, kind, submitter, submitted, estimate, state, why, waiting, spec, sets, ledger) VALUES (?, ?, ?, ?, ?, ?, ?, ?, '', 0, ?, ?, '')",
			s.ID, s.Name, s.Label, s.Kind, s.Submitter, now, s.Estimate.Milliseconds(), string(queue.Open), s.Spec, append([]byte{}, s.Sets...)); err != nil {
			return err
		}
		return b.hand(ctx, tx, s.ID, s.Label, units)
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
func (b *Book) hand(ctx context.Context, tx Tx, id, label string, units []study.Unit) error {
	for _, u := range units {
		if err := b.put(ctx, tx, id, label, u.Part, u.Blocks); err != nil {
			return err
		}
	}
	_, err := tx.Exec(ctx, "UPDATE queue_studies SET waiting = waiting + ? WHERE id = ?", len(units), id)
	return err
}

// put creates one job; without blocks it finishes the study.
func (b *Book) put(ctx context.Context, tx Tx, id, label, part string, blocks []int) error {
	first := 0
	if len(blocks) > 0 {
		first = blocks[0]
	}
	job, err := b.Engine.Put(ctx, tx, label, Ticket{Study: id, Block: first})
	if err != nil {
		return err
	}
	list, err := json.Marshal(blocks)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "INSERT INTO queue_blocks (study, block, part, blocks, job, state, testbed, epoch, tries) VALUES (?, ?, ?, ?, ?, 'open', '', 0, 0)",
		id, first, part, string(list), job)
	return err
}

// again hands a block out once more: its job is withdrawn, and the worker that has it can no longer
// end it.
func (b *Book) again(ctx context.Context, tx Tx, id string, block int, old int64, blame int) error {
	label, err := one[string](ctx, tx, "SELECT label FROM queue_studies WHERE id = ?", id)
	if err != nil {
		return err
	}
	job, err := b.Engine.Put(ctx, tx, label, Ticket{Study: id, Block: block})
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "UPDATE queue_blocks SET state = 'open', testbed = '', epoch = 0, job = ?, tries = tries + ? WHERE study = ? AND block = ?", job, blame, id, block); err != nil {
		return err
	}
	return b.Engine.Withdraw(ctx, tx, old)
}

// Cancel cancels a study.
func (b *Book) Cancel(ctx context.Context, id, why string) error {
	return b.DB.Do(ctx, func(tx Tx) error { return b.end(ctx, tx, id, queue.Cancelled, why) })
}

// end ends a study and withdraws its jobs.
func (b *Book) end(ctx context.Context, tx Tx, id string, state queue.State, why string) error {
	was, err := one[string](ctx, tx, "SELECT state FROM queue_studies WHERE id = ?"+b.Dialect.RowLock, id)
	if errors.Is(err, errNoRow) {
		return fmt.Errorf("study %s: %w", id, queue.ErrNotFound)
	}
	if err != nil {
		return err
	}
	if queue.State(was).Ended() {
		return fmt.Errorf("study %s ended before: it is %s", id, was)
	}
	jobs, err := Column[int64](ctx, tx, "SELECT job FROM queue_blocks WHERE study = ? AND state <> 'done'", id)
	if err != nil {
		return err
	}
	for _, job := range jobs {
		if err := b.Engine.Withdraw(ctx, tx, job); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(ctx, "DELETE FROM queue_blocks WHERE study = ? AND state <> 'done'", id); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "UPDATE queue_studies SET state = ?, why = ? WHERE id = ?", string(state), why, id)
	return err
}
