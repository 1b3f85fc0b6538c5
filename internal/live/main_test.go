package live

import (
	"testing"

	"linerate/internal/labtest"
)

// TestMain lets windows of several hosts pass at the same time.
func TestMain(m *testing.M) {
	labtest.SideBySide()
	m.Run()
}
