package live

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"linerate/internal/apply"
	"linerate/internal/host/localhost"
	"linerate/internal/knob"
	"linerate/internal/setting"
	"linerate/internal/study"
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

// away is a machine that does not answer for a while.
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

// TestReach: an operation that needs the host is retried when the host answers again; a refusal is not
// retried for long, and an error that ended the study not at all.
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

// waking is a host whose connections are dead for some looks, after the first ones.
type waking struct {
	*localhost.Runner
	looks, dead int
	whenDead    func()
}

func (w *waking) Run(context.Context, string, []string, []byte) ([]byte, error) {
	if w.looks++; w.looks > 5 && w.looks <= 5+w.dead {
		if w.looks == 6 {
			w.whenDead()
		}
		return nil, errors.New("the connection is dead")
	}
	n := 100 * w.looks
	return fmt.Appendf(nil, "clock %d\nboot b\nuptime %d\nhz 100\ncpu %d 0 %d 0 0 0 0 0\nmemory 100\navailable 50\ndev eth0: 0 %d 0 0 0 0 0 0 0 0 0 0\nend\n", n, n, n, n, n*n), nil
}

// TestPilotOutlastsSleep: a pilot survives a suspend of its machine and the dead connections after it; one
// whose first look fails ends at once.
func TestPilotOutlastsSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := func(w *waking) (*run, error) {
			r, err := (&Options{Conn: w, Machine: &away{}, Metrics: []string{"cpu-per-packet"}, Pilot: 2 * time.Minute, Plan: study.WindowPlan{Window: time.Minute}}).prepare()
			if err != nil {
				t.Fatal(err)
			}
			w.whenDead = func() { r.pulse.lock.Lock(); r.pulse.gone.all += time.Hour; r.pulse.lock.Unlock() }
			_, err = r.pilot(t.Context())
			return r, err
		}
		w := &waking{Runner: &localhost.Runner{}, dead: 1}
		if _, err := begin(w); err != nil || w.looks < 10 {
			t.Errorf("after %d looks: %v", w.looks, err)
		}
		w = &waking{Runner: &localhost.Runner{}, looks: 5, dead: 99}
		if _, err := begin(w); err == nil || w.looks != 6 {
			t.Errorf("a host that never answered, after %d looks: %v", w.looks, err)
		}
	})
}

// changedHost is a machine whose setting differs from what a window applied.
type changedHost struct {
	apply.Machine
	history []apply.Past
	silent  int // looks without an answer
}

func (c *changedHost) Look(context.Context, []knob.Key, []string) (apply.Snapshot, error) {
	if c.silent--; c.silent >= 0 {
		return apply.Snapshot{}, errors.New("no answer")
	}
	return apply.Snapshot{Values: map[knob.Key]string{aKey: "old"}}, nil
}

func (c *changedHost) Status(context.Context) (apply.Status, error) {
	return apply.Status{State: "idle", History: c.history}, nil
}

var aKey = knob.Key{Mechanism: setting.Sysctl, Name: "net.a"}

// TestWhoChangedIt: a window that outlasted its switch blames nobody else, unless it had applied nothing.
func TestWhoChangedIt(t *testing.T) {
	const late, other = "nobody confirmed in time", "it was changed by somebody else: net.a is "
	const took = "the window took 27 s, and the host took the setting back after 20 (nobody confirmed in time): net.a is old"
	for _, c := range []struct {
		before, arm, outcome, why string
		silent                    int
		want                      string
	}{
		{"old", "x", "confirmed", "", 0, other + "old"},
		{"old", "x", "reverted", late, 0, took},
		{"old", "x", "reverted", late, 1, took},
		{"older", study.Control, "reverted", late, 0, other + "old"},
	} {
		history := []apply.Past{{ID: "1", Outcome: "reverted", Why: "the window is over"}, {ID: "2", Outcome: c.outcome, Why: c.why}}
		r := &run{o: &Options{Say: t.Logf, Treatments: []Treatment{{Name: "x", Values: []apply.Assignment{{Key: aKey, Value: "new"}}}}, metrics: []Metric{{}}},
			sw: switcher{Machine: &changedHost{history: history, silent: c.silent}, on: "2", window: 10 * time.Second, grace: 10 * time.Second, before: map[knob.Key]string{aKey: c.before}}}
		w := Window{Start: time.Now().Add(-27 * time.Second)}
		w.Value = map[string]float64{"": 1}
		s := &stretch{run: r, w: &w, slot: study.WindowSlot{Arm: c.arm, Of: "x"}}
		if err := s.judge(t.Context()); err != nil || len(w.Disturbed) != 1 || w.Disturbed[0].Text != c.want {
			t.Errorf("%+v, %v, not %q", w.Disturbed, err, c.want)
		}
	}
}

// TestWhyAWindowIsUnread: if less time passed on the host, the window says who did not look: this machine,
// or nobody because the host did not answer.
func TestWhyAWindowIsUnread(t *testing.T) {
	for want, notes := range map[string][]string{
		"3 s passed on the host in a window of 10 s: this machine slept, or was too busy to look": nil,
		"3 s passed on the host in a window of 10 s: the host did not answer":                     {"the connection was lost"},
	} {
		r := &run{o: &Options{Say: t.Logf, metrics: []Metric{{}}}, sw: switcher{Machine: &changedHost{}}}
		w := Window{Start: time.Now()}
		w.Value, w.Notes, w.At = map[string]float64{"": 1}, notes, make([]float64, 8)
		s := &stretch{run: r, w: &w, length: 10 * time.Second, at: Sample{Uptime: 3, Clock: 3}}
		if err := s.judge(t.Context()); err != nil || len(w.Disturbed) != 1 || w.Disturbed[0].Text != want {
			t.Errorf("%+v, %v, not %q", w.Disturbed, err, want)
		}
	}
}
