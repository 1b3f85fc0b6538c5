package labtest

import (
	"os"

	"golang.org/x/sys/unix"
)

// missing returns why this process cannot create vnet jails, or "".
func missing() string {
	if os.Geteuid() != 0 {
		return "it needs root"
	}
	if n, err := unix.SysctlUint32("kern.features.vimage"); err != nil || n == 0 {
		return "this kernel has no network stacks for jails"
	}
	return ""
}

// InMemory is for Linux: /tmp can be in memory here.
func InMemory() {}
