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
	err = do(ctx, b.DB, func(w *work) {
		b.fence(w, l)
		if brake := value[string](w, brakeQuery); brake != "" {
			w.fail(errBraked)
		}
		var state, blocks string
		var text []byte
		j = queue.Job{Study: t.Study, Finish: t.Block == 0}
		w.row("SELECT state, spec, sets FROM queue_studies WHERE id = ?"+b.Dialect.RowLock, []any{t.Study}, &state, &text, &j.Sets)
		if want := map[bool]queue.State{false: queue.Open, true: queue.Finishing}[j.Finish]; queue.State(state) != want {
			w.fail(errStale)
		}
		if w.exec(`UPDATE queue_blocks SET state = 'running', testbed = ?, epoch = ? WHERE study = ? AND block = ? AND job = ?
			AND (state = 'open' OR state = 'running' AND testbed = ? AND epoch = ?)`, l.Testbed, l.Epoch, t.Study, t.Block, t.Job, l.Testbed, l.Epoch) == 0 {
			w.fail(errStale)
		}
		w.row("SELECT part, blocks, tries FROM queue_blocks WHERE study = ? AND block = ?", []any{t.Study, t.Block}, &j.Unit.Part, &blocks, &j.Try)
		if w.err != nil {
			return
		}
		j.Try++
		w.fail(json.Unmarshal([]byte(blocks), &j.Unit.Blocks))
		j.Spec, j.Seed, err = parse(t.Study, text)
		w.fail(err)
		if j.Lacks = b.lacks(w, t.Study); !j.Finish {
			j.Before = b.trials(w, t.Study, "AND (part <> ? OR unavailable = 1)", j.Unit.Part)
		}
	})
	return j, err
}

// mine locks the study and the ticket's block, and fails unless the lease may end the block; it returns
// false if this ticket already ended it.
func (b *Book) mine(w *work, l queue.Lease, t Ticket) bool {
	b.fence(w, l)
	value[string](w, "SELECT state FROM queue_studies WHERE id = ?"+b.Dialect.RowLock, t.Study)
	var state, bed string
	var epoch, job int64
	w.row("SELECT state, testbed, epoch, job FROM queue_blocks WHERE study = ? AND block = ?"+b.Dialect.RowLock, []any{t.Study, t.Block}, &state, &bed, &epoch, &job)
	if job != t.Job || bed != l.Testbed || epoch != l.Epoch {
		w.fail(errStale)
	}
	return w.err == nil && state != "done"
}

// complete records a job's outcome, in one transaction with the job's end (ended).
func (b *Book) complete(ctx context.Context, l queue.Lease, t Ticket, o queue.Outcome, ended func(context.Context, Tx) error) error {
	return do(ctx, b.DB, func(w *work) {
		if !b.mine(w, l, t) {
			return
		}
		w.exec("UPDATE queue_blocks SET state = 'done' WHERE study = ? AND block = ?", t.Study, t.Block)
		if t.Block == 0 {
			w.exec("UPDATE queue_studies SET state = ?, ledger = ? WHERE id = ?", string(queue.Done), o.Ledger, t.Study)
		} else {
			b.record(w, l, t, o)
			b.onward(w, t.Study)
		}
		if w.err == nil {
			w.err = ended(ctx, w.tx)
		}
	})
}

