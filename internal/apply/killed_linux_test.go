package apply

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"linerate/internal/plan"
)

// killSwitch ends the switch, and what guards it first.
func killSwitch(t *testing.T, root string) {
	t.Helper()
	for _, name := range []string{"guard", "watcher"} {
		b, err := os.ReadFile(filepath.Join(root, "var/lib/linerate/pending", name))
		pid, bad := strconv.Atoi(strings.TrimSpace(string(b)))
		if err != nil || bad != nil || pid < 2 {
			t.Fatalf("no %s: %q, %v", name, b, err)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSwitchKilled: a switch that somebody killed is started again by the next
// command, and what it would have done is done by the next after its time.
func TestSwitchKilled(t *testing.T) {
	t.Parallel()
	r := newSandbox(t)
	m := On(r.runner())
	ctx := context.Background()
	p := testPlan(t, m)
	for i := range p.Settings[:3] {
		p.Settings[i].Current.Value = text(r.sysctl(t, p.Settings[i].Name))
	}
	p, _ = plan.Seal(p)
	if got, err := Run(ctx, m, p, Options{Within: MinWindow, Chosen: true}); got != Pending || err != nil {
		t.Fatalf("%s, %v", got, err)
	}
	time.Sleep(time.Second) // the guard has written down who it is
	killSwitch(t, r.root)
	st, err := m.Status(ctx)
	if err != nil || st.State != "pending" || !st.Armed {
		t.Errorf("with time left: %+v, %v", st, err)
	}
	time.Sleep(time.Second)
	killSwitch(t, r.root)
	time.Sleep(MinWindow)
	st, err = m.Status(ctx)
	if err != nil || st.State != "idle" || len(st.History) != 1 || st.History[0].Outcome != "reverted" || st.History[0].When == "" {
		t.Errorf("after its time: %+v, %v", st, err)
	}
	if got := r.sysctl(t, "net.ipv4.ip_forward"); got != "0" {
		t.Errorf("the host still forwards: %s", got)
	}
}

// TestGuard: the switch alone killed is back without anybody's asking.
func TestGuard(t *testing.T) {
	t.Parallel()
	r := newSandbox(t)
	m := On(r.runner())
	ctx := context.Background()
	p := testPlan(t, m)
	for i := range p.Settings[:3] {
		p.Settings[i].Current.Value = text(r.sysctl(t, p.Settings[i].Name))
	}
	p, _ = plan.Seal(p)
	if got, err := Run(ctx, m, p, Options{Within: MinWindow, Chosen: true}); got != Pending || err != nil {
		t.Fatalf("%s, %v", got, err)
	}
	b, err := os.ReadFile(filepath.Join(r.root, "var/lib/linerate/pending/watcher"))
	pid, bad := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || bad != nil {
		t.Fatal(err, bad)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for range 300 {
		if history, _ := filepath.Glob(filepath.Join(r.root, "var/lib/linerate/history/*.reverted")); len(history) == 1 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Error("nobody took the change back")
}
