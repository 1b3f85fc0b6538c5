package netnsbed

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"linerate/internal/knob"
)

// The registry is a directory with a journal for each lab that may change host
// settings. It is how a later start tells a dead owner's leftovers.
func registryDir() string {
	if os.Geteuid() == 0 && !InUserNamespace() {
		return "/run/linerate"
	}
	return filepath.Join(os.TempDir(), "linerate-"+strconv.Itoa(os.Getuid()))
}

// startTime is field 22 of /proc/PID/stat: with the pid it names a process
// for good, a pid alone is reused.
func startTime(pid int) string {
	data := readLine(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	_, after, ok := strings.Cut(data, ") ")
	fields := strings.Fields(after)
	if !ok || len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return ""
	}
	return fields[19]
}

// lockRegistry holds the registry against other labs of this user.
func lockRegistry() (unlock func(), err error) {
	if err := os.MkdirAll(registryDir(), 0o755); err != nil {
		return nil, fmt.Errorf("make the registry of labs: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(registryDir(), "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the registry of labs: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock the registry of labs: %w", err)
	}
	return func() { f.Close() }, nil
}

// Sweep puts back what dead owners changed of the host.
func Sweep() error {
	unlock, err := lockRegistry()
	if err != nil {
		return err
	}
	defer unlock()
	return knob.RestoreDead(registryDir())
}

// openJournal makes its caller the owner of a journal of host settings.
func openJournal() (*knob.HostSysctls, error) {
	unlock, err := lockRegistry()
	if err != nil {
		return nil, err
	}
	defer unlock()
	return knob.OpenHostSysctls(filepath.Join(registryDir(), fmt.Sprintf("%d-%s.journal", os.Getpid(), startTime(os.Getpid()))))
}
