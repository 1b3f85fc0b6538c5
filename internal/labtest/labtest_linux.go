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

// InMemory puts the temporary files of a package that does not test disks into memory, where that has
// room for them: on a disk, files that come and go by the thousand take much of a test's time.
func InMemory() {
	const memory, enough = "/dev/shm", 2 << 30
	var s unix.Statfs_t
	if unix.Statfs(memory, &s) == nil && s.Type == unix.TMPFS_MAGIC && s.Flags&unix.ST_NOEXEC == 0 && s.Bavail*uint64(s.Bsize) > enough {
		_ = os.Setenv("TMPDIR", memory)
	}
}
