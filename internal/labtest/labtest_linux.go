package labtest

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// missing says why this process cannot make network namespaces, or "".
func missing() string {
	if os.Geteuid() != 0 {
		return "it needs root (go test -exec sudo ./...)"
	}
	if _, err := os.Stat("/proc/self/ns/net"); err != nil {
		return "this kernel has no network namespaces"
	}
	return ""
}

// Lock holds the machine-wide measuring lock until t ends.
func Lock(t testing.TB) {
	t.Helper()
	f, err := os.OpenFile(lockPath(), os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		t.Fatalf("open the measuring lock: %v", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		t.Fatalf("take the measuring lock %s: %v", f.Name(), err)
	}
	t.Cleanup(func() { f.Close() })
}
