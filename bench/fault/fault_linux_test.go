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

// allFaults is the environment variable that requests every distinct fault instead of a
// sparse selection: LINERATE_FAULTS=all.
const allFaults = "LINERATE_FAULTS"

// choice returns the options of a test: a sparse selection of faults unless all are
// requested, and at most short of them in a short run.
func choice(seed uint64, short int) Options {
	o := Options{Sparse: os.Getenv(allFaults) != "all", Seed: seed, Workers: 4, Runner: local}
	if testing.Short() {
		o.Faults = short
	}
	return o
}

// TestFaults injects faults into the agent: after recovery, the host is exactly
// as before, or exactly as confirmed. Power cuts have their own tests.
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

// TestBrokenRevert shows that the check can fail: with a broken revert, it
// finds hosts that are in neither the old nor the new state.
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

// TestUnsynced cuts the power at every command of each phase and discards what was not synced:
// the host is in the old or the new state, and its history says when and why. Without the sync
// of these notes, a history that does not is found.
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
