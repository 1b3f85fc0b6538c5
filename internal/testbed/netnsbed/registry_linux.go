package netnsbed

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"

	"linerate/internal/knob"
	"linerate/internal/list"
	"linerate/internal/testbed"
)

// The registry is a directory with one file per named lab and one journal
// per lab that may change host settings. It is how a later start tells a
// dead owner's leftovers from a living lab's property.
func registryDir() string {
	if os.Geteuid() == 0 && !InUserNamespace() {
		return "/run/linerate"
	}
	return filepath.Join(os.TempDir(), "linerate-"+strconv.Itoa(os.Getuid()))
}

// Lab is a named lab as the registry knows it.
type Lab struct {
	Name       string    `json:"name"`
	Mode       string    `json:"mode"`
	Owner      int       `json:"owner_pid"`
	OwnerStart string    `json:"owner_start"` // start time of the owner, in clock ticks since boot
	Persistent bool      `json:"persistent"`  // only lab down removes it
	Created    time.Time `json:"created"`
}

// Namespaces of a named lab, as ip netns lists them.
func (l Lab) Namespaces() []string {
	return []string{l.Name + "-gen", l.Name + "-dut", l.Name + "-sink"}
}

func (l Lab) file() string { return filepath.Join(registryDir(), l.Name+".lab.json") }

// alive reports whether the process that made the lab still runs.
func (l Lab) alive() bool { return alive(l.Owner, l.OwnerStart) }

func alive(pid int, start string) bool { return start != "" && startTime(pid) == start }

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

// Labs lists the named labs, by name. A file that cannot be read is skipped:
// it is no lab that anyone could use.
func Labs() ([]Lab, error) {
	files, err := filepath.Glob(filepath.Join(registryDir(), "*.lab.json"))
	if err != nil {
		return nil, err
	}
	var labs []Lab
	for _, f := range files {
		data, err := os.ReadFile(f)
		var l Lab
		if err == nil && json.Unmarshal(data, &l) == nil && testbed.LabName.MatchString(l.Name) {
			labs = append(labs, l)
		}
	}
	slices.SortFunc(labs, func(a, b Lab) int { return strings.Compare(a.Name, b.Name) })
	return labs, nil
}

func (l Lab) save() error {
	data, err := json.Marshal(l)
	if err != nil {
		return err
	}
	if err := renameio.WriteFile(l.file(), data, 0o600, renameio.WithTempDir(filepath.Dir(l.file()))); err != nil {
		return fmt.Errorf("register lab %s: %w", l.Name, err)
	}
	return nil
}

// Sweep removes what dead owners left: named namespaces of labs that never
// became persistent, and host settings whose journal was not worked off.
func Sweep() error {
	unlock, err := lockRegistry()
	if err != nil {
		return err
	}
	defer unlock()
	labs, err := Labs()
	if err != nil {
		return err
	}
	var errs []error
	for _, l := range labs {
		if !l.Persistent && !l.alive() {
			errs = append(errs, l.remove())
		}
	}
	return errors.Join(append(errs, knob.RestoreDead(registryDir()))...)
}

// remove ends a lab's namespaces and forgets it.
func (l Lab) remove() error {
	errs := list.Map(l.Namespaces(), removeName)
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := os.Remove(l.file()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget lab %s: %w", l.Name, err)
	}
	return nil
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
