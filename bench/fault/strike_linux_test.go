package fault

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"linerate/internal/apply"
	"linerate/internal/plan"
)

// perform runs a phase as the command would.
func (l *lab) perform(ctx context.Context, m apply.Machine, phase Phase) error {
	switch phase {
	case Applying:
		_, after, err := m.Apply(ctx, l.transaction)
		if err != nil {
			return err
		}
		if err := l.transaction.Judge(after); err != nil {
			_, revert := m.Revert(ctx, "any", "read back otherwise")
			return errors.Join(err, revert)
		}
		return m.Ready(ctx)
	case Confirming:
		_, err := m.Confirm(ctx, l.digest)
		return err
	case RollingBack:
		_, err := m.Rollback(ctx, "000001-"+plan.Plan{Digest: l.digest}.Short())
		return err
	}
	_, err := m.Revert(ctx, "any", "struck")
	return err
}

// strike runs a phase with a fault from the state before it, recovers as a
// host would, and judges the result.
func (l *lab) strike(ctx context.Context, a attack) error {
	// A transaction has the same ID each time, so a switch left from the last
	// strike would take this one for its own.
	if err := l.sandbox.endAll(); err != nil {
		return err
	}
	if err := errors.Join(l.sandbox.load(l.from[a.phase]), l.scratch()); err != nil {
		return err
	}
	if a.kind == Unsynced {
		if err := l.sandbox.allSynced(); err != nil {
			return err
		}
	}
	well := l.machine("", 0)
	// Only the state left matters, not whether it fails.
	l.said = l.perform(ctx, l.machine(a.kind, a.at), a.phase)
	unarmed, err := l.unarmed(a)
	if err != nil {
		return err
	}
	if err := l.recover(ctx, a, well); err != nil {
		return err
	}
	return l.judge(a, unarmed)
}

// unarmed returns a problem if the host is changed and unconfirmed without an armed switch.
func (l *lab) unarmed(a attack) (string, error) {
	if a.phase != Applying {
		return "", nil
	}
	// Read this first: a switch that fires meanwhile restores the old state.
	st, err := l.sandbox.standing()
	if err != nil || st.armed {
		return "", err
	}
	state, err := l.sandbox.state()
	if err != nil {
		return "", err
	}
	for _, s := range sysctls {
		if k := "sysctl " + s.name; state[k] != l.old[k] {
			return fmt.Sprintf("%s is changed without a switch, when %+v", s.name, st), nil
		}
	}
	return "", nil
}

// recover simulates what happens after a fault: the switch fires, in the state
// that the fault left and again once that is repaired, or the host boots.
func (l *lab) recover(ctx context.Context, a attack, well apply.Machine) error {
	_ = os.Remove(filepath.Join(l.sandbox.Dir, "lie"))
	if a.kind == Second {
		l.secondDone()
	}
	if a.boots() {
		if err := l.sandbox.boot(); err != nil {
			return err
		}
	}
	_, fired := well.Revert(ctx, "any", "its switch fired")
	if a.kind == Full || a.kind == ReadOnly {
		if err := l.sandbox.writable(); err != nil {
			return err
		}
	} else if fired == nil {
		return nil
	}
	for range 600 { // ending the interrupted processes takes time on a busy machine
		if _, err := well.Revert(ctx, "any", "its switch fired again"); err == nil || strings.Contains(err.Error(), "nothing is pending") {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return nil
}

// secondDone waits for the second apply, which waits for its turn.
func (l *lab) secondDone() {
	if !exists(filepath.Join(l.sandbox.Dir, "struck")) {
		return
	}
	for range 2400 {
		if exists(filepath.Join(l.sandbox.Dir, "second-done")) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// judge compares the host with its permitted states.
func (l *lab) judge(a attack, unarmed string) error {
	l.result.Faults++
	l.result.Kinds[a.kind]++
	state, err := l.sandbox.state()
	if err != nil {
		return err
	}
	st, err := l.sandbox.standing()
	if err != nil {
		return err
	}
	confirmed := st.confirmed == l.digest
	wrongOld := differs(state, l.old)
	// A new host that was not booted still runs with what it read before; its
	// next boot reads the rest.
	if !a.boots() {
		state[readEarly] = l.new[readEarly]
	}
	wrongNew := differs(state, l.new)
	bad, untold := "", ""
	if a.kind == Unsynced {
		if untold, err = l.sandbox.untold(); err != nil {
			return err
		}
	}
	switch {
	case untold != "":
		l.result.Lost++
		bad = untold
	case st.state != "":
		l.result.Mixed++
		bad = "still " + st.state
	case unarmed != "":
		l.result.Mixed++
		bad = unarmed
	case wrongNew == "" && confirmed:
		l.result.New++
	case wrongOld == "" && !confirmed:
		l.result.Old++
	case lost(state, l.old):
		l.result.Lost++
		bad = "lost: " + wrongOld
	default:
		l.result.Mixed++
		bad = fmt.Sprintf("confirmed %v: against old: %s; against new: %s", confirmed, wrongOld, wrongNew)
	}
	if bad != "" && len(l.result.Bad) < maxBad {
		struck, _ := os.ReadFile(filepath.Join(l.sandbox.Dir, "struck"))
		l.result.Bad = append(l.result.Bad, fmt.Sprintf("%s at step %d (%s) of %s: %s", a.kind, a.at, strings.TrimSpace(string(struck)), a.phase, bad)+fmt.Sprintf(" (it said: %v)", l.said))
	}
	return nil
}

// differs describes the first differences between two states; "" if there are none.
func differs(a, b map[string]string) string {
	var out []string
	all := maps.Clone(a)
	maps.Copy(all, b)
	for k := range all {
		if a[k] != b[k] {
			out = append(out, fmt.Sprintf("%s is %.60s, want %.60s", k, a[k], b[k]))
		}
	}
	if len(out) > 3 {
		out = append(out[:3], fmt.Sprintf("and %d more", len(out)-3))
	}
	return strings.Join(out, "; ")
}

// lost reports whether an existing file is gone.
func lost(state, old map[string]string) bool {
	for k := range old {
		if _, there := state[k]; strings.HasPrefix(k, "file ") && !there {
			return true
		}
	}
	return false
}
