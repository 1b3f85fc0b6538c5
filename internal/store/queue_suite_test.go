package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"linerate/internal/labtest"
	"linerate/internal/queue"
	"linerate/internal/stats"
	"linerate/internal/store/storetest"
	"linerate/internal/study"
	"linerate/internal/study/record"
)

// openQueue opens the same queue on every call of a test; it is closed at the end.
type openQueue func(t *testing.T, p queue.Patience) queue.Queue

// patient is for tests without lost workers: a stall of the machine must not end a lease.
var patient = queue.Patience{Beat: 500 * time.Millisecond, Lost: 5 * time.Minute}

// hasty treats a worker that a busy machine has delayed as lost: tests that use it lease their testbed again
// (steady).
var hasty = queue.Patience{Beat: time.Second, Lost: 4 * time.Second}

// TestQueue tests what a queue does in every database.
func TestQueue(t *testing.T) {
	for _, d := range databases {
		for name, test := range map[string]func(*testing.T, openQueue){
			"Spread": spread, "Lease": leases, "Zombie": zombie, "LostWorker": lostWorker, "Cancel": cancelled, "Brake": brake,
			"Quarantine": quarantine, "FailedStudy": failedStudy, "Unavailable": unavailable, "Names": names,
		} {
			t.Run(d.name+"/"+name, func(t *testing.T) { t.Parallel(); test(t, d.fresh(t).queue) })
		}
	}
}

const spec = `name: small
question: Does b cost more than a?
seed: 7
interleave: false
retries: 1
variants: [{name: a}, {name: b, settings: [{sysctl: net.ipv4.ip_early_demux, value: 0}]}]
parts:
  - {name: cost, mode: cost, blocks: 5, seconds: 0.2}
  - {name: over, mode: overload, rate: max, blocks: 3, seconds: 0.2}
metrics: [{metric: forwarding_rate_pps, part: cost, primary: true}]
`

func submission(id string) queue.Submission {
	return queue.Submission{ID: id, Name: "small", Label: "pair", Kind: "netns", Submitter: "ada@x", Spec: []byte(spec), Sets: []byte(`{"a":[]}`), Estimate: time.Hour}
}

func submit(t *testing.T, q queue.Queue, id string) {
	t.Helper()
	if err := q.Submit(t.Context(), submission(id)); err != nil {
		t.Fatal(err)
	}
}

func claim(bed string) queue.Claim {
	return queue.Claim{Testbed: bed, Label: "pair", Kind: "netns", Holder: "host:1"}
}

func lease(t *testing.T, q queue.Queue, bed string) queue.Lease {
	t.Helper()
	l, err := q.Lease(t.Context(), claim(bed))
	if err != nil {
		t.Fatalf("lease %s: %v", bed, err)
	}
	return l
}

func outcome(j queue.Job, bed string) queue.Outcome {
	if j.Finish {
		return queue.Outcome{Ledger: "kept"}
	}
	return queue.Outcome{Trials: storetest.Trials(j, 700), Facts: []byte(`{"version":1}` + "\n"), Files: []queue.File{{Name: fmt.Sprintf("slices-%d", j.Unit.Blocks[0]), Data: []byte("raw")}},
		Environment: study.Environment{CPU: "cpu of " + bed, OS: "linux", Label: "simulated"}}
}

// work runs a worker until stop, which waits for it and returns its error.
func work(t *testing.T, q queue.Queue, l queue.Lease, do queue.Work) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- q.Work(ctx, l, nil, do) }()
	stop = sync.OnceValue(func() error { cancel(); return <-done })
	t.Cleanup(func() { _ = stop() })
	return stop
}

// steady runs a worker that leases its testbed again after it was treated as lost.
func steady(t *testing.T, q queue.Queue, bed string, do queue.Work) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if l, err := q.Lease(ctx, claim(bed)); err == nil {
				_ = q.Work(ctx, l, nil, do) // ends with its lease
			}
			time.Sleep(20 * time.Millisecond) // its row may be locked for a moment
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
}

func plain(bed string) queue.Work {
	return func(_ context.Context, j queue.Job) (queue.Outcome, error) { return outcome(j, bed), nil }
}

