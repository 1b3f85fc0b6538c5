package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"linerate/internal/wait"

	"linerate/internal/hint"
	"linerate/internal/show"
)

// Free refuses a host that somebody or something else has at this moment, or that is
// another machine than the one that the plan was made of; machine is that one's
// identifier, "" where it is not known.
func (st Status) Free(machine string) error {
	switch {
	case machine != "" && st.MachineID != "" && st.MachineID != machine:
		return hint.With(errors.New("another machine answers than the one that the plan was made of"), "make the plan anew: another machine's facts are not its own")
	case st.UID != 0:
		return hint.With(errors.New("changing a host needs root"), "log in as root, or by way of sudo or doas")
	case st.Live != nil:
		return st.Taken()
	case st.State != "idle":
		return hint.With(fmt.Errorf("another apply is %s on this host", show.Clean(st.State)), "linerate status says which; confirm it or roll it back first")
	}
	return st.Switchable()
}

// ErrChangedSince says that a host is not as a plan that was confirmed left it.
var ErrChangedSince = errors.New("changed since")

// Unlike refuses to roll a transaction back over what somebody changed since it was
// confirmed.
func (st Status) Unlike(last Past) error {
	drift := slices.DeleteFunc(slices.Clone(st.Drift), func(d Drift) bool { return d.ID != "" && d.ID != last.ID })
	if len(drift) == 0 {
		return nil
	}
	d := drift[0]
	return fmt.Errorf("%s was %w %s was confirmed: it is %q, was %q (%d such)", show.Clean(d.What), ErrChangedSince, last.ID, show.Clean(d.Now), show.Clean(d.Confirmed), len(drift))
}

// RollBack takes confirmed transactions back, the last first, to before the one whose
// identifier, or its beginning, is to; "" is the last. Where somebody changed a value since
// it refuses with ErrChangedSince, unless force is set. say hears what was done.
func RollBack(ctx context.Context, m Machine, st Status, to string, force bool, say func(string)) error {
	last, ok := st.Current()
	if !ok {
		return hint.With(fmt.Errorf("nothing that was confirmed is in force on %s", m.Where()), "linerate status shows the history")
	}
	to, err := st.inForce(cmp.Or(to, last.ID))
	if err != nil {
		return err
	}
	for {
		if err := st.Unlike(last); err != nil && !force {
			return hint.With(err, "%s restores the state before %s anyway", hint.Option("force", ""), last.ID)
		}
		said, err := m.Rollback(ctx, last.ID)
		if err != nil {
			return err
		}
		say(said)
		if last.ID == to {
			return nil
		}
		if st, err = m.Status(ctx); err != nil {
			return err
		}
		last, _ = st.Current()
	}
}

// inForce completes an id of the history that is confirmed.
func (st Status) inForce(id string) (string, error) {
	var known []string
	for _, p := range st.History {
		if p.Outcome != string(Confirmed) {
			continue
		}
		if p.ID == id || strings.HasPrefix(p.ID, id+"-") {
			return p.ID, nil
		}
		known = append(known, p.ID)
	}
	return "", hint.Unknown("confirmed change", id, known)
}

// Settle cleans up a change that a dead controller left on a host: it reverts a pending
// change and keeps a confirmed one. It returns what became of the change, with the host's
// identifier; Nothing where the host has no record of it. id is "" where the controller
// died before it learned the identifier.
func Settle(ctx context.Context, m Machine, digest, id string) (Past, Outcome, error) {
	for {
		st, err := m.Status(ctx)
		if err != nil {
			return Past{}, Nothing, err
		}
		switch {
		case st.State == "pending" && st.Digest == digest && !st.Busy:
			_ = TakeBack(m, Options{}, st.ID, errors.New("what applied it ended before it was confirmed")) // the next look tells
		case st.State == "confirming" && st.Digest == digest:
			if _, err := m.Confirm(ctx, digest); err != nil {
				return Past{ID: st.ID}, Nothing, err
			}
		case st.State != "idle" && st.Digest == digest:
		default:
			p, outcome := st.became(digest, id)
			return p, outcome, nil
		}
		if err := wait.For(ctx, time.Second); err != nil {
			return Past{ID: st.ID}, Nothing, err
		}
	}
}

// became finds what became of a plan: by the identifier, else the last of its digest.
func (st Status) became(digest, id string) (Past, Outcome) {
	p, ok := st.last(func(p Past) bool { return p.Digest == digest && (id == "" || p.ID == id) })
	if !ok {
		return p, Nothing
	}
	return p, Outcome(p.Outcome)
}
