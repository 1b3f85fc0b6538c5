package worker_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"linerate/internal/fact"
	"linerate/internal/lab"
	"linerate/internal/lab/forward"
	"linerate/internal/labtest"
	"linerate/internal/queue"
	"linerate/internal/setting"
	"linerate/internal/store/sqlite"
	"linerate/internal/study"
	"linerate/internal/testbed"
	"linerate/internal/testbed/bedtest"
	"linerate/internal/worker"
)

// patient is of a queue in which no stall of the machine ends a lease; hasty, of one in
// which somebody waits for a dead worker's.
var (
	patient = queue.Patience{Beat: 200 * time.Millisecond, Lost: 5 * time.Minute}
	hasty   = queue.Patience{Beat: time.Second, Lost: 5 * time.Second}
)

const spec = `name: small
question: What does connection tracking cost?
seed: 3
interleave: false
variants: [{name: plain}, {name: stateful, settings: [{firewall: {stateful: true}}]}]
parts: [{name: cost, mode: cost, blocks: 4, seconds: 0.2}]
`

func submission(id, kind string) queue.Submission {
	return queue.Submission{ID: id, Name: "small", Label: "lab", Kind: kind, Submitter: "ada", Spec: []byte(spec), Sets: []byte("{}"), Estimate: time.Minute}
}

// scene is a queue and what workers did with it.
type scene struct {
	t *testing.T
	q queue.Queue

	mu   sync.Mutex
	said []string
	kept []string
}

func newScene(t *testing.T) *scene { return sceneOf(t, patient) }

func sceneOf(t *testing.T, patience queue.Patience) *scene {
	q, err := sqlite.OpenQueue(t.Context(), filepath.Join(t.TempDir(), "queue.db"), sqlite.Owner{UID: -1, GID: -1}, patience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { q.Close() })
	return &scene{t: t, q: q}
}

// worker is one on a simulated testbed.
func (s *scene) worker(name string) *worker.Worker {
	return &worker.Worker{Queue: s.q, Retry: patient.Beat, Scratch: s.t.TempDir(),
		Testbed: worker.Testbed{Claim: queue.Claim{Testbed: name, Label: "lab", Kind: testbed.KindNetns, Holder: name}, Open: opener(nil)},
		Keep: func(_ context.Context, id string, files []queue.File) (string, error) {
			r, err := queue.ReadRecord(files, id)
			if err == nil && !r.Results().Complete {
				err = errors.New("it is not complete")
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			s.kept = append(s.kept, id)
			return "kept-" + id, err
		},
		Say: func(format string, args ...any) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.said = append(s.said, fmt.Sprintf(format, args...))
		}}
}

// opener opens a simulated lab whose resets fail as reset says.
func opener(reset func() error) func(context.Context, study.Spec, string) (*worker.Lab, error) {
	return func(_ context.Context, _ study.Spec, dir string) (*worker.Lab, error) {
		if _, err := os.Stat(filepath.Join(dir, "study.yaml")); err != nil {
			return nil, err
		}
		bed := &failing{&bedtest.Simulated{Noise: 0.008, Seed: 7}, reset}
		up := func(_ context.Context, mode testbed.Mode) (testbed.Bed, error) {
			bed.Mode = mode
			return bed, nil
		}
		facts := &fact.Facts{Version: fact.Version, OS: fact.Linux, Hostname: "nowhere"}
		return &worker.Lab{Lab: &lab.Lab{Machine: bed.Simulated, Runners: []lab.Runner{&forward.Runner{Bed: up, Engine: bed.Simulated}}},
			Facts: facts, Environment: study.EnvironmentOf(facts), Close: func() {}}, nil
	}
}

type failing struct {
	*bedtest.Simulated
	reset func() error
}

func (f *failing) Reset(ctx context.Context, settings []setting.Setting) (testbed.Applied, error) {
	if f.reset != nil {
		if err := f.reset(); err != nil {
			return testbed.Applied{}, err
		}
	}
	return f.Simulated.Reset(ctx, settings)
}

// run runs workers until the study is what it should be.
func (s *scene) run(id string, want queue.State, all ...*worker.Worker) queue.Study {
	s.t.Helper()
	ctx, stop := context.WithCancel(s.t.Context())
	var group sync.WaitGroup
	for _, w := range all {
		group.Go(func() {
			if err := w.Run(ctx); err != nil {
				s.t.Errorf("worker: %v", err)
			}
		})
	}
	defer group.Wait()
	defer stop()
	var last queue.Study
	if !labtest.Eventually(func() bool {
		one, err := s.q.Study(ctx, id)
		last = one
		return err == nil && one.State == want
	}) {
		s.t.Fatalf("study is %+v, want it %s; said %q", last, want, s.said)
	}
	return last
}

func (s *scene) submit(id, kind string) {
	s.t.Helper()
	if err := s.q.Submit(s.t.Context(), submission(id, kind)); err != nil {
		s.t.Fatal(err)
	}
}

