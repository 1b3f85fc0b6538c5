package assemble_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"linerate/internal/assemble"
	"linerate/internal/labtest/pgserver"
	"linerate/internal/list"
	"linerate/internal/queue"
	"linerate/internal/testbed"
)

// killsEnv is how often TestQueueUnderKills kills, with the patience and the times of users: it
// takes seconds a kill then. Without it six kills take seconds in all.
const killsEnv = "LINERATE_TEST_KILLS"

// TestQueueUnderKills runs studies on simulated testbeds through the queue in PostgreSQL, a
// process each worker, and kills at random moments: workers, which start again, and
// PostgreSQL. Then it counts: trials that
// were lost or recorded twice, times that two processes had their hands on one
// testbed, and the longest that a testbed was idle while blocks waited. The trials and their times
// are simulated, all else is what users run.
func TestQueueUnderKills(t *testing.T) {
	t.Parallel()
	pgserver.Installed(t)
	b := queueBench{workers: 3, trials: 40, kills: 6, every: 300 * time.Millisecond, trial: 60 * time.Millisecond, patience: queue.Patience{Beat: 200 * time.Millisecond, Lost: 1500 * time.Millisecond}}
	if n, err := strconv.Atoi(os.Getenv(killsEnv)); err == nil {
		b = queueBench{workers: 8, trials: 5 * n, kills: n, every: 2500 * time.Millisecond, trial: 3 * time.Second, patience: queue.DefaultPatience}
	}
	o, err := b.run(t.Context(), t.TempDir(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	if o.Kills != b.kills || o.Kills != o.Restarted+o.Postgres || o.Lost+o.Twice+o.TwoHands > 0 || o.LedgerTrials != b.trials || !o.LedgerIntact || o.Leases < int64(b.workers) || o.Begun < b.trials {
		t.Errorf("%+v", o)
	}
	text, _ := json.Marshal(o)
	t.Logf("%s", text)
}

// queueBench is a run of the test.
type queueBench struct {
	workers, trials, kills int
	every, trial           time.Duration
	patience               queue.Patience
}

// queueOutcome is what came of it.
type queueOutcome struct {
	Seconds                     float64
	Kills, Restarted, Postgres  int // kills of workers, which came back, and of PostgreSQL
	Lost, Twice                 int // trials that are not recorded, or were and are no more; that are more than once
	TwoHands                    int // times that two processes had one testbed
	LongestIdle                 float64
	IdleBed                     string
	Leases                      int64 // how often a testbed changed hands
	Begun                       int   // trials, those that a kill ended among them
	LedgerStudies, LedgerTrials int
	LedgerIntact                bool
}

// armsEach is how many trials a block of the bench's studies has: four variants and the
// A/A arm; blocksEach how many blocks a study has at most.
const (
	armsEach   = 5
	blocksEach = 40
)

// benchStudy is a study of the bench.
func benchStudy(n, blocks int) queue.Submission {
	return queue.Submission{ID: fmt.Sprintf("bench%d", n), Name: fmt.Sprintf("bench-%d", n), Label: benchLabel, Kind: testbed.KindNetns, Submitter: "bench",
		Spec: fmt.Appendf(nil, `name: bench-%d
question: Is every trial recorded once?
seed: %d
interleave: false
variants: [{name: none}, {name: one, settings: [{firewall: {linear: 1}}]}, {name: ten, settings: [{firewall: {linear: 10}}]}, {name: stateful, settings: [{firewall: {stateful: true}}]}]
parts: [{name: cost, mode: cost, blocks: %d, seconds: 0.2}]
`, n, n, blocks)}
}

// chaos is a run that is under way.
type chaos struct {
	*queueBench
	dir    string // the testbeds
	server *pgserver.Server
	url    string
	rand   *rand.Rand
	talk   io.Writer
	out    queueOutcome
	sub    []queue.Submission

	mu       sync.Mutex
	workers  []*killable
	stopping bool
	away     sync.WaitGroup // workers that come back
}

// killable is a worker's process.
type killable struct {
	bed string
	cmd *exec.Cmd
}

func (b *queueBench) run(ctx context.Context, dir string, talk io.Writer) (queueOutcome, error) {
	c := &chaos{queueBench: b, dir: dir, talk: talk, rand: rand.New(rand.NewPCG(1, 26))}
	var err error
	if c.server, err = pgserver.New(); err != nil {
		return c.out, err
	}
	defer func() { _ = c.server.Stop() }() // what is left is in /tmp
	if c.url, err = c.server.Fresh("bench"); err != nil {
		return c.out, err
	}
	err = c.all(ctx)
	c.stop()
	return c.out, err
}

// all submits, works, kills and counts.
func (c *chaos) all(ctx context.Context) error {
	if err := c.with(ctx, func(q queue.Queue) error {
		for left, n := c.trials/armsEach, 1; left > 0; n++ {
			s := benchStudy(n, min(left, blocksEach))
			if err := q.Submit(ctx, s); err != nil {
				return err
			}
			c.sub, left = append(c.sub, s), left-blocksEach
		}
		return nil
	}); err != nil {
		return err
	}
	begun := time.Now()
	for i := range c.queueBench.workers {
		k := &killable{bed: fmt.Sprintf("bed%d", i+1)}
		if err := c.start(k); err != nil {
			return err
		}
		c.workers = append(c.workers, k)
	}
	w := c.watch(ctx)
	err := c.kill(ctx, w)
	if err == nil {
		err = w.wait(ctx)
	}
	c.out.Seconds = time.Since(begun).Seconds()
	c.stop()
	if err = errors.Join(err, w.end()); err != nil {
		return err
	}
	return c.count(ctx, w, begun)
}

// with opens the queue for f.
func (c *chaos) with(ctx context.Context, f func(queue.Queue) error) error {
	q, err := assemble.OpenQueue(ctx, c.url, c.patience)
	if err != nil {
		return err
	}
	return errors.Join(f(q), q.Close())
}

// start starts a worker.
func (c *chaos) start(k *killable) error {
	text, err := json.Marshal(benchWorker{c.url, k.bed, c.dir, c.trial, c.patience})
	if err != nil {
		return err
	}
	k.cmd = exec.Command(os.Args[0])
	k.cmd.Env = append(os.Environ(), workerEnv+"="+string(text))
	k.cmd.Stderr = c.talk
	return k.cmd.Start()
}

// kill kills until enough was killed, or all is done.
func (c *chaos) kill(ctx context.Context, w *watcher) error {
	for c.out.Kills < c.kills {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.done:
			return nil
		case <-time.After(time.Duration(c.rand.ExpFloat64() * float64(c.every))):
		}
		var err error
		if chance := c.rand.IntN(8); chance == 0 {
			err = c.killPostgres()
		} else {
			err = c.killWorker()
		}
		if err != nil {
			return err
		}
		c.out.Kills++
		if c.out.Kills%20 == 0 {
			fmt.Fprintf(c.talk, "%d kills, %d of %d blocks recorded\n", c.out.Kills, w.recorded(), c.trials/armsEach)
		}
	}
	return nil
}

// pause is how long what was killed stays away.
func (c *chaos) pause(most time.Duration) time.Duration {
	return time.Duration(c.rand.Float64() * float64(most))
}

func (c *chaos) killPostgres() error {
	c.out.Postgres++
	if err := c.server.Kill(); err != nil {
		return err
	}
	time.Sleep(c.pause(min(2*time.Second, c.every)))
	return c.server.Start()
}

// killWorker kills a worker, if one lives: the next one cannot know that it is dead.
func (c *chaos) killWorker() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	alive := list.Filter(c.workers, func(k *killable) bool { return k.cmd != nil })
	if len(alive) == 0 {
		c.out.Kills-- // nothing was
		return nil
	}
	k := alive[c.rand.IntN(len(alive))]
	if err := k.cmd.Process.Kill(); err != nil {
		return fmt.Errorf("kill the worker of %s: %w", k.bed, err)
	}
	_ = k.cmd.Wait() // it was killed
	k.cmd = nil
	c.out.Restarted++
	back := c.pause(min(time.Second, c.every))
	c.away.Go(func() {
		time.Sleep(back)
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.stopping {
			if err := c.start(k); err != nil {
				fmt.Fprintf(c.talk, "%s: %v\n", k.bed, err)
			}
		}
	})
	return nil
}

// stop ends all workers, and waits for them.
func (c *chaos) stop() {
	c.mu.Lock()
	c.stopping = true
	c.mu.Unlock()
	c.away.Wait()
	for _, k := range c.workers {
		if k.cmd == nil || k.cmd.Process == nil {
			continue
		}
		_ = k.cmd.Process.Signal(os.Interrupt) // it may have ended by itself
	}
	for _, k := range c.workers {
		if k.cmd != nil && k.cmd.Process != nil {
			_ = k.cmd.Wait() // however it ends
			k.cmd = nil
		}
	}
}
