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
)

// Treatment is what is compared with the host as it is.
type Treatment struct {
	Name   string
	Values []apply.Assignment
}

// switcher puts treatments on a host and takes them off, by apply's journal: whatever
// becomes of this process, the host takes them back when a window and the grace
// after it are over.
type switcher struct {
	apply.Machine
	host   host.Runner
	os     string
	owner  string // of the host, as the study took it
	window time.Duration
	grace  time.Duration
	// before are the values that the host had when the study began, to which it is
	// reverted.
	before map[knob.Key]string
	keys   []knob.Key
	// on is the transaction under way, past those to forget.
	on   string
	past []string
	// base is what the control's windows have.
	base []apply.Assignment
	// others says that another study has the host, as lost saw last.
	others bool
}

// grace is how long after a window's end the host waits for this process before it
// takes a treatment back itself.
const leastGrace = 10 * time.Second

// begin looks at what the treatments change, and refuses what a host in production
// must not have.
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
	for _, past := range st.History { // of a study that was killed
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

// rooted refuses a host that cannot be changed as this user.
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

// fits refuses a treatment that could not be put back, could cut us off, or changes
// nothing.
func (s *switcher) fits(t Treatment, now apply.Snapshot, management string) error {
	changes := len(s.base) != len(t.Values) && len(s.base) > 0
	usual := map[knob.Key]string{}
	for _, a := range s.base {
		usual[a.Key] = a.Value
	}
	for _, a := range t.Values {
		if !knob.AtRuntime(a.Mechanism) {
			return hint.With(fmt.Errorf("%s %s takes a boot", a.Mechanism, a.Name), "a study by boots of a machine that is out of service can do it: testbed kind ssh, reset reboot")
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

// writing is what a window writes of its treatment's settings.
type writing int

const (
	treated writing = iota // its values
	sham                   // those that the host has, again
	asIs                   // none
)

// set begins a window, always by the same way and with the host's switch armed: what that
// costs the host, it costs in both halves of a pair.
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

// off puts the host back. It handles every transaction once.
func (s *switcher) off(ctx context.Context, why string) error {
	if s.on == "" {
		return nil
	}
	if _, err := s.Revert(ctx, s.on, why); err != nil {
		// A host that had to wait too long for us has done it itself.
		if st, lost := s.Status(ctx); lost != nil || st.State != "idle" {
			return err
		}
	}
	s.past, s.on = append(s.past, s.on), ""
	return nil
}

// lost finds out what became of the treatment after the connection failed: the host may
// have reverted it by itself, or applied it without our seeing the answer. A change that is
// pending for another study, which has the host by now, is not this study's.
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

// changed lists what is not as this study left it.
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

// tookBack tells why the host itself took a transaction off; "" where it did not.
func (s *switcher) tookBack(ctx context.Context, id string) string {
	st, err := s.Status(ctx)
	if err != nil {
		return ""
	}
	for _, past := range st.History {
		if past.ID == id && past.Outcome == string(apply.Reverted) {
			return past.Why
		}
	}
	return ""
}

// end puts the host back and has it forget the study's transactions.
func (s *switcher) end(ctx context.Context) error {
	if err := s.off(ctx, "the study is over"); err != nil {
		return err
	}
	return s.forget(ctx, 0)
}

// mostPast is how many windows a host remembers of a study under way: it tells them all
// whenever it is asked how it is.
const mostPast = 30

// forget has the host forget the study's transactions but the last few, after which the
// next one is numbered.
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
