package live

import (
	"context"
	"errors"
	"testing"
	"time"

	"linerate/internal/apply"
)

func TestPulse(t *testing.T) {
	p := &pulse{}
	if gone := p.slept(); gone != (asleep{}) {
		t.Errorf("before the first beat: %+v", gone)
	}
	p.last = p.last.Add(-time.Hour)
	if gone := p.slept(); gone.running < time.Hour || gone.all < gone.running {
		t.Errorf("an hour without a beat is %+v", gone)
	}
	s := &stretch{run: &run{}, length: time.Minute}
	for _, c := range []struct {
		slept  time.Duration
		unread int
		ends   bool
	}{{0, 1, false}, {10 * time.Second, 0, false}, {10 * time.Second, 1, true}, {15 * time.Second, 0, true}} {
		s.pulse.gone.all, s.unread = c.slept, c.unread
		if _, ends := s.slept(); ends != c.ends {
			t.Errorf("%+v: %v", c, ends)
		}
	}
}

// away is a machine that cannot be asked for a while.
type away struct {
	apply.Machine
	looks int
}

func (a *away) Status(context.Context) (apply.Status, error) {
	if a.looks--; a.looks >= 0 {
		return apply.Status{}, errors.New("no route to host")
	}
	return apply.Status{State: "idle"}, nil
}

// What needs the host is done again when the host answers again; what the host refuses is
// not tried for long, and what ended the study not at all.
func TestReach(t *testing.T) {
	for _, c := range []struct {
		looks, fails, want int
		err                error
	}{{3, 1, 2, nil}, {0, 0, 1, nil}, {0, 5, 2, errors.New("no space left")}, {0, 5, 1, ErrStopped}} {
		r := &run{o: &Options{Say: t.Logf}, sw: switcher{Machine: &away{looks: c.looks}}, every: time.Millisecond}
		done := 0
		err := r.reach(t.Context(), func() error {
			if done++; done > c.fails {
				return nil
			}
			return errors.Join(c.err, errors.New("it failed"))
		})
		if done != c.want || (err == nil) != (c.err == nil) {
			t.Errorf("%+v: %v after %d", c, err, done)
		}
	}
}
