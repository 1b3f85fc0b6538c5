//go:build linux || freebsd

package labtest

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// hold holds a lock file until t ends.
func hold(t testing.TB, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		t.Fatalf("open the machine's lock: %v", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		t.Fatalf("take the machine's lock %s: %v", path, err)
	}
	t.Cleanup(func() { f.Close() })
}
