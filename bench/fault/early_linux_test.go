package fault

import (
	"context"
	"os"
	"testing"

	"linerate/internal/labtest"
)

// TestPowerCuts takes the power away at every command of each phase, or wherever in
// apply, confirm and rollback it makes a difference where all faults are asked for: the host comes up old or new, with what its loader has read as well.
func TestPowerCuts(t *testing.T) {
	if os.Getuid() != 0 {
		labtest.Lacking(t, "needs root: it makes namespaces and a file system")
	}
	o := choice(2, 30)
	o.Kinds = []Kind{Boot}
	got, err := Run(context.Background(), t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range got.Bad {
		t.Error(b)
	}
	if got.Mixed+got.Lost != 0 || got.New == 0 || got.Old == 0 {
		t.Errorf("%+v", got)
	}
	t.Log(got)
}
