//go:build linux || freebsd

package knob

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"

	"linerate/internal/setting"
)

// written is the result of a write. White space is folded, since lists of
// numbers are read back with tabs.
type written struct {
	before, asked, after string
	blind                bool // a write-only trigger, which cannot be read back
}

// kept reports whether the kernel silently kept the old value instead of the
// new one.
func (w written) kept() bool { return !w.blind && w.after != w.asked && w.after == w.before }

// note describes the difference between the requested value and the result: a
// kernel rounds times to ticks (icmp_ratelimit 1 becomes 4 ms at 250 Hz) and
// clamps some values.
func (w written) note(s setting.Setting) string {
	if w.blind || w.after == w.asked {
		return ""
	}
	return fmt.Sprintf("%s: asked for %q, the kernel made it %q", s.Name, w.asked, w.after)
}

// outcome converts the result of a write for a report: to a note, or to an error if
// the kernel refused the value.
func (w written) outcome(s setting.Setting) (note string, err error) {
	if w.kept() {
		return "", unavailable(s, "the kernel keeps %q when %q is written", w.after, s.Value)
	}
	return w.note(s), nil
}

// global sets a sysctl shared by namespaces or jails; with a nil h it is refused.
func (h *HostSysctls) global(s setting.Setting) (note string, err error) {
	if h == nil {
		return "", unavailable(s, "it is global to the kernel: mark it scope: host in the study, and allow host settings")
	}
	w, err := h.set(s.Name, s.Value)
	if err != nil {
		return "", err
	}
	note = fmt.Sprintf("%s is global to the kernel: set on the host, restored after the trial", s.Name)
	if own := w.note(s); own != "" {
		note += "; " + own
	}
	return note, nil
}

// HostSysctls applies settings that are global to the kernel. Every first
// write is journalled to disk before it happens, so that the next lab
// restores the settings of a killed one.
type HostSysctls struct {
	Journal string // path of the journal
	mu      sync.Mutex
	before  []journalled
	owner   *os.File // locked as long as the owner of the journal is alive
}

// ownerSuffix is the suffix of the lock file next to a journal, which its
// owner holds: if the lock is free, the owner is dead.
const ownerSuffix = ".owner"

// LockState locks a directory of journals against other labs.
func LockState(dir string) (unlock func(), err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("keep what labs change of the host: %w", err)
	}
	f, err := locked(filepath.Join(dir, "lock"), unix.LOCK_EX)
	if err != nil {
		return nil, fmt.Errorf("lock what labs change of the host: %w", err)
	}
	return func() { f.Close() }, nil
}

