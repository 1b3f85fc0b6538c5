package cli

import (
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"linerate/internal/labtest"
)

// TestCollectLate: nothing is collected below the first garbage's size, and Go's own rule is
// back after it. A process of its own does it: this one has collected before.
func TestCollectLate(t *testing.T) {
	const inside = "LINERATE_TEST_COLLECT_LATE"
	if os.Getenv(inside) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestCollectLate$")
		cmd.Env = append(os.Environ(), inside+"=1", "GOGC=", "GOMEMLIMIT=")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	CollectLate()
	CollectLate()
	before := collections()
	keep := strings.Repeat("x", firstGarbage/2)
	if n := collections(); n != before {
		t.Errorf("%d collections of %d bytes", n-before, len(keep))
	}
	for range 4 {
		keep += strings.Repeat("y", firstGarbage/2)
	}
	var percent int
	if !labtest.Eventually(func() bool {
		percent = debug.SetGCPercent(100)
		debug.SetGCPercent(percent)
		return percent == 100
	}) || debug.SetMemoryLimit(-1) < 1<<50 {
		t.Errorf("GC percent %d, limit %d with %d bytes", percent, debug.SetMemoryLimit(-1), len(keep))
	}
	runtime.KeepAlive(keep)
}

func collections() uint32 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.NumGC
}
