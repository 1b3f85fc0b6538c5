package labtest

import (
	"os"
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
