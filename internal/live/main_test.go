package live

import (
	"runtime/debug"
	"testing"

	"linerate/internal/labtest"
)

// TestMain allows many parallel windows and disables frequent garbage collection: each look at a log makes
// garbage, and days of looks pass in seconds.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	labtest.SideBySide()
	labtest.InMemory()
	m.Run()
}
