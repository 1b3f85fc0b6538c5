package live

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"linerate/internal/study"
)

// pulse notices when this process did not run, because its machine slept or migrated, or because
// the process was stopped. What a host seems to do during such a gap says nothing about the host.
type pulse struct {
	lock sync.Mutex
	last time.Time
	gone asleep
}

// asleep is how long this process did not run: running by the monotonic clock, which on
// Linux stops during suspend; all by the wall clock too.
type asleep struct{ running, all time.Duration }

const (
	beat = 250 * time.Millisecond
	// longestBeat is the longest that one beat may take on a busy machine.
	longestBeat = 3 * time.Second
)

// start beats until ctx is done.
func (p *pulse) start(ctx context.Context) {
	p.slept()
	go func() {
		for pause(ctx, beat) == nil {
			p.slept()
		}
	}()
}

// slept returns how long this process has not run so far.
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

// slept returns how long this process has not run since the switch to the window, and whether
// that ends the window: the host kept the treatment for longer than the window, has restored
// itself, or does not answer a machine that just woke up.
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

// reach runs do, which needs the host. If it fails, reach waits until the host answers
// and runs do once more: after a machine wakes up, its connections are dead, and it may
// have no network for a while.
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
