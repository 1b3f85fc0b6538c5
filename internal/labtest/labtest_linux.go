package labtest

import (
	"os"

	"golang.org/x/sys/unix"
)

// missing returns why this process cannot create network namespaces, or "".
func missing() string {
	if os.Geteuid() != 0 {
		return "it needs root (go test -exec sudo ./...)"
	}
	if _, err := os.Stat("/proc/self/ns/net"); err != nil {
		return "this kernel has no network namespaces"
	}
	return ""
}

// InMemory puts temporary files of tests that test no disk in memory, if it has room: a disk searches long for free inodes.
func InMemory() {
	var s unix.Statfs_t
	if unix.Statfs("/dev/shm", &s) == nil && s.Type == unix.TMPFS_MAGIC && s.Flags&unix.ST_NOEXEC == 0 && s.Bavail*uint64(s.Bsize) > 2<<30 {
		_ = os.Setenv("TMPDIR", "/dev/shm")
	}
}
