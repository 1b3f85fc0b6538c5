package linux

import (
	_ "embed"
	"strings"

	"linerate/internal/fact/release"
)

//go:embed kernels.txt
var kernels string

// Shipped returns the kernel that the distribution of an os-release(5) ships, and the distribution
// with its version ("debian 12"); ok is false if the table lacks it.
func Shipped(osRelease string) (kernel release.Release, of string, ok bool) {
	said := assigned(strings.ToLower(osRelease))
	for line := range strings.Lines(kernels) {
		f := strings.Fields(line)
		if len(f) == 3 && f[0] == said["id"] && (f[1] == "*" || strings.HasPrefix(said["version_id"]+".", f[1]+".")) {
			kernel, err := release.Parse(f[2])
			return kernel, strings.TrimSpace(said["id"] + " " + said["version_id"]), err == nil
		}
	}
	return release.Release{}, "", false
}
