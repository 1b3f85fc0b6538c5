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

// scripted returns a transaction with a file and scripts.
func scripted(do string) Transaction {
	return Transaction{Plan: plan.Plan{Digest: "sha256:" + strings.Repeat("ab", 32)}, Window: time.Minute, FilesNow: true,
		Files: []plan.File{{Path: "/etc/laid/over.conf", Mode: 0o640, Content: "a line\n"}},
		Do:    do, TakeBack: "rm -f \"$1/../trace\"\n"}
}

// TestScriptsAreTakenBack: what a script does is reverted with the rest: by revert, and after a do script
// that fails half-way.
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
		t.Error("the file's directory still exists")
	}
	if _, err := os.Stat(trace); err == nil {
		t.Error("the script's change was not reverted")
	}
	_, _, err = m.Apply(ctx, scripted("echo it cannot be done >&2\nexit 1\n"))
	if err == nil || !strings.Contains(err.Error(), "it cannot be done; the host is as it was") {
		t.Errorf("a script that fails: %v", err)
	}
	if st, err := m.Status(ctx); err != nil || st.State != "idle" {
		t.Errorf("%+v, %v", st, err)
	}
	if _, err := os.Stat(filepath.Join(r.root, "etc/laid")); err == nil {
		t.Error("the file's directory still exists")
	}
}

// TestInstallingAtOnce: installing happens before the lock, which is part of the installed agent: many
// concurrent installations result in one agent, and leave no temporary files.
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

// TestNotArmedYet: while a change is being applied its switch does not exist yet, which is not reported as
// a lost switch.
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
	// No apply is running, and no switch watches.
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
		t.Errorf("a lost switch: %+v, %v", st, err)
	}
}
