package live

import (
	"context"
	"errors"
	"testing"

	"linerate/internal/apply"
	"linerate/internal/host"
)

// releasing is a host that a study has.
type releasing struct{ host.Runner }

func (releasing) Run(context.Context, string, []string, []byte) ([]byte, error) {
	return []byte("held vm:1 5\n"), nil
}

func (releasing) Where() string { return "ssh://www1" }

// ending is a machine that looks as it is listed, look by look, and takes nothing back.
type ending struct {
	apply.Machine
	looks []apply.Status
	asked int
}

func (e *ending) Status(context.Context) (apply.Status, error) {
	st := e.looks[0]
	e.asked++
	if len(e.looks) > 1 {
		e.looks = e.looks[1:]
	}
	return st, nil
}

func (e *ending) Revert(context.Context, string, string) (string, error) {
	return "", errors.New("nothing is pending here any more")
}

// TestStopBesideTheSwitch: a window that ends between a look and the revert is no
// failure; a treatment that stays is.
func TestStopBesideTheSwitch(t *testing.T) {
	t.Parallel()
	idle, window := apply.Status{State: "idle"}, apply.Status{State: "pending", ID: "000007-ab", Digest: apply.OfLiveStudy + "1"}
	if err := Stop(t.Context(), releasing{}, &ending{looks: []apply.Status{window, idle}}); err != nil {
		t.Errorf("the window ended by itself: %v", err)
	}
	if err := Stop(t.Context(), releasing{}, &ending{looks: []apply.Status{window}}); err == nil {
		t.Error("the host is under treatment still, and nobody heard")
	}
}

// TestStopAsksOnce: a host that takes seconds to say how it is is asked as rarely as can be.
func TestStopAsksOnce(t *testing.T) {
	t.Parallel()
	m := &ending{looks: []apply.Status{{State: "idle"}}}
	if err := Stop(t.Context(), releasing{}, m); err != nil || m.asked != 1 {
		t.Errorf("%v after %d questions", err, m.asked)
	}
}
