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

// Free returns an error if the host is in use, or is not the machine that the plan was made for;
// machine is the identifier of that one, "" if unknown.
func (st Status) Free(machine string) error {
	switch {
	case machine != "" && st.MachineID != "" && st.MachineID != machine:
		return hint.With(errors.New("another machine answers than the one that the plan was made for"), "make the plan again: it was made from another machine's facts")
	case st.UID != 0:
		return hint.With(errors.New("changing a host needs root"), "log in as root, or by way of sudo or doas")
	case st.Live != nil:
		return st.Taken()
	case st.State != "idle":
		return hint.With(fmt.Errorf("another apply is %s on this host", show.Clean(st.State)), "linerate status says which; confirm it or roll it back first")
	}
	return st.Switchable()
}

// ErrChangedSince means that the host differs from the state that a confirmed plan left.
var ErrChangedSince = errors.New("changed since")

// Unlike refuses to roll back a transaction if something was changed since it was confirmed.
func (st Status) Unlike(last Past) error {
	drift := slices.DeleteFunc(slices.Clone(st.Drift), func(d Drift) bool { return d.ID != "" && d.ID != last.ID })
	if len(drift) == 0 {
		return nil
	}
	d := drift[0]
	return fmt.Errorf("%s was %w %s was confirmed: it is %q, was %q (%d such)", show.Clean(d.What), ErrChangedSince, last.ID, show.Clean(d.Now), show.Clean(d.Confirmed), len(drift))
}

// RollBack rolls back confirmed transactions, last first, down to and including the one whose ID
// begins with to; "" means only the last. If a value was changed since, it returns ErrChangedSince,
// unless force is set. say receives messages on progress.
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

// inForce completes the ID of a confirmed transaction in the history.
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

// Settle cleans up a change that a dead controller left on a host: it reverts a pending change and
// keeps a confirmed one. It returns the outcome with the host's ID of the change; Nothing if the
// host has no record of it. id is "" if the controller died before it learned the ID.
func Settle(ctx context.Context, m Machine, digest, id string) (Past, Outcome, error) {
	for {
		st, err := m.Status(ctx)
		if err != nil {
			return Past{}, Nothing, err
		}
		switch {
		case st.State == "pending" && st.Digest == digest && !st.Busy:
			_ = TakeBack(m, Options{}, st.ID, errors.New("what applied it ended before it was confirmed")) // the next iteration sees the result
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

// became returns the outcome of a plan: by ID, else the last one with its digest.
func (st Status) became(digest, id string) (Past, Outcome) {
	p, ok := st.last(func(p Past) bool { return p.Digest == digest && (id == "" || p.ID == id) })
	if !ok {
		return p, Nothing
	}
	return p, Outcome(p.Outcome)
}
