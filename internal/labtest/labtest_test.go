package labtest

import (
	"flag"
	"runtime"
	"strconv"
	"testing"
)

// TestSideBySide: more tests run at once than there are CPUs.
func TestSideBySide(t *testing.T) {
	f := flag.Lookup("test.parallel")
	was := f.Value.String()
	t.Cleanup(func() { _ = flag.Set(f.Name, was) })
	SideBySide()
	if n, err := strconv.Atoi(f.Value.String()); err != nil || n <= runtime.GOMAXPROCS(0) {
		t.Errorf("%d at once, %v", n, err)
	}
}

// TestLocksAreTheMachines: two runs with directories of their own for temporary files
// would else have one slot, and take away each other's benches.
func TestLocksAreTheMachines(t *testing.T) {
	was := lockPath("lab")
	t.Setenv("TMPDIR", t.TempDir())
	if is := lockPath("lab"); is != was {
		t.Errorf("another TMPDIR, another lock: %s and %s", was, is)
	}
}
