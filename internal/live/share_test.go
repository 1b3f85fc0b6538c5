package live

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
	_ "time/tzdata" // for a zone with daylight saving time

	"linerate/internal/host/localhost"
	"linerate/internal/study"
)

func berlin(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// timed returns a run whose windows only take time, on a fake clock.
func timed(t *testing.T, p study.WindowPlan, done []Window, sink func(Window) error) *run {
	r, err := (&Options{Conn: &localhost.Runner{}, Plan: p, Seed: 3, Metrics: []string{"drops"}, Done: done, Sink: sink,
		Treatments: []Treatment{{Name: "it"}}}).prepare()
	if err != nil {
		t.Fatal(err)
	}
	r.each = func(ctx context.Context, slot study.WindowSlot, length, _ time.Duration) (Window, error) {
		w := Window{Start: time.Now(), Arm: slot.Arm, Seconds: length.Seconds()}
		w.Pair, w.Half, w.Of = slot.Pair, slot.Half, slot.Of
		return w, pause(ctx, length)
	}
	return r
}

// TestShare: the treated share is kept, also by an interrupted study that resumes where it stopped.
func TestShare(t *testing.T) { synctest.Test(t, shared) }

func shared(t *testing.T) {
	plan := study.WindowPlan{Window: 20 * time.Minute, BurnIn: time.Minute, Treatments: []string{"it"}, Pairs: 12, MaxShare: 0.25}
	var windows []Window
	ctx, cancel := context.WithCancel(t.Context())
	r := timed(t, plan, nil, func(w Window) error {
		if windows = append(windows, w); w.Pair == 5 && w.Half == 1 {
			cancel()
		}
		return nil
	})
	if _, err := r.ramp(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := r.pairs(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: %v", err)
	}
	time.Sleep(20 * time.Hour)
	r = timed(t, plan, windows, func(w Window) error { windows = append(windows, w); return nil })
	if _, err := r.pairs(t.Context()); err != nil {
		t.Fatal(err)
	}
	pairs, treated, all := map[int]int{}, 0.0, 0.0
	for _, w := range windows {
		if w.Pair > 0 {
			pairs[w.Pair]++
		}
		if all += w.Seconds; (study.WindowSlot{Arm: w.Arm}).Treated() {
			treated += w.Seconds
		}
		// Apart from the ramp, the treated time exceeds the share by one pair's window at most.
		if over := treated - 0.25*all; over > 1.1*plan.Window.Seconds() {
			t.Errorf("at %s the host had the setting for %.0f of %.0f s", w.Start, treated, all)
		}
	}
	if pairs[5] != 3 || len(pairs) != plan.BlocksFor(12) {
		t.Errorf("%d pairs, the one that broke off in %d windows", len(pairs), pairs[5])
	}
}
