package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"linerate/internal/queue"
	"linerate/internal/study"
)

// Errors for a worker with a ticket.
var (
	errStale  = errors.New("the block belongs to another worker, or its study has ended")
	errBraked = errors.New("the fleet is paused")
)

// begin assigns a ticket's block to a testbed.
func (b *Book) begin(ctx context.Context, l queue.Lease, t Ticket) (j queue.Job, err error) {
	err = b.DB.Do(ctx, func(tx Tx) error {
		if err := b.fence(ctx, tx, l); err != nil {
			return err
		}
		brake, err := braked(ctx, tx)
		if err != nil {
			return err
		}
		if brake != "" {
			return errBraked
		}
		var state string
		var text []byte
		j = queue.Job{Study: t.Study, Finish: t.Block == 0}
		if err := lookup(ctx, tx, "SELECT state, spec, sets FROM queue_studies WHERE id = ?"+b.Dialect.RowLock, t.Study).Scan(&state, &text, &j.Sets); err != nil {
			return stale(err)
		}
		if want := map[bool]queue.State{false: queue.Open, true: queue.Finishing}[j.Finish]; queue.State(state) != want {
			return errStale
		}
		n, err := tx.Exec(ctx, `UPDATE queue_blocks SET state = 'running', testbed = ?, epoch = ? WHERE study = ? AND block = ? AND job = ?
			AND (state = 'open' OR state = 'running' AND testbed = ? AND epoch = ?)`, l.Testbed, l.Epoch, t.Study, t.Block, t.Job, l.Testbed, l.Epoch)
		if err == nil && n == 0 {
			err = errStale
		}
		if err != nil {
			return err
		}
		var list string
		if err := lookup(ctx, tx, "SELECT part, blocks, tries FROM queue_blocks WHERE study = ? AND block = ?", t.Study, t.Block).Scan(&j.Unit.Part, &list, &j.Try); err != nil {
			return err
		}
		j.Try++
		if err := json.Unmarshal([]byte(list), &j.Unit.Blocks); err != nil {
			return err
		}
		if j.Spec, j.Seed, err = parse(t.Study, text); err != nil {
			return err
		}
		if j.Lacks, err = b.lacks(ctx, tx, t.Study); err != nil || j.Finish {
			return err
		}
		j.Before, err = b.trials(ctx, tx, t.Study, "AND (part <> ? OR unavailable = 1)", j.Unit.Part)
		return err
	})
	return j, err
}

// stale turns errNoRow into errStale.
func stale(err error) error {
	if errors.Is(err, errNoRow) {
		return errStale
	}
	return err
}

// mine locks the study and the ticket's block, and returns an error unless the lease may end the
// block; done means that this ticket already ended it.
func (b *Book) mine(ctx context.Context, tx Tx, l queue.Lease, t Ticket) (done bool, err error) {
	if err := b.fence(ctx, tx, l); err != nil {
		return false, err
	}
	if _, err := one[string](ctx, tx, "SELECT state FROM queue_studies WHERE id = ?"+b.Dialect.RowLock, t.Study); err != nil {
		return false, stale(err)
	}
	var state, bed string
	var epoch, job int64
	err = lookup(ctx, tx, "SELECT state, testbed, epoch, job FROM queue_blocks WHERE study = ? AND block = ?"+b.Dialect.RowLock, t.Study, t.Block).Scan(&state, &bed, &epoch, &job)
	if err != nil {
		return false, stale(err)
	}
	if job != t.Job || bed != l.Testbed || epoch != l.Epoch {
		return false, errStale
	}
	return state == "done", nil
}

// complete records a job's outcome, in one transaction with the job's end (ended).
func (b *Book) complete(ctx context.Context, l queue.Lease, t Ticket, o queue.Outcome, ended func(context.Context, Tx) error) error {
	return b.DB.Do(ctx, func(tx Tx) error {
		done, err := b.mine(ctx, tx, l, t)
		if err != nil || done {
			return err
		}
		if _, err := tx.Exec(ctx, "UPDATE queue_blocks SET state = 'done' WHERE study = ? AND block = ?", t.Study, t.Block); err != nil {
			return err
		}
		if t.Block == 0 {
			if _, err := tx.Exec(ctx, "UPDATE queue_studies SET state = ?, ledger = ? WHERE id = ?", string(queue.Done), o.Ledger, t.Study); err != nil {
				return err
			}
			return ended(ctx, tx)
		}
		if err := b.record(ctx, tx, l, t, o); err != nil {
			return err
		}
		if err := b.onward(ctx, tx, t.Study); err != nil {
			return err
		}
		return ended(ctx, tx)
	})
}

