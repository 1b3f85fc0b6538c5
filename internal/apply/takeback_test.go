package apply

import (
	"context"
	"errors"
	"strings"
	"testing"

	"linerate/internal/hint"
)

// late is a machine whose switch was first: there is nothing to revert.
type late struct {
	Machine
	status Status
}

func (l late) Revert(context.Context, string, string) (string, error) {
	return "", errors.New("nothing is pending here any more")
}

func (l late) Status(context.Context) (Status, error) { return l.status, nil }

// TestTakenBackByTheSwitch: an apply that outlives its own window finds the
// host as it was, and says so.
func TestTakenBackByTheSwitch(t *testing.T) {
	why := errors.New("gateway 192.0.2.1 answered before the change and does not now")
	for _, c := range []struct {
		history  []Past
		want     string
		reverted bool
	}{
		{[]Past{{ID: "0001", Outcome: "confirmed"}, {ID: "0002", Outcome: "reverted", Why: "not confirmed in 20 s"}}, "then not confirmed in 20 s", true},
		{[]Past{{ID: "0002", Outcome: "confirmed"}}, "could not be taken back", false},
		{nil, "could not be taken back", false},
	} {
		err := takeBack(late{status: Status{State: "idle", History: c.history}}, "0002", why)
		if errors.Is(err, ErrReverted) != c.reverted || !errors.Is(err, why) || !strings.Contains(err.Error(), c.want) || (hint.Of(err) == "") != c.reverted {
			t.Errorf("history %v: %v (hint %q)", c.history, err, hint.Of(err))
		}
	}
}