func TestWorkersRunAStudy(t *testing.T) {
	s := newScene(t)
	s.submit("s1", testbed.KindNetns)
	done := s.run("s1", queue.Done, s.worker("bed1"), s.worker("bed2"))
	if done.Ledger != "kept-s1" || done.Trials != 12 || len(s.kept) != 1 {
		t.Errorf("%+v, kept %q", done, s.kept)
	}
	files, err := s.q.Record(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	r, err := queue.ReadRecord(files, "s1")
	if err != nil || len(r.Facts) == 0 || r.Environment.Testbeds["cost"].Kind != "simulated" {
		t.Errorf("%v, %d facts, %+v", err, len(r.Facts), r.Environment.Testbeds)
	}
	beds, err := s.q.Testbeds(t.Context())
	if err != nil || slices.ContainsFunc(beds, func(b queue.Testbed) bool { return b.State != queue.BedFree }) {
		t.Errorf("testbeds are not given back: %+v, %v", beds, err)
	}
}

// TestBlocksSpreadOverTestbeds: two equal testbeds share a study by whole blocks, and the
// verdict names them as a blocking factor.
func TestBlocksSpreadOverTestbeds(t *testing.T) {
	s := newScene(t)
	s.submit("s1", testbed.KindNetns)
	var both sync.WaitGroup // neither works before the other has a block
	both.Add(2)
	all := []*worker.Worker{s.worker("bed1"), s.worker("bed2")}
	for _, w := range all {
		open, first := w.Testbed.Open, sync.OnceFunc(func() { both.Done(); both.Wait() })
		w.Testbed.Open = func(ctx context.Context, spec study.Spec, dir string) (*worker.Lab, error) {
			first()
			return open(ctx, spec, dir)
		}
	}
	s.run("s1", queue.Done, all...)
	files, err := s.q.Record(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	r, err := queue.ReadRecord(files, "s1")
	if err != nil {
		t.Fatal(err)
	}
	ran, blocks := map[int]string{}, map[string]int{}
	for _, tr := range r.Trials {
		if had, ok := ran[tr.Block]; ok && had != tr.Testbed {
			t.Errorf("block %d ran on %s and on %s", tr.Block, had, tr.Testbed)
		} else if !ok {
			ran[tr.Block] = tr.Testbed
			blocks[tr.Testbed]++
		}
	}
	if len(ran) != 4 || blocks["bed1"] == 0 || blocks["bed2"] == 0 || blocks["bed1"]+blocks["bed2"] != 4 {
		t.Errorf("blocks %v, by testbed %v", ran, blocks)
	}
	results := r.Results()
	if line := results.BedsLine(); !strings.Contains(line, "Spread over 2 testbeds: bed1 (") || !strings.Contains(line, "bed2 (") {
		t.Errorf("the study says %q", line)
	}
}

func TestUnfitTestbedGoesIntoQuarantine(t *testing.T) {
	s := newScene(t)
	s.submit("s1", testbed.KindNetns)
	broken := s.worker("broken")
	down := false
	broken.Testbed.Fit = func(context.Context) error {
		if down {
			return errors.New("ix0 has no link")
		}
		return nil
	}
	broken.Testbed.Open = opener(func() error { down = true; return errors.New("nothing arrives") })
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	defer group.Wait()
	defer stop()
	group.Go(func() {
		if err := broken.Run(ctx); err != nil {
			t.Errorf("worker: %v", err)
		}
	})
	var beds []queue.Testbed
	if !labtest.Eventually(func() bool {
		beds, _ = s.q.Testbeds(ctx)
		return len(beds) == 1 && beds[0].State == queue.BedQuarantined
	}) || !strings.Contains(beds[0].Why, "ix0 has no link") || !strings.Contains(beds[0].Why, "nothing arrives") {
		t.Errorf("%+v", beds)
	}
	s.run("s1", queue.Done, s.worker("good")) // the other does it all
}

func TestStudyAtFaultFails(t *testing.T) {
	s := newScene(t)
	s.submit("s1", testbed.KindNetns)
	w := s.worker("bed")
	w.Testbed.Fit = func(context.Context) error { return nil }
	w.Testbed.Open = opener(func() error { return errors.New("no such sysctl") })
	if st := s.run("s1", queue.Failed, w); !strings.Contains(st.Why, "no such sysctl") {
		t.Errorf("%+v", st)
	}
}

func TestLedgerThatIsFullIsWaitedFor(t *testing.T) {
	s := newScene(t)
	s.submit("s1", testbed.KindNetns)
	w := s.worker("bed")
	keep, full := w.Keep, true
	w.Keep = func(ctx context.Context, id string, files []queue.File) (string, error) {
		if full {
			full = false
			return "", errors.New("no space left for the ledger")
		}
		return keep(ctx, id, files)
	}
	s.run("s1", queue.Done, w)
	if !slices.ContainsFunc(s.said, func(line string) bool { return strings.Contains(line, "not in the ledger yet: no space left") }) {
		t.Errorf("said %q", s.said)
	}
}

func TestHeldTestbedIsWaitedFor(t *testing.T) {
	s := sceneOf(t, hasty)
	s.submit("s1", testbed.KindNetns)
	w := s.worker("bed")
	if _, err := s.q.Lease(t.Context(), w.Testbed.Claim); err != nil { // by one that is dead
		t.Fatal(err)
	}
	s.run("s1", queue.Done, w)
	if !slices.ContainsFunc(s.said, func(line string) bool { return strings.Contains(line, "is held by bed") }) {
		t.Errorf("said %q", s.said)
	}
}