// record stores trials, raw material and the testbed's environment.
func (b *Book) record(ctx context.Context, tx Tx, l queue.Lease, t Ticket, o queue.Outcome) error {
	type place struct {
		part, arm string
		block     int
	}
	tried := map[place]int{}
	for _, tr := range o.Trials {
		tr.Testbed = l.Testbed
		doc, err := json.Marshal(tr)
		if err != nil {
			return fmt.Errorf("write a trial: %w", err)
		}
		at := place{tr.Part, tr.Variant, tr.Block}
		tried[at]++
		gone := 0
		if tr.Unavailable != "" {
			gone = 1
		}
		if _, err := tx.Exec(ctx, "INSERT INTO queue_trials (study, part, block, arm, attempt, place, unavailable, testbed, epoch, doc) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			t.Study, tr.Part, tr.Block, tr.Variant, tried[at], tr.Order, gone, l.Testbed, l.Epoch, string(doc)); err != nil {
			return err
		}
	}
	for _, f := range o.Files {
		if _, err := tx.Exec(ctx, "INSERT INTO queue_files (study, name, data) VALUES (?, ?, ?)", t.Study, f.Name, f.Data); err != nil {
			return err
		}
	}
	if len(o.Trials) == 0 && len(o.Environment.Unavailable) == 0 {
		return nil // the testbed was not even set up
	}
	env, err := b.bedSince(ctx, tx, l, t, o.Environment)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO queue_beds (study, testbed, environment, facts) VALUES (?, ?, ?, ?)
		ON CONFLICT (study, testbed) DO UPDATE SET environment = excluded.environment`, t.Study, l.Testbed, env, append([]byte{}, o.Facts...))
	return err
}

// bedSince merges a testbed's environment with that for earlier blocks of the study.
func (b *Book) bedSince(ctx context.Context, tx Tx, l queue.Lease, t Ticket, env study.Environment) (string, error) {
	before, err := one[string](ctx, tx, "SELECT environment FROM queue_beds WHERE study = ? AND testbed = ?", t.Study, l.Testbed)
	if err == nil {
		var old study.Environment
		if err := json.Unmarshal([]byte(before), &old); err != nil {
			return "", err
		}
		env = old.Then(env)
	} else if !errors.Is(err, errNoRow) {
		return "", err
	}
	doc, err := json.Marshal(env)
	return string(doc), err
}

// soFar parses a study, and returns it with its trials so far.
func (b *Book) soFar(ctx context.Context, tx Tx, id string, text []byte) (spec study.Spec, seed uint64, trials []study.Trial, err error) {
	if spec, seed, err = parse(id, text); err == nil {
		trials, err = b.trials(ctx, tx, id, "")
	}
	return spec, seed, trials, err
}

// onward hands out the next units when no unit of a study is waiting.
func (b *Book) onward(ctx context.Context, tx Tx, id string) error {
	if _, err := tx.Exec(ctx, "UPDATE queue_studies SET waiting = waiting - 1 WHERE id = ?", id); err != nil {
		return err
	}
	var waiting int
	var label string
	var text []byte
	if err := lookup(ctx, tx, "SELECT waiting, label, spec FROM queue_studies WHERE id = ?", id).Scan(&waiting, &label, &text); err != nil || waiting > 0 {
		return err
	}
	spec, seed, trials, err := b.soFar(ctx, tx, id, text)
	if err != nil {
		return err
	}
	lacks, err := b.lacks(ctx, tx, id)
	if err != nil {
		return err
	}
	skip := func(p study.Part) bool {
		return study.Environment{Unavailable: lacks}.Lacks(p) || spec.OutOfReach(p, trials) != ""
	}
	units := study.Units(spec, seed, trials, skip)
	units = slices.DeleteFunc(units, func(u study.Unit) bool { // tried to the end, and still incomplete
		n, err := one[int](ctx, tx, "SELECT COUNT(*) FROM queue_blocks WHERE study = ? AND block = ? AND state = 'done'", id, u.Blocks[0])
		return err == nil && n > 0
	})
	if len(units) > 0 {
		return b.hand(ctx, tx, id, label, units)
	}
	if _, err := tx.Exec(ctx, "UPDATE queue_studies SET state = ? WHERE id = ?", string(queue.Finishing), id); err != nil {
		return err
	}
	return b.put(ctx, tx, id, label, "", nil)
}

// failed hands a block out again; blame counts failures that may be the study's fault, and after
// too many for one block the study fails.
func (b *Book) failed(ctx context.Context, l queue.Lease, t Ticket, why string, blame int) error {
	return b.DB.Do(ctx, func(tx Tx) error {
		done, err := b.mine(ctx, tx, l, t)
		if err != nil || done {
			return err
		}
		tries, err := one[int](ctx, tx, "SELECT tries FROM queue_blocks WHERE study = ? AND block = ?", t.Study, t.Block)
		if err != nil {
			return err
		}
		if tries+blame >= queue.MaxTries && t.Block > 0 {
			return b.end(ctx, tx, t.Study, queue.Failed, fmt.Sprintf("block %d failed %d times, last on testbed %s: %s", t.Block, tries+blame, l.Testbed, why))
		}
		return b.again(ctx, tx, t.Study, t.Block, t.Job, blame)
	})
}

// lacks returns the variants that some testbed cannot provide, with reasons.
func (b *Book) lacks(ctx context.Context, tx Tx, id string) (map[string]string, error) {
	beds, err := b.beds(ctx, tx, id)
	if err != nil {
		return nil, err
	}
	names, envs := make([]string, len(beds)), make([]study.Environment, len(beds))
	for i, x := range beds {
		names[i], envs[i] = x.Testbed, x.Environment
	}
	return study.AcrossBeds(names, envs).Unavailable, nil
}

// beds returns the environment of each testbed for a study, by name.
func (b *Book) beds(ctx context.Context, tx Tx, id string) ([]queue.BedRecord, error) {
	return collect(ctx, tx, "SELECT testbed, environment, facts FROM queue_beds WHERE study = ? ORDER BY testbed"+b.Dialect.Order, []any{id}, func(r Row) (x queue.BedRecord, err error) {
		var doc []byte
		if err = r.Scan(&x.Testbed, &doc, &x.Facts); err == nil {
			err = json.Unmarshal(doc, &x.Environment)
		}
		return x, err
	})
}

// trials returns a study's trials, by block and place; and is an additional condition.
func (b *Book) trials(ctx context.Context, tx Tx, id, and string, args ...any) ([]study.Trial, error) {
	return docs[study.Trial](ctx, tx, "SELECT doc FROM queue_trials WHERE study = ? "+and+" ORDER BY block, place", append([]any{id}, args...)...)
}
