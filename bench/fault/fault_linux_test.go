package fault

import (
	"context"
	"os"
	"slices"
	"testing"

	"linerate/internal/host"
	"linerate/internal/host/localhost"
	"linerate/internal/labtest"
)

func local(r *Sandbox, env []string) host.Runner {
	return &localhost.Runner{Env: env, Start: r.Start}
}

// allFaults is the environment variable that asks for every fault that differs, not for
// a sparse choice: LINERATE_FAULTS=all.
const allFaults = "LINERATE_FAULTS"

// choice is how a test strikes: sparsely, unless all faults are asked for, and no more
// often than that in a short run.
func choice(seed uint64, short int) Options {
	o := Options{Sparse: os.Getenv(allFaults) != "all", Seed: seed, Workers: 4, Runner: local}
	if testing.Short() {
		o.Faults = short
	}
	return o
}

// TestFaults strikes at the agent: after recovery the host is exactly as it
// was, or exactly as it was confirmed. Power cuts have tests of their own.
func TestFaults(t *testing.T) {
	if os.Getuid() != 0 {
		labtest.Lacking(t, "needs root: it makes namespaces and a file system")
	}
	kinds := slices.DeleteFunc(Kinds(), func(k Kind) bool { return attack{kind: k}.boots() })
	o := choice(1, 40)
	o.Kinds = kinds
	got, err := Run(context.Background(), t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range got.Bad {
		t.Error(b)
	}
	if got.Mixed+got.Lost != 0 || got.Old+got.New != got.Faults || got.New == 0 || got.Old == 0 || (o.Faults == 0 && len(got.Kinds) != len(kinds)) {
		t.Errorf("%+v", got)
	}
	t.Log(got)
}

// TestBrokenRevert: the check can fail. With the revert sabotaged it finds
// hosts that are neither old nor new.
func TestBrokenRevert(t *testing.T) {
	if os.Getuid() != 0 {
		labtest.Lacking(t, "needs root: it makes namespaces and a file system")
	}
	got, err := Run(context.Background(), t.TempDir(), Options{Faults: 12, Seed: 1, Workers: 2, Sabotage: BreakRevert, Runner: local})
	if err != nil {
		t.Fatal(err)
	}
	if got.Mixed == 0 || len(got.Bad) == 0 {
		t.Errorf("a sabotaged revert went unnoticed: %+v", got)
	}
}

// TestUnsynced cuts the power at every command of each phase and loses what was not synced: the
// host is old or new, and its history says when and why. With the sync of these
// notes taken out it finds one that does not.
func TestUnsynced(t *testing.T) {
	if os.Getuid() != 0 {
		labtest.Lacking(t, "needs root: it makes namespaces and a file system")
	}
	o := choice(3, 24)
	o.Kinds = []Kind{Unsynced}
	got, err := Run(context.Background(), t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range got.Bad {
		t.Error(b)
	}
	if got.Mixed+got.Lost != 0 || got.Old+got.New != got.Faults || got.New == 0 || got.Old == 0 {
		t.Errorf("%+v", got)
	}
	o.Sabotage, o.Faults = BreakSync, 24
	if got, err = Run(context.Background(), t.TempDir(), o); err != nil || got.Lost == 0 || got.Mixed != 0 {
		t.Errorf("notes that are not synced went unnoticed: %+v, %v", got, err)
	}
}
