package live

import (
	"context"
	_ "embed" // host.sh
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"linerate/internal/apply"
	"linerate/internal/apply/record"
	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/show"
)

//go:embed host.sh
var locking string

var hostScript = record.BootScript + locking

// ErrStopped ends a study that has lost its host: to linerate study stop, or to another
// study while this one slept past its lock's expiry.
var ErrStopped = errors.New("the study was stopped: it no longer holds the host")

// lock locks the host for this study for a limited time, and renews the lock before
// it expires: only one live study may run on a host.
func (r *run) lock(ctx context.Context, hold time.Duration) error {
	how := "first"
	if !r.held.IsZero() {
		how = "again"
	}
	out, err := r.o.Conn.Run(ctx, hostScript, []string{"lock", r.owner, strconv.Itoa(int(hold.Seconds()) + 1), how, r.o.About}, nil)
	if err != nil {
		return fmt.Errorf("take %s for the study: %w", r.o.Conn.Where(), err)
	}
	head, about, _ := strings.Cut(string(out), "\n")
	f := strings.Fields(head)
	if how == "again" && (len(f) == 1 && f[0] == "lost" || len(f) == 3 && f[0] == "held") {
		return r.lost(time.Now())
	}
	if len(f) == 3 && f[0] == "held" {
		return heldBy(r.o.Conn.Where(), f[1], f[2], about)
	}
	if len(f) != 1 || f[0] != "taken" {
		return fmt.Errorf("take %s for the study: it says %.80q", r.o.Conn.Where(), out)
	}
	return nil
}

// lost returns ErrStopped, with advice if nobody took the host but the lock expired: a host
// that takes longer to switch than its windows last does not renew in time.
func (r *run) lost(now time.Time) error {
	over := now.Round(0).Sub(r.held)
	if over < 0 {
		return ErrStopped
	}
	return hint.With(fmt.Errorf("%w: the study's hold on %s ran out %s ago and was not renewed", ErrStopped, r.o.Conn.Where(), over.Round(time.Second)),
		"the host or the way to it is slower than windows of %s allow, or this machine slept: give it longer ones: %s", show.Brief(r.o.Plan.Window), hint.Option("window", show.Brief(2*r.o.Plan.Window)))
}

// heldBy returns the error for a host that another study has locked.
func heldBy(where, owner, left, about string) error {
	err := fmt.Errorf("another live study uses %s (%s; its hold ends in %s s unless renewed)", where, owner, left)
	if about = strings.TrimSpace(show.Clean(about)); about != "" {
		err = fmt.Errorf("%w: %s", err, about)
	}
	return hint.With(err, "one study a host at a time: wait for it, or end it: linerate study stop")
}

// Check reports whether a study may begin: whether this user may change the host, no
// other study has locked it, and the treatments are applicable. Check changes nothing.
func Check(ctx context.Context, o Options) error {
	r, err := o.prepare()
	if err != nil {
		return err
	}
	if err := r.sw.rooted(ctx); err != nil {
		return err
	}
	st, err := o.Machine.Status(ctx)
	if err != nil {
		return err
	}
	if l := st.Live; l != nil {
		return heldBy(o.Conn.Where(), l.Owner, strconv.Itoa(l.Left), l.About)
	}
	return r.sw.begin(ctx, o.Treatments)
}

func (r *run) unlock(ctx context.Context) error {
	_, err := r.o.Conn.Run(ctx, hostScript, []string{"unlock", r.owner}, nil)
	return err
}

// Stop ends the live study of a host, from wherever it is run. It takes the lock from
// the study, which then begins no further window and ends at its next look, and it
// restores the host.
func Stop(ctx context.Context, conn host.Runner, m apply.Machine) error {
	out, err := conn.Run(ctx, hostScript, []string{"release"}, nil)
	if err != nil {
		return fmt.Errorf("end the study of %s: %w", conn.Where(), err)
	}
	st, err := m.Status(ctx)
	if err != nil {
		return err
	}
	if st.State != "idle" && strings.HasPrefix(st.Digest, apply.OfLiveStudy) {
		if _, err := m.Revert(ctx, st.ID, "the study was stopped"); err != nil && stillPending(ctx, m, st.ID) {
			return err
		}
		return nil
	}
	if !strings.HasPrefix(string(out), "held ") {
		return hint.With(fmt.Errorf("no live study uses %s", conn.Where()), "linerate status shows what is pending on a host")
	}
	return nil
}

// stillPending reports whether the treatment is still in force. Its window may have ended,
// or the host's own timer may have reverted it, since the last look.
func stillPending(ctx context.Context, m apply.Machine, id string) bool {
	st, err := m.Status(ctx)
	return err != nil || st.State != "idle" && st.ID == id
}
