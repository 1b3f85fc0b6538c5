package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"linerate/internal/queue"
)

// Lease leases a testbed.
func (b *Book) Lease(ctx context.Context, c queue.Claim) (l queue.Lease, err error) {
	if err := queue.CheckLabel(c.Label); err != nil {
		return l, err
	}
	err = b.DB.Do(ctx, func(tx Tx) error {
		if _, err := tx.Exec(ctx, `INSERT INTO queue_testbeds (name, label, kind, state, why, holder, epoch, beat) VALUES (?, ?, ?, ?, '', '', 0, 0)
			ON CONFLICT (name) DO NOTHING`, c.Testbed, c.Label, c.Kind, queue.BedFree); err != nil {
			return err
		}
		var state, why, holder string
		var epoch, beat int64
		if err := lookup(ctx, tx, "SELECT state, why, holder, epoch, beat FROM queue_testbeds WHERE name = ?"+b.Dialect.RowLock, c.Testbed).Scan(&state, &why, &holder, &epoch, &beat); err != nil {
			return err
		}
		now, err := b.now(ctx, tx)
		if err != nil {
			return err
		}
		left := b.Patience.Lost - time.Duration(now-beat)*time.Millisecond
		switch {
		case state == queue.BedQuarantined:
			return &queue.NotAvailable{Err: queue.ErrQuarantined, Why: why}
		case state == queue.BedLeased && left > 0:
			return &queue.NotAvailable{Err: queue.ErrHeld, Holder: holder, Wait: left}
		}
		l = queue.Lease{Claim: c, Epoch: epoch + 1}
		if _, err := tx.Exec(ctx, "UPDATE queue_testbeds SET state = ?, why = '', label = ?, kind = ?, holder = ?, epoch = ?, beat = ? WHERE name = ?",
			queue.BedLeased, c.Label, c.Kind, c.Holder, l.Epoch, now, c.Testbed); err != nil {
			return err
		}
		return b.drop(ctx, tx, c.Testbed, 0)
	})
	return l, err
}

// drop hands out again what a testbed had begun, except one job.
func (b *Book) drop(ctx context.Context, tx Tx, testbed string, but int64) error {
	type begun struct {
		study string
		block int
		job   int64
	}
	all, err := collect(ctx, tx, "SELECT study, block, job FROM queue_blocks WHERE testbed = ? AND state = 'running' AND job <> ?", []any{testbed, but}, func(r Row) (x begun, err error) {
		err = r.Scan(&x.study, &x.block, &x.job)
		return x, err
	})
	if err != nil {
		return err
	}
	for _, x := range all {
		if err := b.again(ctx, tx, x.study, x.block, x.job, 0); err != nil {
			return err
		}
	}
	return nil
}

// fence locks the testbed's row and fails with ErrLost unless the lease is valid.
func (b *Book) fence(ctx context.Context, tx Tx, l queue.Lease) error {
	epoch, err := one[int64](ctx, tx, "SELECT epoch FROM queue_testbeds WHERE name = ?"+b.Dialect.RowLock, l.Testbed)
	if err == nil && epoch != l.Epoch || errors.Is(err, errNoRow) {
		return queue.ErrLost
	}
	return err
}

// Beat records a heartbeat; job returns the worker's current job, 0 for none. Other jobs that the
// testbed had begun are handed out again: the message about their end was lost. job is called while
// the testbed's row is locked, which a block needs to begin.
func (b *Book) Beat(ctx context.Context, l queue.Lease, job func() int64) error {
	return b.DB.Do(ctx, func(tx Tx) error {
		if err := b.fence(ctx, tx, l); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "UPDATE queue_testbeds SET beat = "+b.Dialect.Now+" WHERE name = ?", l.Testbed); err != nil {
			return err
		}
		return b.drop(ctx, tx, l.Testbed, job())
	})
}

// Sweep frees the testbeds whose workers fell silent, and requeues their work.
func (b *Book) Sweep(ctx context.Context) error {
	lost := b.Patience.Lost.Milliseconds()
	return b.DB.Do(ctx, func(tx Tx) error {
		lock := b.Dialect.RowLock
		if lock != "" {
			lock += " SKIP LOCKED" // another process sweeps it, or it is sending a heartbeat
		}
		silent, err := Column[string](ctx, tx, "SELECT name FROM queue_testbeds WHERE state = ? AND beat < "+b.Dialect.Now+" - ? ORDER BY name"+lock, queue.BedLeased, lost)
		if err != nil {
			return err
		}
		for _, name := range silent {
			if err := b.release(ctx, tx, name, queue.BedFree, ""); err != nil {
				return err
			}
		}
		return b.revive(ctx, tx, lost)
	})
}

// revive hands out again the blocks whose jobs are dead.
func (b *Book) revive(ctx context.Context, tx Tx, lost int64) error {
	dead, err := b.Engine.Dead(ctx, tx, lost)
	if err != nil {
		return err
	}
	for _, job := range dead {
		var id string
		var block int
		err := lookup(ctx, tx, "SELECT study, block FROM queue_blocks WHERE job = ? AND state = 'open'"+b.Dialect.RowLock, job).Scan(&id, &block)
		if errors.Is(err, errNoRow) {
			continue
		}
		if err != nil {
			return err
		}
		if err := b.again(ctx, tx, id, block, job, 0); err != nil {
			return err
		}
	}
	return nil
}

// release takes a testbed from its holder.
func (b *Book) release(ctx context.Context, tx Tx, name, state, why string) error {
	if _, err := tx.Exec(ctx, "UPDATE queue_testbeds SET state = ?, why = ?, holder = '', epoch = epoch + 1 WHERE name = ?", state, why, name); err != nil {
		return err
	}
	return b.drop(ctx, tx, name, 0)
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
	return b.DB.Do(ctx, func(tx Tx) error {
		if err := b.fence(ctx, tx, l); err != nil {
			return err
		}
		return b.release(ctx, tx, l.Testbed, state, why)
	})
}

// Free releases a testbed from quarantine.
func (b *Book) Free(ctx context.Context, testbed string) error {
	return b.DB.Do(ctx, func(tx Tx) error {
		n, err := tx.Exec(ctx, "UPDATE queue_testbeds SET state = ?, why = '', epoch = epoch + 1 WHERE name = ? AND state = ?", queue.BedFree, testbed, queue.BedQuarantined)
		if err != nil || n > 0 {
			return err
		}
		state, err := one[string](ctx, tx, "SELECT state FROM queue_testbeds WHERE name = ?", testbed)
		if errors.Is(err, errNoRow) {
			return fmt.Errorf("testbed %s: %w", testbed, queue.ErrNotFound)
		}
		if err != nil {
			return err
		}
		return fmt.Errorf("testbed %s is not in quarantine: it is %s", testbed, state)
	})
}
