package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"linerate/internal/hint"
	"linerate/internal/queue"
	"linerate/internal/study"
)

func TestMake(t *testing.T) {
	w := newWorld(t)
	w.submit("s1")
	for range 2 {
		if err := errors.Join(w.Make(t.Context()), w.Current(t.Context())); err != nil {
			t.Fatalf("existing tables: %v", err)
		}
	}
	if s, err := w.Study(t.Context(), "s1"); err != nil || s.Blocks != 3 {
		t.Errorf("creating them again gave %+v, %v", s, err)
	}
	w.exec("INSERT INTO queue_version (version) VALUES (?)", queueTables.version+1)
	for what, err := range map[string]error{"Make": w.Make(t.Context()), "Current": w.Current(t.Context())} {
		if !errors.Is(err, queueTables.newer) || !strings.Contains(err.Error(), fmt.Sprintf("schema %d, this one knows %d", queueTables.version+1, queueTables.version)) {
			t.Errorf("%s of newer tables: %v", what, err)
		}
	}
	w.exec("UPDATE queue_version SET version = 1")
	for what, err := range map[string]error{"Make": w.Make(t.Context()), "Current": w.Current(t.Context())} {
		if !errors.Is(err, queueTables.older) || hint.Of(err) == "" {
			t.Errorf("%s of older tables: %v", what, err)
		}
	}
}

// TestMakeIsWhole: creating the tables leaves nothing if it fails midway.
func TestMakeIsWhole(t *testing.T) {
	for stmt := 1; ; stmt++ {
		w := newWorld(t)
		for _, table := range []string{"queue_version", "queue_settings", "queue_studies", "queue_blocks", "queue_trials", "queue_files", "queue_beds", "queue_testbeds"} {
			w.exec("DROP TABLE " + table)
		}
		w.fault = func() (int, bool) { return stmt, false }
		err := w.Make(t.Context())
		w.fault = nil
		if err == nil && stmt > 10 {
			return // there are no more statements
		}
		if n := w.ask("SELECT COUNT(*) FROM sqlite_master WHERE name LIKE 'queue_%'"); !errors.Is(err, errDown) || n != 0 {
			t.Fatalf("statement %d fails: %v, and %d tables stay", stmt, err, n)
		}
	}
}

// TestLeaseEnds: a holder keeps its testbed for exactly Lost.
func TestLeaseEnds(t *testing.T) {
	w := newWorld(t)
	first := w.lease("bed")
	w.pass(patience.Lost - time.Millisecond)
	var held *queue.NotAvailable
	if _, err := w.Lease(t.Context(), claim("bed")); !errors.As(err, &held) || held.Wait != time.Millisecond || !errors.Is(held.Err, queue.ErrHeld) || held.Holder != "host:bed" {
		t.Errorf("a moment before: %v", err)
	}
	if err := w.Beat(t.Context(), first, func() int64 { return 0 }); err != nil {
		t.Fatal(err)
	}
	w.pass(time.Millisecond)
	if _, err := w.Lease(t.Context(), claim("bed")); !errors.As(err, &held) || held.Wait != patience.Lost-time.Millisecond {
		t.Errorf("after a beat: %v", err)
	}
	w.pass(patience.Lost - time.Millisecond)
	if second := w.lease("bed"); second.Epoch != first.Epoch+1 {
		t.Errorf("epochs %d, %d", first.Epoch, second.Epoch)
	}
	for what, err := range map[string]error{"Beat": w.Beat(t.Context(), first, func() int64 { return 0 }), "Return": w.Return(t.Context(), first), "Quarantine": w.Quarantine(t.Context(), first, "x"),
		"of no testbed": w.Return(t.Context(), queue.Lease{Claim: claim("nowhere")})} {
		if !errors.Is(err, queue.ErrLost) {
			t.Errorf("%s with an expired lease: %v", what, err)
		}
	}
	bad := claim("bed2")
	bad.Label = "Two words"
	if _, err := w.Lease(t.Context(), bad); err == nil || w.ask("SELECT COUNT(*) FROM queue_testbeds") != 1 {
		t.Errorf("label %q: %v", bad.Label, err)
	}
}

