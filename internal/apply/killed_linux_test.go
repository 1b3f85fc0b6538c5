package apply

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"linerate/internal/labtest"
	"linerate/internal/plan"
)

// process waits until the switch has recorded the pid of a named process.
func process(t *testing.T, root, name string) (pid int) {
	t.Helper()
	if !labtest.Eventually(func() bool {
		b, err := os.ReadFile(filepath.Join(root, "var/lib/linerate/pending", name))
		if err == nil {
			pid, err = strconv.Atoi(strings.TrimSpace(string(b)))
		}
		return err == nil && pid > 1
	}) {
		t.Fatalf("no %s", name)
	}
	return pid
}

// kill kills processes of the switch; one may have exited already.
func kill(t *testing.T, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
	}
}

// killNamed kills the given processes of the switch that exist.
func killNamed(root string, names ...string) {
	for _, name := range names {
		b, _ := os.ReadFile(filepath.Join(root, "var/lib/linerate/pending", name))
		if pid, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil && pid > 1 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// pending returns a sandbox in which a change waits for confirmation.
func pending(t *testing.T) (*sandbox, Machine) {
	t.Helper()
	r := newSandbox(t)
	m := On(r.runner())
	p := testPlan(t, m)
	for i := range p.Settings[:3] {
		p.Settings[i].Current.Value = text(r.sysctl(t, p.Settings[i].Name))
	}
	p, _ = plan.Seal(p)
	if got, err := Run(context.Background(), m, p, Options{Within: MinWindow, Chosen: true}); got != Pending || err != nil {
		t.Fatalf("%s, %v", got, err)
	}
	return r, m
}

// TestSwitchKilled: a killed switch is restarted by the next command; after the deadline the next command
// reverts in its place.
func TestSwitchKilled(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	r, m := pending(t)
	kill(t, process(t, r.root, "guard"), process(t, r.root, "watcher")) // the guard first, because it would restart the watcher
	applied := time.Now()
	st, err := m.Status(context.Background())
	if time.Since(begun) < MinWindow { // a busy machine may have left it none
		if err != nil || st.State != "pending" || !st.Armed || st.NoCron {
			t.Errorf("with time left: %+v, %v", st, err)
		}
		killNamed(r.root, "guard", "watcher")
	}
	time.Sleep(time.Until(applied.Add(MinWindow + time.Second))) // past the deadline
	st, err = m.Status(context.Background())
	if err != nil || st.State != "idle" || len(st.History) != 1 || st.History[0].Outcome != "reverted" || st.History[0].When == "" {
		t.Errorf("after its time: %+v, %v", st, err)
	}
	if got := r.sysctl(t, "net.ipv4.ip_forward"); got != "0" {
		t.Errorf("the host still forwards: %s", got)
	}
}

// TestGuard: if only the switch is killed, the guard restarts it.
func TestGuard(t *testing.T) {
	t.Parallel()
	r, _ := pending(t)
	kill(t, process(t, r.root, "watcher"))
	if !labtest.Eventually(func() bool {
		history, _ := filepath.Glob(filepath.Join(r.root, "var/lib/linerate/history/*.reverted"))
		return len(history) == 1
	}) {
		t.Error("the change was not reverted")
	}
}

// TestCronMends: without a service manager, and with both watchers killed, cron reverts the change, and its
// entry is removed.
func TestCronMends(t *testing.T) {
	t.Parallel()
	r, _ := pending(t)
	applied := time.Now()
	kill(t, process(t, r.root, "guard"), process(t, r.root, "watcher"))
	entry := filepath.Join(r.root, "etc/cron.d/linerate-revert")
	text, err := os.ReadFile(entry)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Until(applied.Add(MinWindow + time.Second)))
	_, command, _ := strings.Cut(strings.TrimSpace(string(text)), " root ")
	cron := exec.Command("/bin/sh", "-c", command)
	cron.Env = append(os.Environ(), "LINERATE_ROOT="+r.root, "LINERATE_INIT=sysv")
	if err := r.run(cron); err != nil {
		t.Fatal(err)
	}
	if got := r.sysctl(t, "net.ipv4.ip_forward"); got != "0" {
		t.Errorf("the host still forwards: %s", got)
	}
	if _, err := os.Stat(entry); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("cron's entry is left: %v", err)
	}
}

// TestStatusTidies: status removes what a finished change left, and keeps the agent of a change that is
// about to begin.
func TestStatusTidies(t *testing.T) {
	t.Parallel()
	r := newSandbox(t)
	m := On(r.runner())
	state := filepath.Join(r.root, "var/lib/linerate")
	left := []string{"agent", "holder", "new/journal"}
	for age, want := range map[time.Duration]bool{0: true, 5 * time.Minute: false} {
		for _, name := range left {
			p := filepath.Join(state, name)
			if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
				t.Fatal(err)
			}
			text := ""
			if name == "agent" {
				text = Agent()
			}
			if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(p, time.Time{}, time.Now().Add(-age)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := m.Status(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, name := range left {
			if _, err := os.Stat(filepath.Join(state, name)); (err == nil) != want {
				t.Errorf("%s of %v ago is there: %v", name, age, err == nil)
			}
		}
	}
}
