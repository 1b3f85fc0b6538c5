package live

import (
	"runtime/debug"
	"testing"

	"linerate/internal/labtest"
)

// TestMain lets windows of several hosts pass at the same time, and garbage lie: each look at a
// log makes some, and days of looks pass in seconds.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	labtest.SideBySide()
	labtest.InMemory()
	m.Run()
}
