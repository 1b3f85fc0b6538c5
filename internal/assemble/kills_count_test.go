package assemble_test

import (
	"bufio"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"linerate/internal/assemble"
	"linerate/internal/ledger"
	"linerate/internal/queue"
	"linerate/internal/study"
	"linerate/internal/wait"
)

// watcher looks into the queue's tables by itself, while all goes on: what was once
// recorded must stay, by the same hand.
type watcher struct {
	c    *chaos
	db   *sql.DB
	done chan struct{} // closed when all studies are done
	stop context.CancelFunc
	over chan struct{} // closed when it has ended

	mu      sync.Mutex
	seen    map[string]string // trials, and whose they were
	changed int               // that were another's later, or gone
	waited  time.Time         // the last time that blocks waited for a testbed
	failed  string            // a study that did not end well
}

func (c *chaos) watch(parent context.Context) *watcher {
	db, err := sql.Open("pgx", c.url)
	if err != nil {
		db = nil // never: the driver is there, and nothing is reached yet
	}
	ctx, stop := context.WithCancel(parent)
	w := &watcher{c: c, db: db, done: make(chan struct{}), over: make(chan struct{}), stop: stop, seen: map[string]string{}}
	go func() {
		defer close(w.over)
		finished := false
		for ctx.Err() == nil {
			if w.look(ctx) && !finished {
				finished = true
				close(w.done)
			}
			_ = wait.For(ctx, 250*time.Millisecond)
		}
	}()
	return w
}

// look looks once; true: every study has ended.
func (w *watcher) look(ctx context.Context) bool {
	one, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	var open, waiting, ill int
	if err := w.db.QueryRowContext(one, `SELECT (SELECT COUNT(*) FROM queue_studies WHERE state NOT IN ('done', 'failed', 'cancelled')),
		(SELECT COUNT(*) FROM queue_studies WHERE state IN ('failed', 'cancelled')), (SELECT COUNT(*) FROM queue_blocks WHERE state = 'open' AND block > 0)`).Scan(&open, &ill, &waiting); err != nil {
		return false // PostgreSQL is away
	}
	now, err := w.trials(one)
	if err != nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if waiting > 0 {
		w.waited = time.Now()
	}
	for slot, by := range w.seen {
		if now[slot] != by {
			w.changed++
		}
	}
	w.seen = now
	if ill > 0 {
		w.failed = fmt.Sprintf("%d studies failed", ill)
	}
	return open == 0
}

// trials are those recorded, and by whom.
func (w *watcher) trials(ctx context.Context) (map[string]string, error) {
	rows, err := w.db.QueryContext(ctx, "SELECT study, part, block, arm, attempt, testbed, epoch FROM queue_trials")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string]string{}
	for rows.Next() {
		var id, part, arm, bed string
		var block, attempt, epoch int64
		if err := rows.Scan(&id, &part, &block, &arm, &attempt, &bed, &epoch); err != nil {
			return nil, err
		}
		out[fmt.Sprint(id, " ", part, " ", block, " ", arm, " ", attempt)] = fmt.Sprint(bed, " ", epoch)
	}
	return out, rows.Err()
}

// recorded is how many blocks are.
func (w *watcher) recorded() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.seen) / armsEach
}

// wait waits until all is done.
func (w *watcher) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-w.done:
		return nil
	}
}

// end ends the watch.
func (w *watcher) end() error {
	w.stop()
	<-w.over
	if w.failed != "" {
		return errors.Join(errors.New(w.failed), w.db.Close())
	}
	return w.db.Close()
}

// count compares what is in the ledger with what was to be run.
func (c *chaos) count(ctx context.Context, w *watcher, begun time.Time) error {
	c.out.Lost = w.changed
	if err := c.with(ctx, func(q queue.Queue) error {
		beds, err := q.Testbeds(ctx)
		for _, b := range beds {
			c.out.Leases += b.Epoch
		}
		return err
	}); err != nil {
		return err
	}
	if err := assemble.WithLedger(ctx, c.url, func(s ledger.Store) error { return c.countLedger(ctx, s) }); err != nil {
		return err
	}
	for _, k := range c.workers {
		if err := c.countHands(k.bed, begun, w.waited); err != nil {
			return err
		}
	}
	return nil
}

