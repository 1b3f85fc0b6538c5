package netnsbed

import (
	"os"
	"path/filepath"
	"strconv"

	"linerate/internal/knob"
)

// registryDir has a journal for each lab that may change host settings. It is how a
// later start tells a dead owner's leftovers.
func registryDir() string {
	if os.Geteuid() == 0 && !InUserNamespace() {
		return "/run/linerate"
	}
	return filepath.Join(os.TempDir(), "linerate-"+strconv.Itoa(os.Getuid()))
}

// Sweep puts back what dead owners changed of the host.
func Sweep() error { return knob.RestoreDead(registryDir()) }
