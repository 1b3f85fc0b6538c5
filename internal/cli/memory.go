package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync"
)

// firstGarbage is how much memory a command has, in bytes, when garbage is collected for the
// first time: most are over before, and spent a quarter of their time on collections from
// four megabytes on.
const firstGarbage = 64 << 20

// CollectLate puts the first collection of garbage off until the process has firstGarbage;
// from then on Go's own rule holds. It is a program's first deed, and leaves it alone
// where the environment has its own wishes (GOGC, GOMEMLIMIT).
var CollectLate = sync.OnceFunc(func() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	percent, limit := debug.SetGCPercent(-1), debug.SetMemoryLimit(firstGarbage)
	runtime.AddCleanup(new([64]byte), func(int) { // unreachable at once: the first collection frees it
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(percent)
	}, 0)
})
