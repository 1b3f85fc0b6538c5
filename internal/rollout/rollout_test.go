package rollout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"linerate/internal/apply"
	"linerate/internal/fleet"
	"linerate/internal/knob"
	"linerate/internal/plan"
	"linerate/internal/setting"
)

// fakeHost is a Machine whose only setting is a number of a sysctl.
type fakeHost struct {
	mu       sync.Mutex
	name     string
	status   apply.Status
	dead     bool // does not answer
	deaf     bool // takes no confirmation
	value    string
	reverted int
}

var forward = knob.Key{Mechanism: setting.Sysctl, Name: "net.ipv4.ip_forward"}

func (f *fakeHost) Hello(context.Context) (apply.Identity, error) {
	return f.status.Identity, f.alive()
}
func (f *fakeHost) Where() string                { return "ssh://" + f.name }
func (f *fakeHost) Reboot(context.Context) error { return nil }
func (f *fakeHost) Ready(context.Context) error  { return f.alive() }
func (f *fakeHost) Reach(context.Context) (map[string]bool, error) {
	return nil, f.alive()
}

func (f *fakeHost) alive() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dead {
		return errors.New("no route to host")
	}
	return nil
}

func (f *fakeHost) Status(context.Context) (apply.Status, error) {
	if err := f.alive(); err != nil {
		return apply.Status{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	st := f.status
	st.History = slices.Clone(st.History)
	return st, nil
}

func (f *fakeHost) Look(context.Context, []knob.Key, []string) (apply.Snapshot, error) {
	return apply.Snapshot{Values: map[knob.Key]string{forward: f.value}}, f.alive()
}

func (f *fakeHost) Apply(_ context.Context, t apply.Transaction) (string, map[knob.Key]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id := fmt.Sprintf("%06d-x", len(f.status.History)+1)
	f.status.State, f.status.ID, f.status.Digest, f.value = "pending", id, t.Plan.Digest, "1"
	return id, map[knob.Key]string{forward: "1"}, nil
}

func (f *fakeHost) end(outcome, why string) {
	f.status.History = append(f.status.History, apply.Past{ID: f.status.ID, Outcome: outcome, Digest: f.status.Digest, Why: why})
	f.status.State, f.status.ID, f.status.Digest = "idle", "", ""
}

func (f *fakeHost) Confirm(context.Context, string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.deaf {
		return "", errors.New("too late")
	}
	f.end("confirmed", "")
	return "", nil
}

func (f *fakeHost) Revert(_ context.Context, _, why string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.value = "0"
	f.reverted++
	f.end("reverted", why)
	return "", nil
}

func (f *fakeHost) Rollback(_ context.Context, id string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.value = "0"
	f.status.History = slices.DeleteFunc(f.status.History, func(p apply.Past) bool { return p.ID == id })
	return "", nil
}

// fakes is a wave of hosts named a, b, c …, the first alone, the rest together.
type fakes struct {
	hosts map[string]*fakeHost
	mu    sync.Mutex
	noted []fleet.WaveEvent
	bad   map[string]bool // whose check fails once they are changed
	task  Task
}

func newFakes(t *testing.T, n int) *fakes {
	t.Helper()
	was := "0"
	p, err := plan.Seal(plan.Plan{OS: "linux", Release: "6.12.0", Role: "router", Settings: []plan.Step{{Name: forward.Name, Mechanism: setting.Sysctl, Value: "1", Current: plan.Current{Value: &was},
		Where: plan.Where{Runtime: true}, Reason: "a test", Risk: "none", Evidence: plan.Evidence{Kind: plan.Unmeasured}}}})
	if err != nil {
		t.Fatal(err)
	}
	f := &fakes{hosts: map[string]*fakeHost{}, bad: map[string]bool{}}
	f.task = Task{Options: Options{Parallel: 10, Tries: 1, Apply: apply.Options{Within: time.Minute, CheckTries: 1}},
		Reach: func(name string) (apply.Machine, func() error, error) {
			return f.hosts[name], func() error { return nil }, nil
		},
		Checks: func(name string) ([]apply.Check, error) {
			return []apply.Check{{Name: "fine", Do: func(context.Context) error {
				h := f.hosts[name]
				h.mu.Lock()
				defer h.mu.Unlock()
				if f.bad[name] && h.value == "1" {
					return errors.New("not fine")
				}
				return nil
			}}}, nil
		},
		Note: func(_ context.Context, events ...fleet.WaveEvent) error {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.noted = append(f.noted, events...)
			return nil
		}}
	for i := range n {
		name := string(rune('a' + i))
		h := &fakeHost{name: name, value: "0"}
		h.status = apply.Status{State: "idle", Identity: apply.Identity{OS: "linux", Release: "6.12.0", Init: "systemd", MachineID: strings.Repeat(fmt.Sprint(i), 32)}}
		f.hosts[name] = h
		f.task.Hosts = append(f.task.Hosts, Host{fleet.WaveEvent{Name: name, Host: h.status.MachineID, Step: min(i+1, 2), State: fleet.WavePlanned, Digest: p.Digest}, func() (plan.Plan, error) { return p, nil }})
	}
	return f
}

// stand is how the hosts stand by what was noted, and what they are: "a confirmed 1".
func (f *fakes) stand() string {
	var out []string
	for _, e := range fleet.Last(f.noted) {
		out = append(out, fmt.Sprintf("%s %s %s", e.Name, e.State, f.hosts[e.Name].value))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// again is the task of who goes on with what was noted.
func (f *fakes) again() Task {
	last := map[string]fleet.WaveEvent{}
	for _, e := range fleet.Last(f.noted) {
		last[e.Name] = e
	}
	t := f.task
	t.Hosts = slices.Clone(t.Hosts)
	for i := range t.Hosts {
		if e, ok := last[t.Hosts[i].Name]; ok {
			t.Hosts[i].WaveEvent = e
		}
	}
	return t
}

func TestWave(t *testing.T) {
	part := func(text string) fleet.Part {
		p, err := fleet.ParsePart(text)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, c := range []struct {
		name    string
		prepare func(*fakes)
		stopped bool
		want    string
	}{
		{"all well", func(*fakes) {}, false, "a confirmed 1, b confirmed 1, c confirmed 1"},
		{"a check fails in the second step", func(f *fakes) { f.bad["c"] = true; f.task.Soak = time.Millisecond }, true, "a confirmed 1, c reverted 0"},
		{"the canary fails", func(f *fakes) { f.bad["a"] = true }, true, "a reverted 0"},
		{"the canary is dead", func(f *fakes) { f.hosts["a"].dead = true; f.task.Skip = part("50%") }, true, "a skipped 0"},
		{"one of two is dead, and may be", func(f *fakes) { f.hosts["b"].dead = true; f.task.Skip = part("50%") }, false, "a confirmed 1, b skipped 0, c confirmed 1"},
		{"one of two is dead, and may not be", func(f *fakes) { f.hosts["b"].dead = true }, true, "a confirmed 1, b skipped 0, c confirmed 1"},
		{"another machine", func(f *fakes) { f.hosts["b"].status.MachineID = strings.Repeat("9", 32); f.task.Skip = part("1") }, false, "a confirmed 1, b skipped 0, c confirmed 1"},
		{"a live study", func(f *fakes) { f.hosts["b"].status.Live = &apply.LiveStudy{Owner: "x"}; f.task.Skip = part("1") }, false, "a confirmed 1, b skipped 0, c confirmed 1"},
		{"something is pending", func(f *fakes) { f.hosts["b"].status.State = "pending"; f.task.Skip = part("1") }, false, "a confirmed 1, b skipped 0, c confirmed 1"},
		{"changed since the plan was made", func(f *fakes) { f.hosts["b"].value = "7"; f.task.Skip = part("1") }, false, "a confirmed 1, b skipped 7, c confirmed 1"},
		{"not confirmed in time", func(f *fakes) { f.hosts["a"].deaf = true }, true, "a reverted 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFakes(t, 3)
			c.prepare(f)
			err := Run(t.Context(), f.task)
			if errors.Is(err, ErrStopped) != c.stopped || !c.stopped && err != nil {
				t.Errorf("it ended with %v", err)
			}
			got := f.stand()
			if f.bad["c"] { // b was pending or not begun when c failed
				if h := f.hosts["b"]; h.value != "0" || h.status.State != "idle" {
					t.Errorf("b is %+v", h.status)
				}
				got = strings.Replace(got, "b reverted 0, ", "", 1)
			}
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// TestNothingIsChangedUnnoted: what cannot be noted is not begun.
func TestNothingIsChangedUnnoted(t *testing.T) {
	f := newFakes(t, 1)
	f.task.Note = func(context.Context, ...fleet.WaveEvent) error { return errors.New("disk full") }
	if err := Run(t.Context(), f.task); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("it ended with %v", err)
	}
	if h := f.hosts["a"]; h.value != "0" || len(h.status.History) > 0 {
		t.Errorf("the host is %s, %+v", h.value, h.status)
	}
}

// TestGoOn: whatever a controller that died left is settled before the wave goes on.
func TestGoOn(t *testing.T) {
	f := newFakes(t, 3)
	digest := f.task.Hosts[0].Digest
	note := func(name string, s fleet.WaveState, txn string) {
		f.noted = append(f.noted, fleet.WaveEvent{Name: name, Host: f.hosts[name].status.MachineID, Step: min(int(name[0]-'a')+1, 2), State: s, Digest: digest, Transaction: txn})
	}
	// a was confirmed on the host and not noted, b is pending still, c came back by itself.
	note("a", fleet.WavePending, "000001-x")
	f.hosts["a"].status.History, f.hosts["a"].value = []apply.Past{{ID: "000001-x", Outcome: "confirmed", Digest: digest}}, "1"
	note("b", fleet.WaveApplying, "")
	f.hosts["b"].status.State, f.hosts["b"].status.ID, f.hosts["b"].status.Digest, f.hosts["b"].value = "pending", "000001-x", digest, "1"
	note("c", fleet.WavePending, "000001-x")
	f.hosts["c"].status.History = []apply.Past{{ID: "000001-x", Outcome: "reverted", Digest: digest, Why: "nobody confirmed in time"}}
	if err := Run(t.Context(), f.again()); err != nil {
		t.Fatal(err)
	}
	if got := f.stand(); got != "a confirmed 1, b confirmed 1, c confirmed 1" || f.hosts["b"].reverted != 1 || len(f.hosts["a"].status.History) != 1 {
		t.Errorf("%s; b was taken back %d times", got, f.hosts["b"].reverted)
	}
}

// TestRollback: hosts go back but for those that somebody changed since.
func TestRollback(t *testing.T) {
	f := newFakes(t, 4)
	if err := Run(t.Context(), f.task); err != nil {
		t.Fatal(err)
	}
	f.hosts["b"].status.Drift = []apply.Drift{{What: "sysctl x", Now: "2", Confirmed: "1"}}
	f.hosts["c"].status.History = append(f.hosts["c"].status.History, apply.Past{ID: "000002-y", Outcome: "confirmed"})
	f.hosts["d"].dead = true
	if err := Rollback(t.Context(), f.again(), false); err != nil {
		t.Fatal(err)
	}
	if got, want := f.stand(), "a rolled-back 0, b changed-since 1, c changed-since 1, d confirmed 1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	f.hosts["d"].dead = false
	if err := Rollback(t.Context(), f.again(), true); err != nil {
		t.Fatal(err)
	}
	if got, want := f.stand(), "a rolled-back 0, b rolled-back 0, c rolled-back 0, d rolled-back 0"; got != want {
		t.Errorf("forced: %s, want %s", got, want)
	}
}

// TestInterrupted: what is pending goes back at once.
func TestInterrupted(t *testing.T) {
	f := newFakes(t, 2)
	f.task.Soak = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	f.task.Say = func(p Progress) {
		if p.Host.State == fleet.WavePending {
			cancel()
		}
	}
	if err := Run(ctx, f.task); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
	if got := f.stand(); got != "a reverted 0" {
		t.Error(got)
	}
}
