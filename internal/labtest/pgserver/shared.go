package pgserver

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"linerate/internal/labtest"
)

// serverEnv names a server for tests, as a URL; "required" makes its absence a failure.
// Without it tests share a private server, and skip if there is no PostgreSQL.
const serverEnv = "LINERATE_TEST_POSTGRES"

var shared struct {
	once   sync.Once
	server *Server
	err    error
	mu     sync.Mutex
	made   int
}

// Main runs a package's tests and then stops their shared server: call it in
// TestMain.
func Main(m *testing.M) {
	code := m.Run()
	if shared.server != nil && os.Getenv(serverEnv) == "" || os.Getenv(serverEnv) == "required" && shared.server != nil {
		_ = shared.server.Stop() // its directory is in /tmp
	}
	os.Exit(code)
}

// Need skips a test if there is no PostgreSQL, and returns the server shared
// by all tests of the package.
func Need(t testing.TB) *Server {
	t.Helper()
	env := os.Getenv(serverEnv)
	shared.once.Do(func() {
		if env != "" && env != "required" {
			shared.server = &Server{URL: env}
			return
		}
		shared.server, shared.err = New()
	})
	switch err := shared.err; {
	case err == nil:
	case env == "required" || !errors.Is(err, ErrMissing):
		t.Fatalf("PostgreSQL is required here, but %v", err)
	default:
		labtest.Lacking(t, "no PostgreSQL: %v", err)
	}
	return shared.server
}

// Installed skips a test if PostgreSQL cannot be started: for tests that start their own
// server.
func Installed(t testing.TB) {
	t.Helper()
	switch {
	case binaries() != "":
	case os.Getenv(serverEnv) != "":
		t.Fatalf("PostgreSQL is required here, but %v", ErrMissing)
	default:
		labtest.Lacking(t, "no PostgreSQL: %v", ErrMissing)
	}
}

// Database creates an empty database for a test, and returns its URL.
func Database(t testing.TB) string {
	t.Helper()
	s := Need(t)
	shared.mu.Lock()
	shared.made++
	name := fmt.Sprintf("linerate_test_%d_%d", os.Getpid(), shared.made)
	shared.mu.Unlock()
	at, err := s.Fresh(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.drop(name) })
	return at
}