func state(t *testing.T, q queue.Queue, id string) queue.Study {
	t.Helper()
	s, err := q.Study(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func becomes(t *testing.T, q queue.Queue, id string, want queue.State) queue.Study {
	t.Helper()
	if !labtest.Eventually(func() bool { return state(t, q, id).State == want }) {
		t.Fatalf("study %s is %+v, want it %s", id, state(t, q, id), want)
	}
	return state(t, q, id)
}

// recordOf reads a study's record back, and checks that each trial is there once.
func recordOf(t *testing.T, q queue.Queue, id string) *record.Record {
	t.Helper()
	files, err := q.Record(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	r, err := queue.ReadRecord(files, id)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, tr := range r.Trials {
		at := fmt.Sprint(tr.Part, tr.Block, tr.Variant, tr.Retry)
		if seen[at] {
			t.Errorf("%s is recorded twice", at)
		}
		seen[at] = true
	}
	return r
}

// spread: several testbeds run one study, and its record is an ordinary one.
func spread(t *testing.T, open openQueue) {
	q := open(t, patient)
	var mu sync.Mutex
	jobs := map[string]int{} // by testbed
	var over []int           // trials of part cost that part over saw before it
	both := make(chan struct{})
	for _, bed := range []string{"bed1", "bed2"} {
		work(t, q, lease(t, q, bed), func(_ context.Context, j queue.Job) (queue.Outcome, error) {
			mu.Lock()
			defer mu.Unlock()
			if string(j.Sets) != `{"a":[]}` || j.Try != 1 {
				t.Errorf("job %+v", j)
			}
			jobs[bed]++
			if len(jobs) == 2 && jobs[bed] == 1 {
				close(both)
			}
			if jobs[bed] == 1 { // until the other has one too
				mu.Unlock()
				<-both
				mu.Lock()
			}
			if j.Unit.Part == "over" {
				over = append(over, len(j.Before))
			}
			return outcome(j, bed), nil
		})
	}
	submit(t, q, "s1")
	if s := becomes(t, q, "s1", queue.Done); s.Ledger != "kept" || s.Blocks != 8 || s.Done != 8 || s.Trials != 24 {
		t.Errorf("%+v", s)
	}
	if want := []int{15, 15, 15}; !slices.Equal(over, want) {
		t.Errorf("part over began with %v trials of the part before it, want %v", over, want)
	}
	r := recordOf(t, q, "s1")
	if len(r.Trials) != 24 || len(r.Facts) == 0 || !slices.IsSortedFunc(r.Trials, func(a, b study.Trial) int { return a.Block - b.Block }) {
		t.Errorf("%d trials, %d facts", len(r.Trials), len(r.Facts))
	}
	res := r.Results()
	if !res.Complete || len(res.Beds) != 2 || len(res.Environment.Beds) != 2 || res.Verdicts[0].Verdict != stats.Worse {
		t.Errorf("complete %v, testbeds %+v, verdict %s", res.Complete, res.Beds, res.Verdicts[0].Verdict)
	}
	if w := r.Warnings(res); len(w) > 0 {
		t.Errorf("the record has warnings: %q", w)
	}
}

// leases: a testbed has one holder at a time, and increasing epochs.
func leases(t *testing.T, open openQueue) {
	q := open(t, patient)
	first := lease(t, q, "bed")
	var held *queue.NotAvailable
	if _, err := q.Lease(t.Context(), claim("bed")); !errors.Is(err, queue.ErrHeld) || !errors.As(err, &held) || held.Wait <= 0 || held.Holder != "host:1" {
		t.Fatalf("a testbed that is held: %v", err)
	}
	var second queue.Lease
	other := open(t, hasty)
	if !labtest.Eventually(func() (ok bool) { // nothing is heard of the first
		l, err := other.Lease(t.Context(), claim("bed"))
		second = l
		return err == nil
	}) {
		t.Fatal("a silent holder keeps the testbed")
	}
	if second.Epoch <= first.Epoch {
		t.Errorf("epochs %d, %d", first.Epoch, second.Epoch)
	}
	if err := q.Quarantine(t.Context(), first, "x"); !errors.Is(err, queue.ErrLost) {
		t.Errorf("the first holder can still act for the testbed: %v", err)
	}
	if err := work(t, q, second, plain("bed"))(); err != nil {
		t.Errorf("a worker that is asked to stop: %v", err)
	}
	lease(t, q, "bed") // the lease was returned
}

// zombie: a worker that was treated as lost but continues records nothing.
func zombie(t *testing.T, open openQueue) {
	deaf := open(t, queue.Patience{Beat: time.Hour, Lost: 2 * time.Hour}) // does not beat, and assumes that it need not
	q := open(t, hasty)
	submit(t, q, "s1")
	got, release := make(chan queue.Job, 1), make(chan struct{})
	dead := lease(t, deaf, "bed1")
	work(t, deaf, dead, func(ctx context.Context, j queue.Job) (queue.Outcome, error) {
		if len(got) > 0 {
			<-ctx.Done()
			return queue.Outcome{}, ctx.Err()
		}
		got <- j
		<-release // ignores its context
		return outcome(j, "zombie"), nil
	})
	if !labtest.Eventually(func() bool { return len(got) == 1 }) {
		t.Fatal("no job")
	}
	steady(t, q, "bed2", plain("bed2"))
	s := becomes(t, q, "s1", queue.Done) // its block was handed out again
	close(release)
	j := <-got
	got <- j
	beds, err := q.Testbeds(t.Context())
	if err != nil || beds[0].Name != "bed1" || beds[0].State != queue.BedFree || beds[0].Epoch <= dead.Epoch {
		t.Errorf("%+v, %v", beds, err)
	}
	for _, tr := range recordOf(t, q, "s1").Trials {
		if tr.Testbed != "bed2" {
			t.Errorf("block %d is recorded for testbed %s", tr.Block, tr.Testbed)
		}
	}
	if s.Trials != 24 {
		t.Errorf("%d trials", s.Trials)
	}
}

// lostWorker: a worker that lost its testbed gets an error, and stops.
func lostWorker(t *testing.T, open openQueue) {
	q := open(t, patient)
	c := claim("bed")
	l, err := q.Lease(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	submit(t, q, "s1")
	stopped := make(chan error, 1)
	begun := make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		ended <- q.Work(context.WithoutCancel(t.Context()), l, nil, func(ctx context.Context, _ queue.Job) (queue.Outcome, error) {
			close(begun)
			<-ctx.Done()
			stopped <- context.Cause(ctx)
			return queue.Outcome{}, ctx.Err()
		})
	}()
	<-begun
	second, err := open(t, queue.Patience{Beat: time.Hour}).Lease(t.Context(), c) // which gives up at once
	if err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, queue.ErrLost) {
		t.Errorf("Work ended with %v", err)
	}
	if err := <-stopped; err == nil {
		t.Error("the block's context was not cancelled")
	}
	work(t, q, second, plain("bed"))
	becomes(t, q, "s1", queue.Done)
	recordOf(t, q, "s1")
}

// cancelled: a running block is ended, and nothing else of the study begins.
func cancelled(t *testing.T, open openQueue) {
	q := open(t, patient)
	submit(t, q, "s1")
	begun, ended := make(chan struct{}), make(chan struct{})
	work(t, q, lease(t, q, "bed"), func(ctx context.Context, j queue.Job) (queue.Outcome, error) {
		if j.Study != "s1" {
			return outcome(j, "bed"), nil
		}
		close(begun) // a second block of s1 would panic here
		<-ctx.Done()
		close(ended)
		return queue.Outcome{}, ctx.Err()
	})
	<-begun
	if err := q.Cancel(t.Context(), "s1", "a mistake"); err != nil {
		t.Fatal(err)
	}
	<-ended
	if s := state(t, q, "s1"); s.State != queue.Cancelled || s.Why != "a mistake" {
		t.Errorf("%+v", s)
	}
	submit(t, q, "s2")
	becomes(t, q, "s2", queue.Done) // the testbed continues with other studies
	if err := q.Cancel(t.Context(), "s1", ""); err == nil {
		t.Error("a study was cancelled twice")
	}
}

// brake: while the queue is paused nothing begins, and it continues afterwards.
func brake(t *testing.T, open openQueue) {
	q := open(t, patient)
	if err := q.Brake(t.Context(), "the lab is being rewired"); err != nil {
		t.Fatal(err)
	}
	submit(t, q, "s1")
	work(t, q, lease(t, q, "bed"), func(ctx context.Context, j queue.Job) (queue.Outcome, error) {
		if why, err := q.Braked(ctx); err == nil && why != "" {
			t.Error("a block began while the queue was paused")
		}
		return outcome(j, "bed"), nil
	})
	seen := 0
	labtest.Eventually(func() bool { // the worker has asked, and is alive
		beds, err := q.Testbeds(t.Context())
		if err == nil && beds[0].SilentSeconds < patient.Beat.Seconds() {
			seen++
		}
		return seen > 20
	})
	if s := state(t, q, "s1"); s.Done+s.Running > 0 {
		t.Errorf("%+v", s)
	}
	if err := q.Brake(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	becomes(t, q, "s1", queue.Done)
}

// quarantine: a failing testbed is out of use, and its block is run by another.
func quarantine(t *testing.T, open openQueue) {
	q := open(t, patient)
	submit(t, q, "s1")
	l := lease(t, q, "bed1")
	err := q.Work(t.Context(), l, nil, func(context.Context, queue.Job) (queue.Outcome, error) {
		return queue.Outcome{}, &queue.BedFailed{Reason: "no link"}
	})
	var bed *queue.BedFailed
	if !errors.As(err, &bed) || bed.Reason != "no link" {
		t.Errorf("Work ended with %v", err)
	}
	if _, err := q.Lease(t.Context(), claim("bed1")); !errors.Is(err, queue.ErrQuarantined) || !strings.Contains(err.Error(), "no link") {
		t.Errorf("lease from quarantine: %v", err)
	}
	work(t, q, lease(t, q, "bed2"), plain("bed2"))
	becomes(t, q, "s1", queue.Done)
	if err := q.Free(t.Context(), "bed1"); err != nil {
		t.Fatal(err)
	}
	if err := q.Free(t.Context(), "bed1"); err == nil {
		t.Error("a testbed was freed twice")
	}
	submit(t, q, "s2")
	err = q.Work(t.Context(), lease(t, q, "bed1"), func(context.Context) error { return errors.New("wrong cabling") }, func(context.Context, queue.Job) (queue.Outcome, error) {
		t.Error("a testbed that is not fit got a job")
		return queue.Outcome{}, nil
	})
	if !errors.As(err, &bed) || bed.Reason != "wrong cabling" {
		t.Errorf("Work of a testbed that is not fit ended with %v", err)
	}
	if _, err := q.Lease(t.Context(), claim("bed1")); !errors.Is(err, queue.ErrQuarantined) {
		t.Errorf("a testbed that is not fit: %v", err)
	}
}

// failedStudy: a block that fails on healthy testbeds fails its study.
func failedStudy(t *testing.T, open openQueue) {
	q := open(t, patient)
	submit(t, q, "s1")
	work(t, q, lease(t, q, "bed"), func(_ context.Context, j queue.Job) (queue.Outcome, error) {
		if j.Study == "s1" && j.Unit.Blocks[0] == 2 {
			return queue.Outcome{}, errors.New("no such sysctl")
		}
		return outcome(j, "bed"), nil
	})
	if s := becomes(t, q, "s1", queue.Failed); !strings.Contains(s.Why, "no such sysctl") || !strings.Contains(s.Why, "block 2 failed 3 times") {
		t.Errorf("%+v", s)
	}
	submit(t, q, "s2")
	becomes(t, q, "s2", queue.Done)
}

// unavailable: a mode that no testbed has is skipped.
func unavailable(t *testing.T, open openQueue) {
	q := open(t, patient)
	submit(t, q, "s1")
	work(t, q, lease(t, q, "bed"), func(_ context.Context, j queue.Job) (queue.Outcome, error) {
		o := outcome(j, "bed")
		if !j.Finish && j.Unit.Part == "over" {
			if len(j.Lacks) == 0 {
				o.Trials = nil
			} else {
				t.Error("a part that is known to be unavailable was handed out")
			}
			o.Environment.Unavailable = map[string]string{"overload": "one CPU"}
		}
		return o, nil
	})
	becomes(t, q, "s1", queue.Done)
	r := recordOf(t, q, "s1")
	if len(r.Trials) != 15 || r.Environment.Unavailable["overload"] != "one CPU" || !r.Results().Complete {
		t.Errorf("%d trials, %v", len(r.Trials), r.Environment.Unavailable)
	}
}

// names: studies are found by a prefix of their IDs.
func names(t *testing.T, open openQueue) {
	q := open(t, patient)
	submit(t, q, "abc1")
	submit(t, q, "abd2")
	if s, err := q.Study(t.Context(), "abc"); err != nil || s.ID != "abc1" || s.Kind != "netns" || s.EstimateSeconds != 3600 {
		t.Errorf("%+v, %v", s, err)
	}
	for _, id := range []string{"ab", "", "zz"} {
		if _, err := q.Study(t.Context(), id); err == nil {
			t.Errorf("%q was found as a study", id)
		}
	}
	if err := q.Submit(t.Context(), submission("abc1")); err == nil {
		t.Error("an ID was accepted twice")
	}
	if err := q.Free(t.Context(), "nobody"); !errors.Is(err, queue.ErrNotFound) {
		t.Errorf("%v", err)
	}
	if q.Place() == "" || strings.Contains(q.Place(), "password") {
		t.Errorf("place %q", q.Place())
	}
}
