package fault

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestOne injects the single fault that LINERATE_FAULT specifies: "apply kill 17".
func TestOne(t *testing.T) {
	words := strings.Fields(os.Getenv("LINERATE_FAULT"))
	if len(words) != 3 {
		t.Skip(`set LINERATE_FAULT="apply kill 17" to look at one fault`)
	}
	sandbox, err := NewSandbox(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer sandbox.Close()
	l := newLab(sandbox, Options{Runner: local})
	ctx := context.Background()
	if err := l.calibrate(ctx); err != nil {
		t.Fatal(err)
	}
	at, _ := strconv.Atoi(words[2])
	a := attack{Phase(words[0]), Kind(words[1]), at}
	if err := l.sandbox.load(l.from[a.phase]); err != nil {
		t.Fatal(err)
	}
	if err := l.scratch(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %v", a.phase, l.perform(ctx, l.machine(a.kind, a.at), a.phase))
	st, err := l.machine("", 0).Status(ctx)
	t.Logf("status: %+v, %v", st, err)
	state, _ := l.sandbox.state()
	t.Logf("against old: %s", differs(state, l.old))
	t.Logf("recover: %v", l.recover(ctx, a, l.machine("", 0)))
	if err := l.judge(a, ""); err != nil {
		t.Error(err)
	}
	t.Logf("%+v", l.result)
}
