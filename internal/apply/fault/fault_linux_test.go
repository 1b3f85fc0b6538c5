package fault

import (
	"context"
	"os"
	"testing"

	"linerate/internal/host"
	"linerate/internal/host/localhost"
	"linerate/internal/labtest"
)

func local(r *Sandbox, env []string) host.Runner {
	return &localhost.Runner{Env: env, Start: r.Start}
}

// TestFaults strikes at the agent: after recovery the host is exactly as it
// was, or exactly as it was confirmed.
func TestFaults(t *testing.T) {
	if os.Getuid() != 0 {
		labtest.Lacking(t, "needs root: it makes namespaces and a file system")
	}
	faults := 504
	if testing.Short() {
		faults = 40
	}
	got, err := Run(context.Background(), t.TempDir(), Options{Faults: faults, Seed: 1, Workers: 4, Runner: local})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range got.Bad {
		t.Error(b)
	}
	if got.Mixed+got.Lost != 0 || got.Old+got.New != faults || got.New == 0 || got.Old == 0 {
		t.Errorf("%+v", got)
	}
	t.Logf("%+v", got)
}

// TestBrokenRevert: the check can fail. With the revert sabotaged it finds
// hosts that are neither old nor new.
func TestBrokenRevert(t *testing.T) {
	if os.Getuid() != 0 {
		labtest.Lacking(t, "needs root: it makes namespaces and a file system")
	}
	got, err := Run(context.Background(), t.TempDir(), Options{Faults: 12, Seed: 1, Workers: 2, BreakRevert: true, Runner: local})
	if err != nil {
		t.Fatal(err)
	}
	if got.Mixed == 0 || len(got.Bad) == 0 {
		t.Errorf("a sabotaged revert went unnoticed: %+v", got)
	}
}
