package assemble_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/assemble"
	"linerate/internal/fact"
	"linerate/internal/lab"
	"linerate/internal/lab/forward"
	"linerate/internal/lab/serve"
	"linerate/internal/queue"
	"linerate/internal/setting"
	"linerate/internal/study"
	"linerate/internal/testbed"
	"linerate/internal/testbed/bedtest"
	"linerate/internal/worker"
)

// benchLabel is that of the bench's testbeds.
const benchLabel = "bench"

// benchWorker is a worker in a separate process that TestQueueUnderKills kills. It runs the code that users run; only the testbed is simulated, and takes time.
type benchWorker struct {
	Ledger, Bed, Dir string
	Trial            time.Duration
	Patience         queue.Patience
}

// workerEnv makes the test's program a worker: it has a benchWorker as JSON.
const workerEnv = "LINERATE_TEST_QUEUE_WORKER"

func TestMain(m *testing.M) {
	text := os.Getenv(workerEnv)
	if text == "" {
		os.Exit(m.Run())
	}
	if err := runWorker(text); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func runWorker(text string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var w benchWorker
	if err := json.Unmarshal([]byte(text), &w); err != nil {
		return err
	}
	return w.run(ctx)
}

func (w *benchWorker) run(ctx context.Context) error {
	q, err := w.open(ctx)
	if err != nil {
		return err
	}
	defer q.Close()
	claim := queue.Claim{Testbed: w.Bed, Label: benchLabel, Kind: testbed.KindNetns, Holder: fmt.Sprintf("bench:%d", os.Getpid())}
	return (&worker.Worker{Queue: q, Keep: assemble.Keeper(w.Ledger), Retry: w.Patience.Beat, Testbed: worker.Testbed{Claim: claim, Fit: w.fit, Open: w.lab},
		Say: func(format string, args ...any) { fmt.Fprintf(os.Stderr, w.Bed+" "+format+"\n", args...) }}).Run(ctx)
}

// open opens the queue, however long PostgreSQL is away.
func (w *benchWorker) open(ctx context.Context) (queue.Queue, error) {
	for {
		q, err := assemble.OpenQueue(ctx, w.Ledger, w.Patience)
		if err == nil || ctx.Err() != nil {
			return q, errors.Join(err, ctx.Err())
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// hands takes the testbed for as long as f uses it. Somebody else's hands on it are what
// must never be: they are written down, for the bench to count.
func (w *benchWorker) hands(what string, f func() error) error {
	lock, err := os.OpenFile(filepath.Join(w.Dir, w.Bed+".hands"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return errors.Join(w.note("TWO"), fmt.Errorf("two hands on %s: %w", w.Bed, err))
	}
	if err := w.note("begin " + what); err != nil {
		return err
	}
	return errors.Join(f(), w.note("end "+what))
}

// note writes down what is done with the testbed, and when, in one write.
func (w *benchWorker) note(what string) error {
	f, err := os.OpenFile(filepath.Join(w.Dir, w.Bed+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%d %d %s\n", time.Now().UnixMilli(), os.Getpid(), what)
	return errors.Join(err, f.Close())
}

// fit takes the testbed in hand for a moment.
func (w *benchWorker) fit(ctx context.Context) error {
	return w.hands("check", func() error { return w.spend(ctx, w.Trial/10) })
}

// spend takes about so long as a trial does: between half and one and a half times.
func (w *benchWorker) spend(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d/2 + time.Duration(rand.Int64N(int64(d)+1))):
		return nil
	}
}

// lab is the simulated testbed's, in which each reset takes a trial's time.
func (w *benchWorker) lab(_ context.Context, _ study.Spec, _ string) (*worker.Lab, error) {
	h := fnv.New64a()
	h.Write([]byte(w.Bed))
	sim := &slowBed{&bedtest.Simulated{Noise: 0.008, Seed: h.Sum64()}, w}
	up := func(_ context.Context, mode testbed.Mode) (testbed.Bed, error) {
		sim.Mode = mode
		return sim, nil
	}
	facts := &fact.Facts{Version: fact.Version, OS: fact.Linux, Kernel: "0 #0", Hostname: w.Bed, Machine: "a simulation", CPU: fact.CPU{Model: "simulated", Count: 2}}
	l := &worker.Lab{Facts: facts, Environment: study.EnvironmentOf(facts), Close: func() {}}
	l.Environment.Label = "simulated, not measured"
	l.Lab = &lab.Lab{Machine: sim.Simulated, Runners: assemble.Runners(&forward.Runner{Bed: up, Engine: sim.Simulated}, serve.Runner{})}
	return l, nil
}

// slowBed is a simulated testbed whose trials take time and hands.
type slowBed struct {
	*bedtest.Simulated
	w *benchWorker
}

// Reset takes as long as a trial would.
func (s *slowBed) Reset(ctx context.Context, settings []setting.Setting) (a testbed.Applied, err error) {
	err = s.w.hands("trial", func() error {
		if err := s.w.spend(ctx, s.w.Trial); err != nil {
			return err
		}
		a, err = s.Simulated.Reset(ctx, settings)
		return err
	})
	return a, err
}