// countLedger holds the ledger's trials against the schedules.
func (c *chaos) countLedger(ctx context.Context, s ledger.Store) error {
	report, err := ledger.Verify(ctx, s, "")
	if err != nil {
		return err
	}
	c.out.LedgerIntact = report.OK
	studies, err := s.Studies(ctx, ledger.Filter{})
	if err != nil {
		return err
	}
	c.out.LedgerStudies = len(studies)
	times := map[string]int{}
	slot := func(name string, block int, arm string) string { return fmt.Sprint(name, " ", block, " ", arm) }
	for i := range studies {
		trials, err := s.Trials(ctx, studies[i].ID)
		if err != nil {
			return err
		}
		c.out.LedgerTrials += len(trials)
		for _, t := range trials {
			times[slot(studies[i].Name, t.Block, t.Variant)]++
		}
	}
	for _, sub := range c.sub {
		spec, err := study.Parse(sub.ID, sub.Spec)
		if err != nil {
			return err
		}
		for _, want := range study.Schedule(spec, *spec.Seed) {
			switch n := times[slot(sub.Name, want.Block, want.Variant)]; {
			case n == 0:
				c.out.Lost++
			case n > 1:
				c.out.Twice += n - 1
			}
		}
	}
	return nil
}

// countHands reads a testbed's log. It counts how often two workers held the testbed at
// once, and finds the longest time it stood idle while blocks waited.
func (c *chaos) countHands(bed string, begun, waited time.Time) error {
	f, err := os.Open(filepath.Join(c.dir, bed+".log"))
	if err != nil {
		return err
	}
	defer f.Close()
	used := []time.Time{begun}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		words := strings.SplitN(lines.Text(), " ", 3)
		ms, err := strconv.ParseInt(words[0], 10, 64)
		if err != nil || len(words) < 3 {
			continue // torn by a kill
		}
		switch words[2] {
		case "TWO":
			c.out.TwoHands++
			continue
		case "begin trial":
			c.out.Begun++
		}
		used = append(used, time.UnixMilli(ms))
	}
	slices.SortFunc(used, func(a, b time.Time) int { return cmp.Compare(a.UnixMilli(), b.UnixMilli()) })
	for i, at := range used {
		next := waited
		if i+1 < len(used) && used[i+1].Before(waited) {
			next = used[i+1]
		}
		if idle := next.Sub(at).Seconds(); idle > c.out.LongestIdle {
			c.out.LongestIdle, c.out.IdleBed = idle, bed
		}
	}
	return lines.Err()
}

// TestHandsOfTwo reads a testbed's log as kills leave it: torn lines do not count, two at once do, and
// idle is only the time in which blocks waited.
func TestHandsOfTwo(t *testing.T) {
	begun := time.UnixMilli(1_000_000)
	at := func(s float64) time.Time { return begun.Add(time.Duration(s * float64(time.Second))) }
	for name, c := range map[string]struct {
		log         string
		waited      time.Time
		two, trials int
		idle        float64
	}{
		"nothing was done":    {"", at(7), 0, 0, 7},
		"nothing waited":      {"", time.Time{}, 0, 0, 0},
		"one after the other": {"1001000 7 begin trial\n1002000 7 end trial\n1002500 7 begin trial\n1004000 7 end trial\n", at(4), 0, 2, 1.5},
		"two at once":         {"1001000 7 begin trial\n1001100 8 TWO\n1001200 8 begin trial\n", at(1.2), 1, 2, 1},
		"torn by a kill":      {"1001000 7 begin trial\n10020", at(3), 0, 1, 2},
		"in another order":    {"1003000 8 begin trial\n1001000 7 begin trial\n", at(3), 0, 2, 2},
		"long after":          {"1001000 7 begin trial\n1900000 7 begin trial\n", at(2), 0, 2, 1},
	} {
		c2 := &chaos{dir: t.TempDir()}
		if err := os.WriteFile(filepath.Join(c2.dir, "bed1.log"), []byte(c.log), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := c2.countHands("bed1", begun, c.waited); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if o := c2.out; o.TwoHands != c.two || o.Begun != c.trials || math.Abs(o.LongestIdle-c.idle) > 1e-9 {
			t.Errorf("%s: two hands %d, %d trials, idle for %g s; want %+v", name, o.TwoHands, o.Begun, o.LongestIdle, c)
		}
	}
	if err := (&chaos{dir: t.TempDir()}).countHands("none", begun, begun); err == nil {
		t.Error("a log that is not there was read")
	}
}
