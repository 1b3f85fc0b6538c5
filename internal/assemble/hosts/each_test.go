package hosts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"linerate/internal/fleet"
)

var errFlaky, errRefused = errors.New("reset"), errors.New("refused")

// fakes are hosts of which some fail, and a store.
type fakes struct {
	mu       sync.Mutex
	fails    map[string]int // how often a host fails before it answers; −1: refuses
	tries    map[string]int
	stored   []fleet.Observation
	at, most atomic.Int32
	storeErr error
}

func (f *fakes) fetch(_ context.Context, t *fleet.Target) ([]byte, error) {
	n := f.at.Add(1)
	defer f.at.Add(-1)
	for m := f.most.Load(); n > m && !f.most.CompareAndSwap(m, n); m = f.most.Load() {
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tries[t.Name]++
	switch left := f.fails[t.Name]; {
	case left < 0:
		return nil, errRefused
	case f.tries[t.Name] <= left:
		return nil, errFlaky
	}
	return []byte(t.Name), nil
}

func (f *fakes) observe(ctx context.Context, t *fleet.Target) (fleet.Observation, error) {
	data, err := f.fetch(ctx, t)
	if string(data) == "h005" {
		panic("nonsense")
	}
	return fleet.Observation{Name: t.Name, Time: time.Now(), ID: string(data)}, err
}

func (f *fakes) task(n int) visits[fleet.Observation] {
	t := visits[fleet.Observation]{Pace: Pace{Parallel: 8, Pause: time.Millisecond, Batch: 7}, final: func(err error) bool { return errors.Is(err, errRefused) },
		do: f.observe,
		lost: func(t *fleet.Target, at time.Time, why error) fleet.Observation {
			return fleet.Observation{Name: t.Name, Time: at, Failure: why.Error()}
		},
		store: func(_ context.Context, seen []fleet.Observation) error {
			f.stored = append(f.stored, slices.Clone(seen)...)
			return f.storeErr
		}}
	for i := range n {
		t.targets = append(t.targets, fleet.Target{Name: fmt.Sprintf("h%03d", i)})
	}
	return t
}

func newFakes() *fakes { return &fakes{fails: map[string]int{}, tries: map[string]int{}} }

// TestEveryHostOnce: flaky hosts are reached, dead ones told, refusals not repeated, and
// nobody is lost or told twice.
func TestEveryHostOnce(t *testing.T) {
	f := newFakes()
	f.fails["h001"], f.fails["h002"], f.fails["h003"], f.fails["h004"] = 1, 3, 4, -1
	task := f.task(300)
	var last Progress
	told := map[string]string{}
	task.progress = func(p Progress) {
		last = p
		if p.Failed != "" {
			told[p.Failed] = p.Why
		}
	}
	p, err := task.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if p != last || p.Reached != 297 || p.Unreachable != 3 || p.Waiting != 0 {
		t.Errorf("progress %+v, last told %+v", p, last)
	}
	seen := map[string]int{}
	for _, o := range f.stored {
		seen[o.Name]++
		failed := o.Failure != ""
		if want := o.Name == "h003" || o.Name == "h004" || o.Name == "h005"; failed != want || !failed && o.ID != o.Name {
			t.Errorf("stored %+v", o)
		}
	}
	if len(seen) != 300 || len(f.stored) != 300 {
		t.Errorf("%d hosts in %d observations", len(seen), len(f.stored))
	}
	if f.tries["h003"] != 4 || f.tries["h004"] != 1 || f.tries["h002"] != 4 || f.tries["h001"] != 2 {
		t.Errorf("tries %v", f.tries)
	}
	if len(told) != 3 || told["h003"] != "reset" {
		t.Errorf("told %v", told)
	}
	if f.most.Load() > 8 {
		t.Errorf("%d at a time", f.most.Load())
	}
}

// TestInterrupted: what was seen before the end is stored, what was not is no failure.
func TestInterrupted(t *testing.T) {
	f := newFakes()
	task := f.task(1000)
	ctx, cancel := context.WithCancel(t.Context())
	task.progress = func(p Progress) {
		if p.Reached == 50 {
			cancel()
		}
	}
	p, err := task.run(ctx)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
	if len(f.stored) < 49 || len(f.stored) > p.Reached {
		t.Errorf("%d stored, %d reached", len(f.stored), p.Reached)
	}
	for _, o := range f.stored {
		if o.Failure != "" && o.Name != "h005" {
			t.Errorf("%+v", o)
		}
	}
}

func TestStoreFails(t *testing.T) {
	f := newFakes()
	f.storeErr = errors.New("disk full")
	if _, err := f.task(1000).run(t.Context()); !errors.Is(err, f.storeErr) {
		t.Errorf("%v", err)
	}
}

// TestTimeout: a host that hangs holds up nobody.
func TestTimeout(t *testing.T) {
	f := newFakes()
	task := f.task(20)
	task.Tries = 2
	task.do = func(ctx context.Context, target *fleet.Target) (fleet.Observation, error) {
		if target.Name == "h007" {
			ctx, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
			defer cancel()
			<-ctx.Done()
			return fleet.Observation{}, context.Cause(ctx)
		}
		return f.observe(ctx, target)
	}
	p, err := task.run(t.Context())
	if err != nil || p.Unreachable != 2 || p.Reached != 18 {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestPausesGrow(t *testing.T) {
	v := visits[fleet.Observation]{Pace: Pace{Pause: 2 * time.Second}}
	for try, want := range []time.Duration{2 * time.Second, 6 * time.Second, 18 * time.Second} {
		if d := v.pause(try); d < want*3/4 || d > want*5/4 {
			t.Errorf("pause after try %d: %v", try, d)
		}
	}
}
