package live

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"linerate/internal/apply"
	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/knob"
	"linerate/internal/list"
)

// Treatment is compared with the host as it is.
type Treatment struct {
	Name   string
	Values []apply.Assignment
}

// switcher applies and reverts treatments on a host, through apply's journal:
// whatever happens to this process, the host reverts them when a window and its grace
// period are over.
type switcher struct {
	apply.Machine
	host   host.Runner
	os     string
	owner  string // of the host's lock
	window time.Duration
	grace  time.Duration
	// before holds the host's values at the start of the study, to which it is
	// restored.
	before map[knob.Key]string
	keys   []knob.Key
	// on is the current transaction; past are earlier ones, to be forgotten.
	on   string
	past []string
	// base is the state of the control's windows.
	base []apply.Assignment
	// others is set if another study has locked the host, as of the last call of lost.
	others bool
}

// leastGrace is how long after a window's end the host waits for this process
// before it reverts a treatment itself.
const leastGrace = 10 * time.Second

// begin reads what the treatments change, and refuses what must not be applied to
// a host in production.
func (s *switcher) begin(ctx context.Context, treatments []Treatment) error {
	st, err := s.Status(ctx)
	if err != nil {
		return err
	}
	if st.State != "idle" && strings.HasPrefix(st.Digest, apply.OfLiveStudy) {
		return hint.With(fmt.Errorf("%s is still in a window of a live study that was killed or lost it; it puts itself back within %s", s.Where(), time.Duration(max(1, st.Left))*time.Second),
			"wait for that, or have it put back now: linerate study stop")
	}
	if st.State != "idle" {
		return hint.With(fmt.Errorf("a change is pending on %s: %s", s.Where(), st.ID), "confirm it or roll it back first")
	}
	for _, past := range st.History { // left by a study that was killed
		if past.Outcome == string(apply.Reverted) && past.OfLiveStudy() {
			s.past = append(s.past, past.ID)
		}
	}
	s.os = st.OS
	all := slices.Clone(s.base)
	for _, t := range treatments {
		all = append(all, t.Values...)
	}
	s.keys = apply.KeysOf(all)
	now, err := s.Look(ctx, s.keys, nil)
	if err != nil {
		return err
	}
	s.before = now.Values
	for _, t := range treatments {
		if err := s.fits(t, now, st.Management); err != nil {
			return err
		}
	}
	return nil
}

// rooted refuses a host that this user cannot change.
func (s *switcher) rooted(ctx context.Context) error {
	id, err := s.Hello(ctx)
	if err == nil && id.UID != 0 {
		return hint.With(fmt.Errorf("changing %s needs root", s.Where()), "run it with sudo or doas; over SSH: %s", hint.Option("become", "sudo"))
	}
	if err == nil {
		err = id.Switchable()
	}
	return err
}

// fits refuses a treatment that could not be reverted, could cut the connection, or
// changes nothing.
func (s *switcher) fits(t Treatment, now apply.Snapshot, management string) error {
	changes := len(s.base) != len(t.Values) && len(s.base) > 0
	usual := map[knob.Key]string{}
	for _, a := range s.base {
		usual[a.Key] = a.Value
	}
	for _, a := range t.Values {
		if !knob.AtRuntime(a.Mechanism) {
			return hint.With(fmt.Errorf("%s %s takes effect at the next boot only", a.Mechanism, a.Name), "a study by boots of a machine that is out of service can do it: testbed kind ssh, reset reboot")
		}
		if why := knob.Cuts(a.Key, a.Value, management); why != "" {
			return hint.With(fmt.Errorf("%s = %s %s, and may cut this host off", a.Name, a.Value, why), "study it on a testbed that is out of service")
		}
		if why := knob.Starves(a.Key, a.Value, now.Values[a.Key]); why != "" {
			return hint.With(fmt.Errorf("%s = %s: %s", a.Name, a.Value, why), "study it on a testbed that is out of service")
		}
		value, there := usual[a.Key]
		if !there {
			value, there = now.Values[a.Key]
		}
		changes = changes || !there || !knob.Same(a.Key, a.Value, value)
	}
	if _, err := apply.Assemble(s.wanted(t, t.Values), now); err != nil {
		var no *apply.Impossible
		if errors.As(err, &no) {
			return hint.With(err, "a live study changes only what can be restored exactly")
		}
		return err
	}
	if !changes {
		return hint.With(fmt.Errorf("%s has %s already", s.Where(), t.Name), "there is nothing to compare; name another value")
	}
	return nil
}

