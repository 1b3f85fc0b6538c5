package fault

import (
	"context"
	"os"
	"testing"

	"linerate/internal/labtest"
)

// TestPowerCuts cuts the power at every command of each phase (or wherever it makes a difference, if all
// faults are requested): the host boots in the old or the new state, including what its boot loader reads.
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