// record stores trials, raw material and the testbed's environment.
func (b *Book) record(w *work, l queue.Lease, t Ticket, o queue.Outcome) {
	type place struct {
		part, arm string
		block     int
	}
	tried := map[place]int{}
	for _, tr := range o.Trials {
		tr.Testbed = l.Testbed
		doc, err := json.Marshal(tr)
		w.fail(err)
		at := place{tr.Part, tr.Variant, tr.Block}
		tried[at]++
		gone := 0
		if tr.Unavailable != "" {
			gone = 1
		}
		w.exec("INSERT INTO queue_trials (study, part, block, arm, attempt, place, unavailable, testbed, epoch, doc) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			t.Study, tr.Part, tr.Block, tr.Variant, tried[at], tr.Order, gone, l.Testbed, l.Epoch, string(doc))
	}
	for _, f := range o.Files {
		w.exec("INSERT INTO queue_files (study, name, data) VALUES (?, ?, ?)", t.Study, f.Name, f.Data)
	}
	if len(o.Trials) == 0 && len(o.Environment.Unavailable) == 0 {
		return // the testbed was not even set up
	}
	w.exec(`INSERT INTO queue_beds (study, testbed, environment, facts) VALUES (?, ?, ?, ?)
		ON CONFLICT (study, testbed) DO UPDATE SET environment = excluded.environment`, t.Study, l.Testbed, b.bedSince(w, l, t, o.Environment), append([]byte{}, o.Facts...))
}

// bedSince merges a testbed's environment with that for earlier blocks of the study.
func (b *Book) bedSince(w *work, l queue.Lease, t Ticket, env study.Environment) string {
	var before string
	if w.row("SELECT environment FROM queue_beds WHERE study = ? AND testbed = ?", []any{t.Study, l.Testbed}, &before) {
		var old study.Environment
		w.fail(json.Unmarshal([]byte(before), &old))
		env = old.Then(env)
	}
	doc, err := json.Marshal(env)
	w.fail(err)
	return string(doc)
}

// soFar parses a study, and returns it with its trials so far.
func (b *Book) soFar(w *work, id string, text []byte) (spec study.Spec, seed uint64, trials []study.Trial) {
	spec, seed, err := parse(id, text)
	w.fail(err)
	return spec, seed, b.trials(w, id, "")
}

// onward hands out the next units when no unit of a study is waiting.
func (b *Book) onward(w *work, id string) {
	w.exec("UPDATE queue_studies SET waiting = waiting - 1 WHERE id = ?", id)
	var waiting int
	var label string
	var text []byte
	if !w.row("SELECT waiting, label, spec FROM queue_studies WHERE id = ?", []any{id}, &waiting, &label, &text) || waiting > 0 {
		return
	}
	spec, seed, trials := b.soFar(w, id, text)
	lacks := b.lacks(w, id)
	if w.err != nil {
		return
	}
	skip := func(p study.Part) bool {
		return study.Environment{Unavailable: lacks}.Lacks(p) || spec.OutOfReach(p, trials) != ""
	}
	units := study.Units(spec, seed, trials, skip)
	units = slices.DeleteFunc(units, func(u study.Unit) bool { // tried to the end, and still incomplete
		return value[int](w, "SELECT COUNT(*) FROM queue_blocks WHERE study = ? AND block = ? AND state = 'done'", id, u.Blocks[0]) > 0
	})
	if len(units) > 0 {
		b.hand(w, id, label, units)
		return
	}
	w.exec("UPDATE queue_studies SET state = ? WHERE id = ?", string(queue.Finishing), id)
	b.put(w, id, label, "", nil)
}

// failed hands a block out again; blame counts failures that may be the study's fault, and after
// too many for one block the study fails.
func (b *Book) failed(ctx context.Context, l queue.Lease, t Ticket, why string, blame int) error {
	return do(ctx, b.DB, func(w *work) {
		if !b.mine(w, l, t) {
			return
		}
		tries := value[int](w, "SELECT tries FROM queue_blocks WHERE study = ? AND block = ?", t.Study, t.Block)
		if tries+blame >= queue.MaxTries && t.Block > 0 {
			b.end(w, t.Study, queue.Failed, fmt.Sprintf("block %d failed %d times, last on testbed %s: %s", t.Block, tries+blame, l.Testbed, why))
			return
		}
		b.again(w, t.Study, t.Block, t.Job, blame)
	})
}

// lacks returns the variants that some testbed cannot provide, with reasons.
func (b *Book) lacks(w *work, id string) map[string]string {
	beds := b.beds(w, id)
	names, envs := make([]string, len(beds)), make([]study.Environment, len(beds))
	for i, x := range beds {
		names[i], envs[i] = x.Testbed, x.Environment
	}
	return study.AcrossBeds(names, envs).Unavailable
}

// beds returns the environment of each testbed for a study, by name.
func (b *Book) beds(w *work, id string) []queue.BedRecord {
	return rows(w, "SELECT testbed, environment, facts FROM queue_beds WHERE study = ? ORDER BY testbed"+b.Dialect.Order, []any{id}, func(r Row) (x queue.BedRecord, err error) {
		var doc []byte
		if err = r.Scan(&x.Testbed, &doc, &x.Facts); err == nil {
			err = json.Unmarshal(doc, &x.Environment)
		}
		return x, err
	})
}

// trials returns a study's trials, by block and place; and is an additional condition.
func (b *Book) trials(w *work, id, and string, args ...any) (all []study.Trial) {
	if w.err == nil {
		all, w.err = docs[study.Trial](w.ctx, w.tx, "SELECT doc FROM queue_trials WHERE study = ? "+and+" ORDER BY block, place", append([]any{id}, args...)...)
	}
	return all
}