// locked opens or creates a file, and locks it.
func locked(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), how); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// OpenHostSysctls makes the caller the owner of this process's journal in a
// directory, until Close.
func OpenHostSysctls(dir string) (*HostSysctls, error) {
	unlock, err := LockState(dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	journal := filepath.Join(dir, fmt.Sprintf("%d.journal", os.Getpid()))
	f, err := locked(journal+ownerSuffix, unix.LOCK_EX|unix.LOCK_NB)
	if err != nil {
		return nil, fmt.Errorf("lock the journal of host settings (another lab of this process may have it): %w", err)
	}
	return &HostSysctls{Journal: journal, owner: f}, nil
}

// Close restores what was changed, and gives up the journal.
func (h *HostSysctls) Close() error {
	if h == nil {
		return nil
	}
	if err := h.Restore(); err != nil {
		return err // the next lab tries again
	}
	if h.owner != nil {
		os.Remove(h.owner.Name())
		h.owner.Close()
		h.owner = nil
	}
	return nil
}

// Forget simulates a kill for tests: settings stay changed and journalled,
// without an owner.
func (h *HostSysctls) Forget() { h.owner.Close() }

// RestoreDead restores what the journals of dead owners in a directory list.
func RestoreDead(dir string) error {
	if _, err := os.Stat(dir); err != nil {
		return nil //nolint:nilerr // no lab ever changed the host
	}
	unlock, err := LockState(dir)
	if err != nil {
		return err
	}
	defer unlock()
	owners, err := filepath.Glob(filepath.Join(dir, "*.journal"+ownerSuffix))
	if err != nil {
		return err
	}
	var errs []error
	for _, o := range owners {
		f, err := locked(o, unix.LOCK_EX|unix.LOCK_NB)
		if err != nil {
			continue // its owner still runs
		}
		if err := RestoreJournal(strings.TrimSuffix(o, ownerSuffix)); err != nil {
			errs = append(errs, err)
		} else {
			os.Remove(o)
		}
		f.Close()
	}
	return errors.Join(errs...)
}

// journalled is a host sysctl with its original value.
type journalled struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Set journals a sysctl's value and changes it.
func (h *HostSysctls) Set(name, value string) error {
	_, err := h.set(name, value)
	return err
}

func (h *HostSysctls) set(name, value string) (written, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	again := h.touches(name)
	if !again {
		old, err := had(name)
		if err != nil {
			return written{}, fmt.Errorf("read host sysctl %s: %w", name, err)
		}
		entries := append(slices.Clone(h.before), old)
		if err := writeJournal(h.Journal, entries); err != nil {
			return written{}, err
		}
		h.before = entries
	}
	w, err := writeHost(name, value)
	// A second write of a rounded value rightly changes nothing.
	if err == nil && w.kept() && !again {
		err = fmt.Errorf("the kernel keeps %q", w.after)
	}
	if err != nil {
		return w, fmt.Errorf("set host sysctl %s=%s: %w", name, value, err)
	}
	return w, nil
}

// Switch sets the given sysctls, and restores all others that were changed before.
// It is cheap when repeated, because the journal is only written when a sysctl is
// changed for the first time. Without a journal, which host settings require, none
// may be set.
func (h *HostSysctls) Switch(settings []setting.Setting) error {
	if h == nil {
		if len(settings) == 0 {
			return nil
		}
		return unavailable(settings[0], "it is global to the kernel, and host settings are not allowed")
	}
	for _, s := range settings {
		if !h.knows(s.Name) {
			if err := h.Set(s.Name, s.Value); errors.Is(err, fs.ErrNotExist) {
				return unavailable(s, "this kernel has no such sysctl (module not loaded?)")
			} else if err != nil {
				return err
			}
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range slices.Backward(h.before) { // last change first, as in Restore
		if slices.ContainsFunc(settings, func(s setting.Setting) bool { return e.isOf(s.Name) }) {
			continue
		}
		if _, err := writeHost(e.Name, e.Value); err != nil {
			return fmt.Errorf("set host sysctl %s=%s: %w", e.Name, e.Value, err)
		}
	}
	for _, s := range settings {
		if _, err := writeHost(s.Name, s.Value); err != nil {
			return fmt.Errorf("set host sysctl %s=%s: %w", s.Name, s.Value, err)
		}
	}
	return nil
}

func (h *HostSysctls) knows(name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.touches(name)
}

// touches reports whether the journal has a sysctl's original value.
func (h *HostSysctls) touches(name string) bool {
	return slices.ContainsFunc(h.before, func(e journalled) bool { return e.isOf(name) })
}

// isOf reports whether an entry holds the original value of a sysctl: under its
// own name, or under its partner's in an exclusive pair.
func (j journalled) isOf(name string) bool {
	a, b := dotted(j.Name), dotted(name)
	return a == b || exclusive[a] == b
}

func dotted(name string) string { return strings.ReplaceAll(name, "/", ".") }

// had returns what to journal before a sysctl is written: its value. For an
// exclusive pair it is the one in force, because the other's 0 cannot be written
// but follows from it.
func had(name string) (journalled, error) {
	value, err := readHost(name)
	pair := exclusive[dotted(name)]
	if err != nil || pair == "" || value != "0" {
		return journalled{name, value}, err
	}
	other, err := readHost(pair)
	if err == nil && other == "0" && strings.HasSuffix(name, "_ratio") {
		return journalled{name, value}, nil // both are 0: the ratio can be written
	}
	return journalled{pair, other}, err
}

// Restore restores every changed sysctl, last change first, and removes the
// journal when all are restored.
func (h *HostSysctls) Restore() error {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := restore(h.before); err != nil {
		return err
	}
	h.before = nil
	return removeJournal(h.Journal)
}

// RestoreJournal undoes the changes in a dead lab's journal. A missing
// journal is not an error.
func RestoreJournal(path string) error {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the journal of host settings: %w", err)
	}
	var entries []journalled
	if err := json.Unmarshal(data, &entries); err != nil {
		return fmt.Errorf("journal of host settings %s: %w", path, err)
	}
	if err := restore(entries); err != nil {
		return err
	}
	return removeJournal(path)
}

func restore(entries []journalled) error {
	var errs []error
	for _, e := range slices.Backward(entries) {
		w, err := writeHost(e.Name, e.Value)
		if err == nil && !w.blind && w.after != w.asked {
			err = fmt.Errorf("the kernel made it %q", w.after)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("restore host sysctl %s=%s: %w", e.Name, e.Value, err))
		}
	}
	return errors.Join(errs...)
}

// writeJournal replaces the journal atomically and durably.
func writeJournal(path string, entries []journalled) error {
	data, err := json.Marshal(entries)
	if err != nil {
		return err
	}
	// renameio syncs the file before it is renamed; syncDir then syncs the name.
	if err := renameio.WriteFile(path, data, 0o600, renameio.WithTempDir(filepath.Dir(path))); err != nil {
		return fmt.Errorf("journal host settings: %w", err)
	}
	return syncDir(filepath.Dir(path))
}

func syncDir(dir string) error {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	defer unix.Close(fd)
	return unix.Fsync(fd)
}

func removeJournal(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the journal of host settings: %w", err)
	}
	return nil
}
