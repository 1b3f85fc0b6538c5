package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/queue"
	"linerate/internal/study"
)

// TestChaos lets workers, users and a failing database act in an order drawn from a seed, also while a block
// runs, and checks after every transaction that the tables are consistent. In the end one healthy worker
// completes every study that was not cancelled: no trial may be lost or recorded twice.
func TestChaos(t *testing.T) {
	whole := reference(t)
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			c := &chaos{world: newWorld(t), rand: rand.New(rand.NewPCG(seed, 7)), kept: map[string]string{}, epochs: map[string]int64{}, finished: map[string]int{}}
			c.check = c.inOrder
			for i := range 3 {
				c.submit(fmt.Sprintf("s%d", i))
			}
			for range 150 {
				c.step(2)
			}
			c.settle()
			for i := range 3 {
				c.complete(fmt.Sprintf("s%d", i), whole)
			}
		})
	}
}

// reference returns the study's trials when one worker runs it without faults.
func reference(t *testing.T) []string {
	w := newWorld(t)
	w.submit("s")
	w.worker(w.lease("bed"), plain("bed")).drain()
	return w.places("s")
}

// places returns a study's recorded trials, without what differs by testbed.
func (w *world) places(id string) (all []string) {
	w.t.Helper()
	err := w.DB.Do(w.t.Context(), func(tx Tx) (err error) {
		all, err = Column[string](w.t.Context(), tx, "SELECT part || ' ' || block || ' ' || arm || ' ' || attempt FROM queue_trials WHERE study = ? ORDER BY 1", id)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

type chaos struct {
	*world
	rand     *rand.Rand
	workers  []*worker         // including dead ones, some of which do not know it
	kept     map[string]string // committed trials and their content
	epochs   map[string]int64  // of testbeds
	finished map[string]int    // by study: how often a ledger stored it
	calm     bool
}

// inOrder checks what must hold between any two transactions.
func (c *chaos) inOrder(tx Tx) error {
	for rule, query := range map[string]string{
		"a study waits for another number of blocks than are open": `SELECT s.id FROM queue_studies s WHERE s.state = 'open' AND
			s.waiting <> (SELECT COUNT(*) FROM queue_blocks b WHERE b.study = s.id AND b.block > 0 AND b.state <> 'done')`,
		"an open study waits for nothing":             `SELECT id FROM queue_studies WHERE state = 'open' AND waiting < 1`,
		"a finishing study has a block to do":         `SELECT s.id FROM queue_studies s JOIN queue_blocks b ON b.study = s.id WHERE s.state = 'finishing' AND b.block > 0 AND b.state <> 'done'`,
		"a finishing study has no job to finish it":   `SELECT s.id FROM queue_studies s WHERE s.state = 'finishing' AND NOT EXISTS (SELECT 1 FROM queue_blocks b WHERE b.study = s.id AND b.block = 0 AND b.state <> 'done')`,
		"a study that ended has something to do":      `SELECT s.id FROM queue_studies s JOIN queue_blocks b ON b.study = s.id WHERE s.state IN ('done', 'cancelled', 'failed') AND b.state <> 'done'`,
		"a block runs under a lease that is no more":  `SELECT b.study FROM queue_blocks b JOIN queue_testbeds t ON t.name = b.testbed WHERE b.state = 'running' AND (b.epoch <> t.epoch OR t.state <> 'leased')`,
		"a block runs nowhere":                        `SELECT study FROM queue_blocks WHERE state = 'running' AND testbed NOT IN (SELECT name FROM queue_testbeds)`,
		"a block that nobody has names a testbed":     `SELECT study FROM queue_blocks WHERE state = 'open' AND (testbed <> '' OR epoch <> 0)`,
		"trials of a block that is not done":          `SELECT t.study FROM queue_trials t JOIN queue_blocks b ON b.study = t.study AND b.block = t.block WHERE b.state <> 'done'`,
		"trials of another lease than the block's":    `SELECT t.study FROM queue_trials t JOIN queue_blocks b ON b.study = t.study AND b.block = t.block WHERE b.testbed <> t.testbed OR b.epoch <> t.epoch`,
		"a block failed too often and is tried again": fmt.Sprintf(`SELECT study FROM queue_blocks WHERE block > 0 AND tries >= %d`, queue.MaxTries),
		"two blocks have one job":                     `SELECT job || '' FROM queue_blocks GROUP BY job HAVING COUNT(*) > 1`,
		"a job of a block that is done":               `SELECT b.study FROM queue_blocks b JOIN jobs j ON j.id = b.job WHERE b.state = 'done'`,
	} {
		found, err := Column[string](c.t.Context(), tx, query)
		if err != nil {
			return err
		}
		if len(found) > 0 {
			return fmt.Errorf("%s: %s", rule, found)
		}
	}
	return errors.Join(c.keepsTrials(tx), c.growsEpochs(tx))
}

// keepsTrials checks that committed trials are kept unchanged.
func (c *chaos) keepsTrials(tx Tx) error {
	now := map[string]string{}
	err := tx.Query(c.t.Context(), "SELECT study || ' ' || part || ' ' || block || ' ' || arm || ' ' || attempt, doc FROM queue_trials", nil, func(r Row) error {
		var at, doc string
		err := r.Scan(&at, &doc)
		now[at] = doc
		return err
	})
	for at, doc := range c.kept {
		if now[at] != doc {
			return fmt.Errorf("trial %s was %q and is %q", at, doc, now[at])
		}
	}
	c.kept = now
	return err
}

func (c *chaos) growsEpochs(tx Tx) error {
	return tx.Query(c.t.Context(), "SELECT name, epoch FROM queue_testbeds", nil, func(r Row) error {
		var name string
		var epoch int64
		if err := r.Scan(&name, &epoch); err != nil {
			return err
		}
		if epoch < c.epochs[name] {
			return fmt.Errorf("testbed %s goes back from epoch %d to %d", name, c.epochs[name], epoch)
		}
		c.epochs[name] = epoch
		return nil
	})
}

// step does one random action; more may happen within it, up to depth blocks deep.
func (c *chaos) step(depth int) {
	ctx := c.t.Context()
	c.fault = c.trouble
	defer func() { c.fault = nil }()
	bed := fmt.Sprintf("bed%d", c.rand.IntN(3))
	switch n := c.rand.IntN(24); {
	case n < 4:
		if l, err := c.Lease(ctx, claim(bed)); err == nil {
			c.workers = append(c.workers, c.worker(l, c.work(bed, depth)))
		}
	case n < 12:
		c.works(depth)
	case n < 15:
		c.pass(time.Duration(c.rand.IntN(45)) * time.Second)
	case n < 17:
		_ = c.Sweep(ctx)
	case n < 20 && len(c.workers) > 0:
		k := c.workers[c.rand.IntN(len(c.workers))]
		_ = c.Beat(ctx, k.lease, k.holds)
	case n < 21 && len(c.workers) > 0:
		_ = c.Return(ctx, c.workers[c.rand.IntN(len(c.workers))].lease)
	case n < 22:
		_ = c.Free(ctx, bed)
	case n < 23:
		_ = c.Brake(ctx, []string{"", "", "lunch"}[c.rand.IntN(3)])
	case c.rand.IntN(8) == 0:
		_ = c.Cancel(ctx, fmt.Sprintf("s%d", c.rand.IntN(3)), "a mistake")
	}
}

// trouble makes one transaction in five fail at some statement, and one in ten commit but report a failure.
func (c *chaos) trouble() (int, bool) {
	if c.calm || c.rand.IntN(10) > 2 {
		return 0, false
	}
	if c.rand.IntN(3) == 0 {
		return 0, true
	}
	return 1 + c.rand.IntN(12), false
}

// works lets a random worker, dead or alive, do a job if there is one.
func (c *chaos) works(depth int) {
	idle := slices.DeleteFunc(slices.Clone(c.workers), func(k *worker) bool { return k.holds() != 0 || k.ctx.Err() != nil })
	if len(idle) == 0 {
		return
	}
	k := idle[c.rand.IntN(len(idle))]
	k.paused = nil
	t, ok := c.take()
	if !ok {
		return
	}
	if depth >= 0 {
		_ = k.handle(t)
	} // otherwise it dies while it holds the ticket
}

// work runs a block on a testbed: others act meanwhile, and it has a random outcome.
func (c *chaos) work(bed string, depth int) queue.Work {
	return func(ctx context.Context, j queue.Job) (queue.Outcome, error) {
		was := c.fault
		defer func() { c.fault = was }()
		for range c.rand.IntN(4) {
			if depth > 0 {
				c.step(depth - 1)
			}
		}
		switch n := c.rand.IntN(30); {
		case n == 0 && !c.calm:
			return queue.Outcome{}, &queue.BedFailed{Reason: "no link"}
		case n == 1 && !c.calm:
			return queue.Outcome{}, errors.New("no such sysctl")
		case n == 2 && !c.calm && !j.Finish:
			return queue.Outcome{Trials: []study.Trial{{Part: "cost", Variant: "a", Block: 1}}, Files: []queue.File{{Name: "x"}, {Name: "x"}}}, nil // cannot be recorded
		}
		if j.Finish {
			c.finished[j.Study]++
		}
		return outcome(j, bed), nil
	}
}

// settle ends the chaos: the database works, time passes, and one worker does the rest.
func (c *chaos) settle() {
	c.calm = true
	ctx := c.t.Context()
	if err := c.Brake(ctx, ""); err != nil {
		c.t.Fatal(err)
	}
	for _, b := range []string{"bed0", "bed1", "bed2"} {
		_ = c.Free(ctx, b)
	}
	l := c.lease("healthy")
	k := c.worker(l, c.work("healthy", 0))
	for range 4 { // a job that was taken and never begun is handed out again when its worker is lost
		k.drain()
		c.pass(2 * patience.Lost)
		if err := errors.Join(c.Beat(ctx, l, k.holds), c.Sweep(ctx)); err != nil {
			c.t.Fatal(err)
		}
	}
}

// complete checks that a study ended properly, with the trials of the reference.
func (c *chaos) complete(id string, whole []string) {
	c.t.Helper()
	s, err := c.Study(c.t.Context(), id)
	if err != nil {
		c.t.Fatal(err)
	}
	got := c.places(id)
	switch {
	case s.State == queue.Done && s.Ledger == "kept" && c.finished[id] > 0:
		if !slices.Equal(got, whole) {
			c.t.Errorf("study %s has the trials\n%s\nwant\n%s", id, strings.Join(got, "\n"), strings.Join(whole, "\n"))
		}
	case s.State == queue.Cancelled && s.Why == "a mistake":
	case s.State == queue.Failed && strings.Contains(s.Why, fmt.Sprintf("failed %d times", queue.MaxTries)):
	default:
		c.t.Errorf("study %s ends as %+v", id, s)
	}
	if n := c.ask("SELECT COUNT(*) FROM jobs WHERE study = ?", id); n != 0 {
		c.t.Errorf("study %s ended, but %d of its jobs still wait", id, n)
	}
	if files, err := c.Record(c.t.Context(), id); err != nil {
		c.t.Errorf("record of %s: %v", id, err)
	} else if _, err := queue.ReadRecord(files, id); err != nil {
		c.t.Errorf("record of %s: %v", id, err)
	}
}
