package live

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"linerate/internal/study"
)

// pulse notices when this process did not run: because its machine slept or moved, or it
// was stopped itself. What a host seems to do meanwhile says nothing of the host.
type pulse struct {
	lock sync.Mutex
	last time.Time
	gone asleep
}

// asleep is for how long this process did not run: by Go's clock, which on Linux stands
// while the machine sleeps, and by the clock on the wall too.
type asleep struct{ running, all time.Duration }

const (
	beat = 250 * time.Millisecond
	// longestBeat is what a busy machine may take for one.
	longestBeat = 3 * time.Second
)

// start beats until ctx is over.
func (p *pulse) start(ctx context.Context) {
	p.slept()
	go func() {
		for pause(ctx, beat) == nil {
			p.slept()
		}
	}()
}

// slept is for how long this process did not run so far.
func (p *pulse) slept() asleep {
	p.lock.Lock()
	defer p.lock.Unlock()
	now := time.Now()
	if !p.last.IsZero() {
		running := now.Sub(p.last)
		if running > longestBeat {
			p.gone.running += running
		}
		if all := max(running, now.Round(0).Sub(p.last.Round(0))); all > longestBeat {
			p.gone.all += all
		}
	}
	p.last = now
	return p.gone
}

// slept is for how long this process has not run since the switch to the window; ends, whether
// the window is over for it: the host has had for longer what the window gave it, or has
// put itself back, or does not answer a machine that has just woken.
func (s *stretch) slept() (d time.Duration, ends bool) {
	d = s.pulse.slept().all - s.before.all
	return d, d > 2*time.Second+s.length/5 || d > 0 && s.unread > 0
}

// breakOff ends such a window.
func (s *stretch) breakOff(slept time.Duration) error {
	clear(s.w.Value)
	s.w.Disturbed = append(s.w.Disturbed, study.Disturbance{Gate: study.GateRead, Text: fmt.Sprintf("this machine slept for %.0f s", slept.Seconds())})
	return s.takeOff("the machine that studies it slept")
}

// reach does what needs the host; where that fails it waits for the host to answer, and
// does it once more: a machine that wakes finds its connections dead, and for a while no
// network.
func (r *run) reach(ctx context.Context, do func() error) error {
	err := do()
	if err == nil || ctx.Err() != nil || errors.Is(err, ErrStopped) {
		return err
	}
	for begin := time.Now(); ; {
		if lost := r.sw.lost(ctx); lost == nil {
			return do()
		}
		r.complain(err)
		if time.Since(begin) > patience {
			return err
		}
		if gone := pause(ctx, r.every); gone != nil {
			return gone
		}
	}
}
