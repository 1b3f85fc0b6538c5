package forward

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"linerate/internal/study"
)

// prober records when it is started and stopped.
type prober struct {
	study.Prober
	began            time.Time
	started, stopped time.Duration
}

func (a *prober) Start() { a.started = time.Since(a.began) }
func (a *prober) Stop()  { a.stopped = time.Since(a.began) }

// TestAskingEndsWithTheInterrupt: probing ends with the run, or with an interrupt before that.
func TestAskingEndsWithTheInterrupt(t *testing.T) {
	const minute = time.Minute
	for _, c := range []struct{ interrupted, started, stopped time.Duration }{
		{2 * minute, settled, minute},
		{minute / 2, settled, minute / 2},
		{settled / 2, 0, 0},
	} {
		synctest.Test(t, func(t *testing.T) { // its clock advances when all goroutines wait
			ctx, cancel := context.WithTimeout(t.Context(), c.interrupted)
			defer cancel()
			a := &prober{began: time.Now()}
			asking{a}.during(ctx, minute)()
			if a.started != c.started || a.stopped != c.stopped || time.Since(a.began) != min(minute, c.interrupted) {
				t.Errorf("interrupted after %v: asked from %v to %v, waited %v", c.interrupted, a.started, a.stopped, time.Since(a.began))
			}
		})
	}
}
