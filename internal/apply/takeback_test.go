package apply

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"linerate/internal/hint"
	"linerate/internal/plan"
)

// late is a machine whose switch was faster: there is nothing left to revert.
type late struct {
	Machine
	status Status
}

func (l late) Revert(context.Context, string, string) (string, error) {
	return "", errors.New("nothing is pending here any more")
}

func (l late) Where() string { return "ssh://fw1" }

func (l late) Status(context.Context) (Status, error) { return l.status, nil }

// TestTakenBackByTheSwitch: an apply that takes longer than its window finds the host reverted, and says so.
func TestTakenBackByTheSwitch(t *testing.T) {
	why := errors.New("gateway 192.0.2.1 answered before the change and does not now")
	for _, c := range []struct {
		history  []Past
		want     string
		reverted bool
	}{
		{[]Past{{ID: "0001", Outcome: "confirmed"}, {ID: "0002", Outcome: "reverted", Why: "not confirmed in 20 s"}}, "then not confirmed in 20 s", true},
		{[]Past{{ID: "0002", Outcome: "confirmed"}}, "could not be reverted", false},
		{nil, "could not be reverted", false},
	} {
		err := TakeBack(late{status: Status{State: "idle", History: c.history}}, Options{}, "0002", why)
		if errors.Is(err, ErrReverted) != c.reverted || !errors.Is(err, why) || !strings.Contains(err.Error(), c.want) || strings.Contains(hint.Of(err), "; linerate status ssh://fw1 shows") == c.reverted {
			t.Errorf("history %v: %v (hint %q)", c.history, err, hint.Of(err))
		}
	}
}

// willing reverts on request, and records the reason.
type willing struct {
	Machine
	why string
}

func (w *willing) Revert(_ context.Context, _, why string) (string, error) {
	w.why = why
	return "", nil
}

// TestInterrupted: interrupting an apply reports what happened to the host, to the user and in its history.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	m := &willing{}
	outcome, err := await(ctx, m, "0002", Options{})
	if outcome != Reverted || !errors.Is(err, ErrReverted) || hint.LeftOf(err) == nil || err.Error() != "interrupted before anybody confirmed it; the host is as it was" {
		t.Errorf("%s, %v", outcome, err)
	}
	if m.why != "taken back: interrupted before anybody confirmed it" {
		t.Errorf("the history says %q", m.why)
	}
}

// TestReasonOfTheChangeBefore: an earlier change by the same plan is not mistaken for this one.
func TestReasonOfTheChangeBefore(t *testing.T) {
	lost := errors.New("the connection was lost")
	tr := Transaction{}
	tr.Plan.Digest = "sha256:1"
	m := late{status: Status{State: "idle", History: []Past{{ID: "0001", Outcome: "reverted", Digest: "sha256:1", Why: "rolled back"}}}}
	for newest, want := range map[string]string{"0001": "the connection was lost; nothing was changed", "": "the connection was lost; then rolled back; the host is as it was"} {
		if err := outOfTouch(m, tr, Options{Say: func(string, ...any) {}}, newest, lost); err == nil || err.Error() != want {
			t.Errorf("after %q: %v, want %s", newest, err, want)
		}
	}
}

// TestHarmsAreRefused: a plan that makes something worse on the host is refused before the host is examined
// further, unless the user chose how long to try it.
func TestHarmsAreRefused(t *testing.T) {
	for _, c := range []struct {
		harms   []string
		err     error
		chosen  bool
		refused bool
		says    string
	}{
		{nil, nil, false, false, ""},
		{[]string{"the host would no longer forward IPv4"}, nil, false, true, ""},
		{[]string{"the host would no longer forward IPv4"}, nil, true, false, "no longer forward IPv4"},
		{nil, errors.New("no shell"), false, false, "was not judged: no shell"},
	} {
		said := ""
		err := sound(context.Background(), plan.Plan{}, Options{Chosen: c.chosen,
			Harms: func(context.Context, plan.Plan) ([]string, error) { return c.harms, c.err },
			Say:   func(format string, a ...any) { said += fmt.Sprintf(format, a...) }})
		if (err != nil) != c.refused || !strings.Contains(said, c.says) || c.refused && (!strings.Contains(err.Error(), c.harms[0]) || !strings.Contains(hint.Of(err), "confirm-within")) {
			t.Errorf("%+v: %v (hint %q), says %q", c, err, hint.Of(err), said)
		}
	}
}
