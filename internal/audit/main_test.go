package audit_test

import (
	"os"
	"testing"

	"linerate/internal/labtest"
)

func TestMain(m *testing.M) {
	labtest.InMemory() // a rule's example is a tree of its own: thousands of directories
	os.Exit(m.Run())
}
