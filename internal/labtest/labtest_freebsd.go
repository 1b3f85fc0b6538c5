package labtest

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// missing says why this process cannot make vnet jails, or "".
func missing() string {
	if os.Geteuid() != 0 {
		return "it needs root"
	}
	if n, err := unix.SysctlUint32("kern.features.vimage"); err != nil || n == 0 {
		return "this kernel has no network stacks for jails"
	}
	return ""
}

// Lock keeps others of this machine from measuring until t ends.
func Lock(t testing.TB) {
	t.Helper()
	f, err := os.OpenFile(lockPath(), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatalf("open the lab's lock: %v", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		t.Fatalf("lock the lab: %v", err)
	}
	t.Cleanup(func() { f.Close() })
}
