package live

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/apply"
	"linerate/internal/host"
	"linerate/internal/host/localhost"
)

// releasing is a host that is in use by a study.
type releasing struct{ host.Runner }

func (releasing) Run(context.Context, string, []string, []byte) ([]byte, error) {
	return []byte("held vm:1 5\n"), nil
}

func (releasing) Where() string { return "ssh://www1" }

// ending is a machine with a list of states, one per look, that reverts nothing.
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

// TestStopBesideTheSwitch: a window that ends between a look and the revert is not an error; a treatment
// that stays applied is.
func TestStopBesideTheSwitch(t *testing.T) {
	t.Parallel()
	idle, window := apply.Status{State: "idle"}, apply.Status{State: "pending", ID: "000007-ab", Digest: apply.OfLiveStudy + "1"}
	if err := Stop(t.Context(), releasing{}, &ending{looks: []apply.Status{window, idle}}); err != nil {
		t.Errorf("the window ended by itself: %v", err)
	}
	if err := Stop(t.Context(), releasing{}, &ending{looks: []apply.Status{window}}); err == nil {
		t.Error("the host is still under treatment, and no error was returned")
	}
}

// TestStopAsksOnce: a host that takes seconds for its status is queried as rarely as possible.
func TestStopAsksOnce(t *testing.T) {
	t.Parallel()
	m := &ending{looks: []apply.Status{{State: "idle"}}}
	if err := Stop(t.Context(), releasing{}, m); err != nil || m.asked != 1 {
		t.Errorf("%v after %d questions", err, m.asked)
	}
}

// TestStopBesideARenewal: a hold that is renewed at the moment of its release is gone.
func TestStopBesideARenewal(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	r := &localhost.Runner{Env: []string{"LINERATE_ROOT=" + root}}
	says := func(meanwhile string, args ...string) string {
		script := "uname() { echo Linux; }\nS=" + root + "/var/lib/linerate\n" + meanwhile + "\n" + hostScript
		out, err := r.Run(t.Context(), script, args, nil)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	taken := func() {
		t.Helper()
		if got := says("", "lock", "study-1", "60", "first", "why"); got != "taken" {
			t.Fatal(got)
		}
	}
	gone := func() {
		t.Helper()
		if left, err := os.ReadDir(filepath.Join(root, "var/lib")); err != nil || len(left) > 0 {
			t.Errorf("left on the host: %v, %v", left, err)
		}
	}
	taken()
	if got := says(`mkdir() { rm -f "$S/live" && command mkdir "$@"; }`, "lock", "study-1", "60", "again", "why"); got != "lost" {
		t.Errorf("released just before the renewal, which printed %q", got)
	}
	gone()
	taken()
	renewed := `sleep() { command mkdir -p "$S" && echo study-%s "$b" $((up + 60)) >"$S/live"; }`
	if got := says(strings.Replace(renewed, "%s", "1", 1), "release"); !strings.HasPrefix(got, "held study-1 ") {
		t.Errorf("release printed %q", got)
	}
	gone()
	taken()
	says(strings.Replace(renewed, "%s", "2", 1), "release")
	if left, err := os.ReadFile(filepath.Join(root, "var/lib/linerate/live")); err != nil || !strings.HasPrefix(string(left), "study-2 ") {
		t.Errorf("the next study gets %q, %v", left, err)
	}
}