// TestLeaseOfAnother: leasing a testbed with another label and kind changes them.
func TestLeaseOfAnother(t *testing.T) {
	w := newWorld(t)
	if err := w.Return(t.Context(), w.lease("bed")); err != nil {
		t.Fatal(err)
	}
	c := claim("bed")
	c.Label, c.Kind, c.Holder = "triple", "ssh", "other:2"
	if _, err := w.Lease(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	w.pass(3 * time.Second)
	beds, err := w.Testbeds(t.Context())
	if err != nil || len(beds) != 1 {
		t.Fatalf("%+v, %v", beds, err)
	}
	if b := beds[0]; b.Label != "triple" || b.Kind != "ssh" || b.Holder != "other:2" || b.State != queue.BedLeased || b.SilentSeconds != 3 || b.Epoch != 3 {
		t.Errorf("%+v", b)
	}
}

func TestSweep(t *testing.T) {
	w := newWorld(t)
	w.submit("s1")
	w.lease("quiet")
	k := w.worker(w.lease("bed"), nil)
	if _, err := w.begin(t.Context(), k.lease, w.need()); err != nil {
		t.Fatal(err)
	}
	taken := w.need() // taken by a worker that dies before it begins
	w.need()          // taken by another worker
	w.pass(patience.Lost)
	if err := w.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := w.ask("SELECT COUNT(*) FROM queue_testbeds WHERE state = 'leased'"); n != 2 {
		t.Errorf("%d testbeds are leased at the end of their time, want both still", n)
	}
	w.pass(time.Millisecond)
	if err := w.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := w.ask("SELECT COUNT(*) FROM queue_testbeds WHERE state = 'free' AND holder = ''"); n != 2 {
		t.Errorf("%d testbeds are free, want 2", n)
	}
	if n := w.ask("SELECT COUNT(*) FROM jobs WHERE taken = 0"); n != 3 || w.ask("SELECT COUNT(*) FROM jobs WHERE id = ?", taken.Job) != 0 {
		t.Errorf("%d blocks wait, want all three, by new jobs", n)
	}
	if n := w.ask("SELECT MAX(tries) FROM queue_blocks"); n != 0 {
		t.Errorf("a dead worker counts as the study's failure: %d tries", n)
	}
}

// TestBeatDropsTheRest: a block that a testbed began but its worker does not know of (the answer was lost) is
// handed out again; the block that it runs is not.
func TestBeatDropsTheRest(t *testing.T) {
	w := newWorld(t)
	w.submit("s1")
	l := w.lease("bed")
	forgotten, has := w.need(), w.need()
	for _, x := range []Ticket{forgotten, has} {
		if _, err := w.begin(t.Context(), l, x); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Beat(t.Context(), l, func() int64 { return has.Job }); err != nil {
		t.Fatal(err)
	}
	if n := w.ask("SELECT block FROM queue_blocks WHERE state = 'running'"); n != int64(has.Block) {
		t.Errorf("block %d runs, want %d", n, has.Block)
	}
	beds, err := w.Testbeds(t.Context())
	if err != nil || beds[0].Study != "s1" || beds[0].Block != has.Block || beds[0].Does() != fmt.Sprintf("block %d of s1", has.Block) {
		t.Errorf("%+v, %v", beds, err)
	}
	if _, err := w.begin(t.Context(), l, forgotten); !errors.Is(err, errStale) {
		t.Errorf("the old ticket of a block that was handed out again: %v", err)
	}
	if _, err := w.begin(t.Context(), l, has); err != nil {
		t.Errorf("the same ticket again, whose answer was lost: %v", err)
	}
}

// TestSubmitRefuses: a study that cannot be run is refused, and nothing of it is stored.
func TestSubmitRefuses(t *testing.T) {
	w := newWorld(t)
	w.submit("s1")
	for name, c := range map[string]struct {
		change func(*queue.Submission)
		want   string
	}{
		"a label":      {func(s *queue.Submission) { s.Label = "A" }, `label "A"`},
		"no study":     {func(s *queue.Submission) { s.Spec = []byte("name: [") }, "s2"},
		"no seed":      {func(s *queue.Submission) { s.Spec = []byte(strings.Replace(spec, "seed: 7\n", "", 1)) }, "no seed"},
		"one ID twice": {func(s *queue.Submission) { s.ID = "s1" }, "UNIQUE"},
	} {
		s := submission("s2")
		c.change(&s)
		if err := w.Submit(t.Context(), s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if n := w.ask("SELECT COUNT(*) FROM queue_studies"); n != 1 || w.ask("SELECT COUNT(*) FROM jobs") != 3 {
		t.Errorf("%d studies and %d jobs after refusals", n, w.ask("SELECT COUNT(*) FROM jobs"))
	}
}

func TestStudyByItsID(t *testing.T) {
	w := newWorld(t)
	for _, id := range []string{"s1", "s10", "s2", "x77"} {
		w.submit(id)
	}
	if s, err := w.Study(t.Context(), "s1"); err != nil || s.ID != "s1" {
		t.Errorf("a complete ID that is a prefix of another: %v, %v", s.ID, err)
	}
	if s, err := w.Study(t.Context(), "x"); err != nil || s.ID != "x77" {
		t.Errorf("a prefix of one ID: %v, %v", s.ID, err)
	}
	if _, err := w.Study(t.Context(), "s"); err == nil || !strings.Contains(err.Error(), "matches 3 studies") {
		t.Errorf("an ambiguous prefix: %v", err)
	}
	if _, err := w.Record(t.Context(), "s3"); !errors.Is(err, queue.ErrNotFound) || !strings.Contains(err.Error(), "s3") {
		t.Errorf("the record of an unknown study: %v", err)
	}
	if err := w.Cancel(t.Context(), "s3", ""); !errors.Is(err, queue.ErrNotFound) {
		t.Errorf("cancelling an unknown study: %v", err)
	}
}

func TestCancelTakesItsJobsBack(t *testing.T) {
	w := newWorld(t)
	w.submit("s1")
	w.submit("s2")
	k := w.worker(w.lease("bed"), nil)
	begun := w.need()
	if _, err := w.begin(t.Context(), k.lease, begun); err != nil {
		t.Fatal(err)
	}
	if err := w.Cancel(t.Context(), "s1", "a mistake"); err != nil {
		t.Fatal(err)
	}
	if w.ask("SELECT COUNT(*) FROM jobs WHERE study = 's1'") != 0 || w.ask("SELECT COUNT(*) FROM jobs WHERE study = 's2'") != 3 {
		t.Error("cancelling removed too few or too many jobs")
	}
	for what, err := range map[string]error{
		"complete": w.complete(t.Context(), k.lease, begun, queue.Outcome{}, nil),
		"failed":   w.failed(t.Context(), k.lease, begun, "x", 1),
	} {
		if !errors.Is(err, errStale) {
			t.Errorf("%s of a study that was cancelled: %v", what, err)
		}
	}
	if err := w.Cancel(t.Context(), "s1", ""); err == nil || !strings.Contains(err.Error(), "it is cancelled") {
		t.Errorf("cancelled twice: %v", err)
	}
	if open, err := w.Studies(t.Context(), false); err != nil || len(open) != 1 || open[0].ID != "s2" {
		t.Errorf("open studies %+v, %v", open, err)
	}
}

// TestHandleLater: a ticket that cannot begin now is handed out again, soon if the database is the reason.
func TestHandleLater(t *testing.T) {
	w := newWorld(t)
	w.submit("s1")
	begun := false
	k := w.worker(w.lease("bed"), func(context.Context, queue.Job) (queue.Outcome, error) {
		begun = true
		return queue.Outcome{}, nil
	})
	x := w.need()
	var again *Again
	w.fault = func() (int, bool) { return 1, false }
	if err := k.Handle(k.ctx, x, nil); !errors.As(err, &again) || again.After != patience.Beat/10 {
		t.Errorf("without the database: %v", err)
	}
	w.fault = nil
	if err := w.Brake(t.Context(), "lunch"); err != nil {
		t.Fatal(err)
	}
	if err := k.Handle(k.ctx, x, nil); !errors.As(err, &again) || again.After != patience.Beat {
		t.Errorf("while the queue is paused: %v", err)
	}
	if begun || k.holds() != 0 || k.ctx.Err() != nil || w.ask("SELECT COUNT(*) FROM queue_blocks WHERE state <> 'open'") != 0 {
		t.Errorf("begun %v, holds %d, %v", begun, k.holds(), k.ctx.Err())
	}
}

// TestCompleteOnce: if the answer to the transaction that records a block was lost, repeating it records
// nothing twice, and hands nothing out twice.
func TestCompleteOnce(t *testing.T) {
	w := newWorld(t)
	w.submit("s1")
	k := w.worker(w.lease("bed"), plain("bed"))
	for range 6 { // all blocks, and the end
		n := 0
		w.fault = func() (int, bool) { n++; return 0, n == 2 }
		if err := k.handle(w.need()); err != nil {
			t.Fatal(err)
		}
		if n != 3 {
			t.Errorf("%d transactions, want begin, complete and complete again", n)
		}
	}
	w.fault = nil
	s, err := w.Study(t.Context(), "s1")
	if err != nil || s.State != queue.Done || s.Blocks != 5 || s.Done != 5 || s.Trials != 15 || s.Ledger != "kept" {
		t.Errorf("%+v, %v", s, err)
	}
	if x, ok := w.take(); ok {
		t.Errorf("a job is left: %+v", x)
	}
}

// TestWhatCannotBeRecorded: a result that cannot be recorded is the study's failure, after the usual number of tries.
func TestWhatCannotBeRecorded(t *testing.T) {
	w := newWorld(t)
	w.submit("s1")
	tries := 0
	k := w.worker(w.lease("bed"), func(_ context.Context, j queue.Job) (queue.Outcome, error) {
		o := outcome(j, "bed")
		if j.Unit.Blocks[0] == 1 {
			if tries++; j.Try != tries {
				t.Errorf("try %d is called %d", tries, j.Try)
			}
			o.Files = append(o.Files, o.Files...)
		}
		return o, nil
	})
	for {
		x, ok := w.take()
		if !ok {
			break
		}
		if err := k.handle(x); err != nil {
			t.Fatal(err)
		}
	}
	s, err := w.Study(t.Context(), "s1")
	if err != nil || s.State != queue.Failed || tries != queue.MaxTries || !strings.Contains(s.Why, "block 1 failed 3 times, last on testbed bed: ") || !strings.Contains(s.Why, "UNIQUE") {
		t.Errorf("after %d tries %+v, %v", tries, s, err)
	}
	if s.Trials != 6 || s.Done != 2 || s.Blocks != 2 {
		t.Errorf("results of other blocks: %+v", s)
	}
}

// TestFinishIsNotGivenUp: a ledger that cannot be written does not fail a measured study.
func TestFinishIsNotGivenUp(t *testing.T) {
	w := newWorld(t)
	w.submit("s1")
	asked := 0
	k := w.worker(w.lease("bed"), func(_ context.Context, j queue.Job) (queue.Outcome, error) {
		if j.Finish {
			if asked++; asked <= 2*queue.MaxTries {
				return queue.Outcome{}, errors.New("no space left on device")
			}
		}
		return outcome(j, "bed"), nil
	})
	k.drain()
	if s, err := w.Study(t.Context(), "s1"); err != nil || s.State != queue.Done || asked != 2*queue.MaxTries+1 {
		t.Errorf("asked %d times: %+v, %v", asked, s, err)
	}
	if len(k.paused) != 2*queue.MaxTries || k.paused[0] != patience.Beat {
		t.Errorf("it pauses for %v between tries", k.paused)
	}
}

// TestBedFails: a failed testbed is quarantined, its block is handed out again, and the study is not blamed.
func TestBedFails(t *testing.T) {
	w := newWorld(t)
	w.submit("s1")
	k := w.worker(w.lease("bed"), func(context.Context, queue.Job) (queue.Outcome, error) {
		return queue.Outcome{}, fmt.Errorf("block: %w", &queue.BedFailed{Reason: "no link"})
	})
	var bed *queue.BedFailed
	if err := k.handle(w.need()); !errors.As(err, &bed) || !errors.As(context.Cause(k.ctx), &bed) || bed.Reason != "no link" {
		t.Errorf("%v, and the work ended with %v", err, context.Cause(k.ctx))
	}
	beds, err := w.Testbeds(t.Context())
	if err != nil || beds[0].State != queue.BedQuarantined || beds[0].Why != "no link" || beds[0].Study != "" {
		t.Errorf("%+v, %v", beds, err)
	}
	if w.ask("SELECT MAX(tries) FROM queue_blocks") != 0 || w.ask("SELECT COUNT(*) FROM jobs WHERE taken = 0") != 3 {
		t.Error("the block is not handed out again, or the study is blamed")
	}
	// A beat notices a lost lease at the same time: the reason stays the testbed's failure.
	k.lost(queue.ErrLost)
	if !errors.As(context.Cause(k.ctx), &bed) {
		t.Errorf("the work ended with %v", context.Cause(k.ctx))
	}
}

func TestFit(t *testing.T) {
	for name, c := range map[string]struct {
		fit   func(context.Context) error
		fine  bool
		state string
	}{
		"nothing to ask": {nil, true, queue.BedLeased},
		"fit":            {func(context.Context) error { return nil }, true, queue.BedLeased},
		"not fit":        {func(context.Context) error { return errors.New("wrong cabling") }, false, queue.BedQuarantined},
	} {
		w := newWorld(t)
		k := w.worker(w.lease("bed"), nil)
		beds := func() queue.Testbed { all, _ := w.Testbeds(t.Context()); return all[0] }
		if fine := k.Fit(k.ctx, c.fit); fine != c.fine || beds().State != c.state || (k.ctx.Err() == nil) != c.fine {
			t.Errorf("%s: fine %v, testbed %+v, %v", name, fine, beds(), k.ctx.Err())
		}
		// A worker that is being stopped reports nothing about its testbed.
		stopped := w.worker(w.lease("other"), nil)
		stopped.end(nil)
		if stopped.Fit(stopped.ctx, c.fit) || w.ask("SELECT COUNT(*) FROM queue_testbeds WHERE name = 'other' AND state = 'leased'") != 1 {
			t.Errorf("%s, while the worker stops: the testbed was reported as broken or fit", name)
		}
	}
}

// TestKeep: beats continue until the database has not answered for so long that the lease may expire.
func TestKeep(t *testing.T) {
	for name, c := range map[string]struct {
		down   time.Duration // when the database stops answering
		steal  time.Duration // when another takes the testbed
		ends   time.Duration // when the work ends
		reason string
	}{
		"never reached":    {down: 0, ends: patience.Lost - patience.Beat, reason: "not reached for 50s"},
		"reached for long": {down: 5 * time.Minute, ends: 5*time.Minute - patience.Beat + patience.Lost - patience.Beat, reason: "not reached for 50s"},
		"taken":            {down: time.Hour, steal: 95 * time.Second, ends: 100 * time.Second, reason: "lost"},
	} {
		w := newWorld(t)
		l := w.lease("bed")
		begin := time.Unix(1e9, 0)
		now, stolen := begin, c.steal == 0
		w.fault = func() (int, bool) {
			if now.Sub(begin) >= c.down {
				return 1, false
			}
			return 0, false
		}
		ctx, end := context.WithCancelCause(t.Context())
		h := w.Hands(l, nil, func() time.Time { return now }, func(_ context.Context, d time.Duration) error {
			if d <= 0 {
				t.Fatalf("%s: a pause of %s", name, d)
			}
			now = now.Add(d)
			w.pass(d)
			if !stolen && now.Sub(begin) >= c.steal {
				stolen = true
				w.exec("UPDATE queue_testbeds SET epoch = epoch + 1")
			}
			return nil
		}, end)
		h.Keep(ctx)
		if err := context.Cause(ctx); !errors.Is(err, queue.ErrLost) || !strings.Contains(err.Error(), c.reason) || now.Sub(begin) != c.ends {
			t.Errorf("%s: ended after %s (want %s) with %v", name, now.Sub(begin), c.ends, err)
		}
	}
}

// TestKeepStops: it stops with its context, and then reports nothing about the lease.
func TestKeepStops(t *testing.T) {
	w := newWorld(t)
	ctx, end := context.WithCancelCause(t.Context())
	mine := errors.New("asked to stop")
	rests := 0
	h := w.Hands(w.lease("bed"), nil, time.Now, func(_ context.Context, d time.Duration) error {
		if rests++; d != patience.Beat {
			t.Errorf("a pause of %s between beats, want %s", d, patience.Beat)
		}
		end(mine)
		return nil
	}, end)
	if h.Keep(ctx); !errors.Is(context.Cause(ctx), mine) || rests != 1 {
		t.Errorf("%v after %d pauses", context.Cause(ctx), rests)
	}
}

// TestSince: the time since includes suspend, and a clock that was set back.
func TestSince(t *testing.T) {
	last := time.Now()
	for _, now := range []time.Time{last.Add(time.Minute), last.Round(0).Add(time.Minute)} {
		if got := since(last, now); got != time.Minute {
			t.Errorf("since = %s", got)
		}
	}
}

// TestOtherTestbedFoundOut: a part that one testbed reported as unavailable is not tried even if a block of
// it was handed out before; the study ends without it.
func TestOtherTestbedFoundOut(t *testing.T) {
	w := newWorld(t)
	w.submit("s1")
	asked := 0
	k := w.worker(w.lease("bed"), func(_ context.Context, j queue.Job) (queue.Outcome, error) {
		o := outcome(j, "bed")
		if j.Unit.Part == "over" {
			asked++
			o = queue.Outcome{Environment: study.Environment{Unavailable: map[string]string{"overload": "one CPU"}}}
		}
		return o, nil
	})
	if n := k.drain(); n != 6 || asked != 1 {
		t.Errorf("%d jobs, %d of them of an unavailable part", n, asked)
	}
	s, err := w.Study(t.Context(), "s1")
	if err != nil || s.State != queue.Done || s.Trials != 9 {
		t.Errorf("%+v, %v", s, err)
	}
	files, err := w.Record(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	r, err := queue.ReadRecord(files, "s1")
	if err != nil || r.Environment.Unavailable["overload"] != "one CPU" {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestTestbedChanges: a change of a testbed between two blocks is recorded.
func TestTestbedChanges(t *testing.T) {
	w := newWorld(t)
	w.submit("s1")
	kernel := 1
	k := w.worker(w.lease("bed"), func(_ context.Context, j queue.Job) (queue.Outcome, error) {
		o := outcome(j, "bed")
		o.Environment.Kernel = fmt.Sprintf("6.%d", kernel)
		o.Facts = fmt.Appendf(nil, `{"kernel":"%d"}`, kernel)
		kernel++
		return o, nil
	})
	k.drain()
	files, err := w.Record(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	r, err := queue.ReadRecord(files, "s1")
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%+v", r.Environment); !strings.Contains(got, "6.1") || !strings.Contains(got, "6.5") {
		t.Errorf("the environment notes no change: %s", got)
	}
	names := map[string]string{}
	for _, f := range files {
		names[f.Name] = string(f.Data)
	}
	if names["raw-1"] != "raw of bed" || names["facts.json"] != `{"kernel":"1"}` {
		t.Errorf("files %v", names)
	}
}
