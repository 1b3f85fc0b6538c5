package store

import (
	"context"
	"fmt"
	"time"

	"linerate/internal/queue"
)

// Lease leases a testbed.
func (b *Book) Lease(ctx context.Context, c queue.Claim) (l queue.Lease, err error) {
	if err := queue.CheckLabel(c.Label); err != nil {
		return l, err
	}
	err = do(ctx, b.DB, func(w *work) {
		w.exec(`INSERT INTO queue_testbeds (name, label, kind, state, why, holder, epoch, beat) VALUES (?, ?, ?, ?, '', '', 0, 0)
			ON CONFLICT (name) DO NOTHING`, c.Testbed, c.Label, c.Kind, queue.BedFree)
		var state, why, holder string
		var epoch, beat int64
		w.row("SELECT state, why, holder, epoch, beat FROM queue_testbeds WHERE name = ?"+b.Dialect.RowLock, []any{c.Testbed}, &state, &why, &holder, &epoch, &beat)
		now := b.now(w)
		left := b.Patience.Lost - time.Duration(now-beat)*time.Millisecond
		switch {
		case state == queue.BedQuarantined:
			w.fail(&queue.NotAvailable{Err: queue.ErrQuarantined, Why: why})
		case state == queue.BedLeased && left > 0:
			w.fail(&queue.NotAvailable{Err: queue.ErrHeld, Holder: holder, Wait: left})
		}
		l = queue.Lease{Claim: c, Epoch: epoch + 1}
		w.exec("UPDATE queue_testbeds SET state = ?, why = '', label = ?, kind = ?, holder = ?, epoch = ?, beat = ? WHERE name = ?",
			queue.BedLeased, c.Label, c.Kind, c.Holder, l.Epoch, now, c.Testbed)
		b.drop(w, c.Testbed, 0)
	})
	return l, err
}

// drop hands out again what a testbed had begun, except one job.
func (b *Book) drop(w *work, testbed string, but int64) {
	type begun struct {
		study string
		block int
		job   int64
	}
	for _, x := range rows(w, "SELECT study, block, job FROM queue_blocks WHERE testbed = ? AND state = 'running' AND job <> ?", []any{testbed, but}, func(r Row) (x begun, err error) {
		err = r.Scan(&x.study, &x.block, &x.job)
		return x, err
	}) {
		b.again(w, x.study, x.block, x.job, 0)
	}
}

// fence locks the testbed's row and fails with ErrLost unless the lease is valid.
func (b *Book) fence(w *work, l queue.Lease) {
	var epoch int64
	if found := w.row("SELECT epoch FROM queue_testbeds WHERE name = ?"+b.Dialect.RowLock, []any{l.Testbed}, &epoch); !found || epoch != l.Epoch {
		w.fail(queue.ErrLost)
	}
}

// Beat records a heartbeat; job returns the worker's current job, 0 for none. Other jobs that the
// testbed had begun are handed out again: the message about their end was lost. job is called while
// the testbed's row is locked, which a block needs to begin.
func (b *Book) Beat(ctx context.Context, l queue.Lease, job func() int64) error {
	return do(ctx, b.DB, func(w *work) {
		b.fence(w, l)
		w.exec("UPDATE queue_testbeds SET beat = "+b.Dialect.Now+" WHERE name = ?", l.Testbed)
		b.drop(w, l.Testbed, job())
	})
}

// Sweep frees the testbeds whose workers fell silent, and requeues their work.
func (b *Book) Sweep(ctx context.Context) error {
	lost := b.Patience.Lost.Milliseconds()
	return do(ctx, b.DB, func(w *work) {
		lock := b.Dialect.RowLock
		if lock != "" {
			lock += " SKIP LOCKED" // another process sweeps it, or it is sending a heartbeat
		}
		for _, name := range rows(w, "SELECT name FROM queue_testbeds WHERE state = ? AND beat < "+b.Dialect.Now+" - ? ORDER BY name"+lock, []any{queue.BedLeased, lost}, only[string]) {
			b.release(w, name, queue.BedFree, "")
		}
		b.revive(w, lost)
	})
}

// revive hands out again the blocks whose jobs are dead.
func (b *Book) revive(w *work, lost int64) {
	if w.err != nil {
		return
	}
	dead, err := b.Engine.Dead(w.ctx, w.tx, lost)
	w.fail(err)
	for _, job := range dead {
		var id string
		var block int
		if w.row("SELECT study, block FROM queue_blocks WHERE job = ? AND state = 'open'"+b.Dialect.RowLock, []any{job}, &id, &block) {
			b.again(w, id, block, job, 0)
		}
	}
}

// release takes a testbed from its holder.
func (b *Book) release(w *work, name, state, why string) {
	w.exec("UPDATE queue_testbeds SET state = ?, why = ?, holder = '', epoch = epoch + 1 WHERE name = ?", state, why, name)
	b.drop(w, name, 0)
}

// Return ends a lease and frees the testbed.
func (b *Book) Return(ctx context.Context, l queue.Lease) error {
	return b.giveUp(ctx, l, queue.BedFree, "")
}

// Quarantine takes a testbed out of use until Free.
func (b *Book) Quarantine(ctx context.Context, l queue.Lease, why string) error {
	return b.giveUp(ctx, l, queue.BedQuarantined, why)
}

func (b *Book) giveUp(ctx context.Context, l queue.Lease, state, why string) error {
	return do(ctx, b.DB, func(w *work) {
		b.fence(w, l)
		b.release(w, l.Testbed, state, why)
	})
}

// Free releases a testbed from quarantine.
func (b *Book) Free(ctx context.Context, testbed string) error {
	return do(ctx, b.DB, func(w *work) {
		if w.exec("UPDATE queue_testbeds SET state = ?, why = '', epoch = epoch + 1 WHERE name = ? AND state = ?", queue.BedFree, testbed, queue.BedQuarantined) > 0 {
			return
		}
		var state string
		if !w.row("SELECT state FROM queue_testbeds WHERE name = ?", []any{testbed}, &state) {
			w.fail(fmt.Errorf("testbed %s: %w", testbed, queue.ErrNotFound))
		}
		w.fail(fmt.Errorf("testbed %s is not in quarantine: it is %s", testbed, state))
	})
}