func (s *switcher) wanted(t Treatment, values []apply.Assignment) apply.Wanted {
	sum := sha256.Sum256([]byte(t.Name))
	return apply.Wanted{OS: s.os, Digest: apply.OfLiveStudy + hex.EncodeToString(sum[:]), Values: values, Study: s.owner, Window: s.window + s.grace}
}

// writing is what a window writes for its treatment's settings.
type writing int

const (
	treated writing = iota // the treatment's values
	sham                   // the host's present values, again
	asIs                   // nothing
)

// set begins a window, always in the same way and with the host's revert timer armed, so
// that both halves of a pair bear the same cost.
func (s *switcher) set(ctx context.Context, t Treatment, how writing) error {
	now, err := s.Look(ctx, apply.KeysOf(t.Values), nil)
	if err != nil {
		return err
	}
	values := t.Values
	if how != treated {
		values = nil
	}
	for _, a := range t.Values {
		if v, ok := now.Values[a.Key]; ok && how == sham {
			values = append(values, apply.Assignment{Key: a.Key, Value: v})
		}
	}
	wanted := s.wanted(t, values)
	if wanted.WriteAll = how == sham; how == asIs {
		wanted.Digest = apply.AsIs
	}
	transaction, err := apply.Assemble(wanted, now)
	if err != nil {
		return err
	}
	id, after, err := s.Apply(ctx, transaction)
	if err != nil {
		return err
	}
	s.on = id
	return transaction.Judge(after)
}

// off restores the host. It handles every transaction once.
func (s *switcher) off(ctx context.Context, why string) error {
	if s.on == "" {
		return nil
	}
	if _, err := s.Revert(ctx, s.on, why); err != nil {
		// A host that waited too long for this process has reverted it itself.
		if st, lost := s.Status(ctx); lost != nil || st.State != "idle" {
			return err
		}
	}
	s.past, s.on = append(s.past, s.on), ""
	return nil
}

// lost finds out what happened to the treatment after the connection failed: the host may
// have reverted it, or applied it although the answer was lost. A pending change of another
// study, which has locked the host meanwhile, is not this study's.
func (s *switcher) lost(ctx context.Context) error {
	st, err := s.Status(ctx)
	if err != nil {
		return err
	}
	s.others = st.Live != nil && st.Live.Owner != s.owner
	if st.State != "idle" && s.on == "" && !s.others && strings.HasPrefix(st.Digest, apply.OfLiveStudy) {
		s.on = st.ID
	}
	if st.State == "idle" && s.on != "" {
		s.past, s.on = append(s.past, s.on), ""
	}
	return nil
}

// changed lists the values that differ from what this study left.
func (s *switcher) changed(ctx context.Context, on []apply.Assignment) ([]string, error) {
	now, err := s.Look(ctx, s.keys, nil)
	if err != nil {
		return nil, err
	}
	want := map[knob.Key]string{}
	for _, a := range on {
		want[a.Key] = a.Value
	}
	var out []string
	for k, before := range s.before {
		is, there := now.Values[k]
		should, set := want[k]
		switch {
		case !there:
			out = append(out, k.Name+" is gone")
		case set && !knob.Same(k, should, is), !set && len(on) == 0 && is != before:
			out = append(out, fmt.Sprintf("%s is %s", k.Name, is))
		}
	}
	slices.Sort(out)
	return out, nil
}

// tookBack returns why the host itself reverted a transaction; "" if it did not.
func (s *switcher) tookBack(ctx context.Context, id string) string {
	st, err := s.Status(ctx)
	if err != nil {
		return ""
	}
	past, _ := list.Find(st.History, func(p apply.Past) bool { return p.ID == id && p.Outcome == string(apply.Reverted) })
	return past.Why
}

// end restores the host and makes it forget the study's transactions.
func (s *switcher) end(ctx context.Context) error {
	if err := s.off(ctx, "the study is over"); err != nil {
		return err
	}
	return s.forget(ctx, 0)
}

// mostPast is how many windows of a running study the host remembers: it reports them
// all with its status.
const mostPast = 30

// forget makes the host forget all but the last few transactions of the study; the next
// number follows the last one.
func (s *switcher) forget(ctx context.Context, keep int) error {
	n := len(s.past) - keep
	if n <= 0 {
		return nil
	}
	if _, err := s.host.Run(ctx, hostScript, append([]string{"forget"}, s.past[:n]...), nil); err != nil {
		return err
	}
	s.past = slices.Clone(s.past[n:])
	return nil
}
