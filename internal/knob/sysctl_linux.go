package knob

import (
	"bytes"
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

// sysctlRoot is where Linux shows sysctls; entries under net/ belong to the
// namespace of the thread that opens them.
const sysctlRoot = "/proc/sys"

// sysctlPath turns net.ipv4.ip_forward into its file. Dots and slashes swap
// as sysctl(8) does: net/ipv4/conf/eth0.100/rp_filter keeps the dot of a
// VLAN's name.
func sysctlPath(name string) (string, error) {
	p := name
	if dot, slash := strings.IndexByte(name, '.'), strings.IndexByte(name, '/'); slash < 0 || (dot >= 0 && dot < slash) {
		p = strings.NewReplacer(".", "/", "/", ".").Replace(name)
	}
	if !filepath.IsLocal(p) || strings.ContainsRune(p, 0) {
		return "", fmt.Errorf("sysctl name %q is not valid", name)
	}
	return filepath.Join(sysctlRoot, p), nil
}

// sysctl writes a sysctl of the namespace and reads it back; one that is
// global to the kernel goes to the journalled host settings.
func (t *Target) sysctl(s setting.Setting) (string, error) {
	path, err := sysctlPath(s.Name)
	if err != nil {
		return "", err
	}
	var w written
	err = t.In(func() (err error) { w, err = writeSysctl(path, s.Value); return err })
	switch {
	case err == nil && w.kept():
		return "", unavailable(s, "the kernel keeps %q when it is asked for %q", w.after, s.Value)
	case err == nil:
		return w.note(s), nil
	case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission):
		return "", fmt.Errorf("set sysctl %s=%s: %w", s.Name, s.Value, err)
	}
	if _, statErr := os.Stat(path); statErr != nil {
		return "", unavailable(s, "this kernel has no such sysctl (module not loaded?)")
	}
	if t.Host == nil {
		return "", unavailable(s, "it is global to the kernel (scope: host), and settings of the host are not allowed in this run")
	}
	w, err = t.Host.set(s.Name, s.Value)
	if err != nil {
		return "", err
	}
	note := fmt.Sprintf("%s is global to the kernel: set on the host, restored after the trial", s.Name)
	if own := w.note(s); own != "" {
		note += "; " + own
	}
	return note, nil
}

// written is what became of a write: white space is folded, as lists of
// numbers come back with tabs.
type written struct {
	before, asked, after string
	blind                bool // a write-only trigger cannot be read back
}

// kept reports whether the kernel took a new value in silence and left the
// old one.
func (w written) kept() bool { return !w.blind && w.after != w.asked && w.after == w.before }

// note says what a setting became where it is not what was asked: a kernel
// rounds times to its ticks (icmp_ratelimit 1 is 4 ms at 250 Hz) and clamps
// some values.
func (w written) note(s setting.Setting) string {
	if w.blind || w.after == w.asked {
		return ""
	}
	return fmt.Sprintf("%s: asked for %q, the kernel made it %q", s.Name, w.asked, w.after)
}

// writeSysctl writes and reads back. A write that fails may have set the
// first numbers of a list by then (tcp_rmem): they are put back.
func writeSysctl(path, value string) (written, error) {
	old, unreadable := os.ReadFile(path)
	if err := os.WriteFile(path, []byte(value+"\n"), 0); err != nil {
		return written{}, errors.Join(err, putBack(path, old, unreadable))
	}
	got, err := os.ReadFile(path)
	return written{before: fold(string(old)), asked: fold(value), after: fold(string(got)), blind: err != nil}, nil
}

// putBack restores what a failed write left half done.
func putBack(path string, old []byte, unreadable error) error {
	if unreadable != nil {
		return nil // nothing is known of it, or it is not there at all
	}
	if now, err := os.ReadFile(path); err != nil || bytes.Equal(now, old) {
		return err
	}
	if err := os.WriteFile(path, old, 0); err != nil {
		return fmt.Errorf("restore %q after a failed write: %w", fold(string(old)), err)
	}
	return nil
}

func fold(s string) string { return strings.Join(strings.Fields(s), " ") }

// HostSysctls applies settings that are global to the kernel. Every first
// write is journalled to disk before it happens, so that a killed lab's
// settings are restored by the next one.
type HostSysctls struct {
	Journal string // path of the journal file
	mu      sync.Mutex
	before  []journalled
}

// journalled is a host sysctl and the value it had.
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
	path, err := sysctlPath(name)
	if err != nil {
		return written{}, err
	}
	old, err := os.ReadFile(path)
	if err != nil {
		return written{}, fmt.Errorf("read host sysctl %s: %w", name, err)
	}
	again := slices.ContainsFunc(h.before, func(j journalled) bool { return j.Name == name })
	entries := append(slices.Clone(h.before), journalled{name, strings.TrimSpace(string(old))})
	if err := writeJournal(h.Journal, entries); err != nil {
		return written{}, err
	}
	h.before = entries
	w, err := writeSysctl(path, value)
	// A second write of a rounded value changes nothing, and is right.
	if err == nil && w.kept() && !again {
		err = fmt.Errorf("the kernel keeps %q", w.after)
	}
	if err != nil {
		return w, fmt.Errorf("set host sysctl %s=%s: %w", name, value, err)
	}
	return w, nil
}

// Switch makes the changed sysctls those of settings: others that were changed
// before get back what they had. It is cheap when repeated, for the journal is
// written only when a sysctl is changed for the first time.
func (h *HostSysctls) Switch(settings []setting.Setting) error {
	wanted := map[string]string{}
	for _, s := range settings {
		wanted[s.Name] = s.Value
		if !h.knows(s.Name) {
			if err := h.Set(s.Name, s.Value); err != nil {
				return err
			}
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range slices.Backward(h.before) { // of two entries the first has the old value
		value, ok := wanted[e.Name]
		if !ok {
			value = e.Value
		}
		path, err := sysctlPath(e.Name)
		if err != nil {
			return err
		}
		if _, err := writeSysctl(path, value); err != nil {
			return fmt.Errorf("set host sysctl %s=%s: %w", e.Name, value, err)
		}
	}
	return nil
}

func (h *HostSysctls) knows(name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(h.before, func(e journalled) bool { return e.Name == name })
}

// Restore puts every changed sysctl back, last change first, and removes the
// journal once all are back.
func (h *HostSysctls) Restore() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	err := restore(h.before)
	if err != nil {
		return err
	}
	h.before = nil
	return removeJournal(h.Journal)
}

// RestoreJournal undoes what a dead lab's journal lists. A missing journal
// is no error.
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
	for i := len(entries) - 1; i >= 0; i-- {
		path, err := sysctlPath(entries[i].Name)
		var w written
		if err == nil {
			w, err = writeSysctl(path, entries[i].Value)
		}
		if err == nil && !w.blind && w.after != w.asked {
			err = fmt.Errorf("the kernel made it %q", w.after)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("restore host sysctl %s=%s: %w", entries[i].Name, entries[i].Value, err))
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
	// The file is synced before it takes its name, the name after.
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
