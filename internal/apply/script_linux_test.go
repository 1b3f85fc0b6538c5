package apply

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"linerate/internal/host/localhost"
	"linerate/internal/plan"
)

// scripted is a transaction of a file and scripts.
func scripted(do string) Transaction {
	return Transaction{Plan: plan.Plan{Digest: "sha256:" + strings.Repeat("ab", 32)}, Window: time.Minute, FilesNow: true,
		Files: []plan.File{{Path: "/etc/laid/over.conf", Mode: 0o640, Content: "a line\n"}},
		Do:    do, TakeBack: "rm -f \"$1/../trace\"\n"}
}

// What a script does is taken back with the rest: by revert, and by a do that
// fails half-way.
func TestScriptsAreTakenBack(t *testing.T) {
	r := newSandbox(t)
	m := On(r.runner())
	ctx := context.Background()
	trace := filepath.Join(r.root, "var/lib/linerate/trace")
	id, _, err := m.Apply(ctx, scripted("echo done >\"$1/../trace\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(r.root, "etc/laid/over.conf")); err != nil || string(text) != "a line\n" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := os.Stat(trace); err != nil {
		t.Error(err)
	}
	if _, err := m.Revert(ctx, id, "test"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(r.root, "etc/laid")); err == nil {
		t.Error("the file's directory is still there")
	}
	if _, err := os.Stat(trace); err == nil {
		t.Error("what the script did was not taken back")
	}
	_, _, err = m.Apply(ctx, scripted("echo it cannot be done >&2\nexit 1\n"))
	if err == nil || !strings.Contains(err.Error(), "it cannot be done; the host is as it was") {
		t.Errorf("a script that fails: %v", err)
	}
	if st, err := m.Status(ctx); err != nil || st.State != "idle" {
		t.Errorf("%+v, %v", st, err)
	}
	if _, err := os.Stat(filepath.Join(r.root, "etc/laid")); err == nil {
		t.Error("the file's directory is still there")
	}
}

// Installing comes before the lock, which is the installed agent's own: many at
// once install one agent, and leave nothing of theirs.
func TestInstallingAtOnce(t *testing.T) {
	root := t.TempDir()
	m := &machine{&localhost.Runner{Env: []string{"LINERATE_ROOT=" + root, "LINERATE_INIT=sysv"}}, Agent()}
	var all sync.WaitGroup
	for range 12 {
		all.Go(func() {
			for range 4 {
				if _, err := m.ask(t.Context(), []byte(m.script), "install"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	state := filepath.Join(root, "var/lib/linerate")
	if text, err := os.ReadFile(filepath.Join(state, "agent")); err != nil || string(text) != m.script {
		t.Errorf("%d bytes of %d, %v", len(text), len(m.script), err)
	}
	if left, _ := filepath.Glob(filepath.Join(state, "agent.new*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestNotArmedYet: what somebody is applying at this moment has no switch yet; that
// is not told as one that is gone.
func TestNotArmedYet(t *testing.T) {
	r := newSandbox(t)
	ctx := context.Background()
	arming := filepath.Join(r.root, "arming")
	m := OnWith(r.runner(), Script(`start_watch() { : >"$ROOT/arming"; while [ -e "$ROOT/arming" ]; do sleep 0.02; done; return 1; }`+"\n"))
	ended := make(chan error, 1)
	go func() {
		_, _, err := m.Apply(ctx, scripted("true\n"))
		ended <- err
	}()
	for {
		if _, err := os.Stat(arming); err == nil {
			break
		}
		select {
		case err := <-ended:
			t.Fatalf("it ended before its switch was armed: %v", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	beside := On(&localhost.Runner{Env: []string{"LINERATE_ROOT=" + r.root, "LINERATE_INIT=sysv"}})
	if st, err := beside.Status(ctx); err != nil || st.State != "pending" || st.Armed || !st.Busy {
		t.Errorf("while it is armed: %+v, %v", st, err)
	}
	if err := os.Remove(arming); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "the switch could not be armed; nothing was changed") {
		t.Error(err)
	}
	// Nobody is at work, and nothing watches.
	pending := filepath.Join(r.root, "var/lib/linerate/pending")
	if err := os.Mkdir(pending, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"id.000001-abababababab": "", "journal": "digest sha256:ab\nend\n"} {
		if err := os.WriteFile(filepath.Join(pending, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if st, err := beside.Status(ctx); err != nil || st.State != "pending" || st.Armed || st.Busy {
		t.Errorf("a switch that is gone: %+v, %v", st, err)
	}
}
