package knob

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"linerate/internal/setting"
)

// sysctlRoot is the directory of sysctls; entries under net/ belong to the
// network namespace of the thread that opens them.
const sysctlRoot = "/proc/sys"

// sysctlPath converts net.ipv4.ip_forward to its file. Dots and slashes are
// swapped as in sysctl(8): net/ipv4/conf/eth0.100/rp_filter keeps the dot in
// a VLAN's name.
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
	if !strings.HasPrefix(path, sysctlRoot+"/net/") {
		return t.global(s, path) // not per network namespace
	}
	var w written
	err = t.In(func() (err error) { w, err = writeSysctl(path, s.Value); return err })
	switch {
	case err == nil:
		return w.outcome(s)
	case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission):
		return "", fmt.Errorf("set sysctl %s=%s: %w", s.Name, s.Value, err)
	}
	return t.global(s, path)
}

// global sets what all namespaces share, with a journal entry.
func (t *Target) global(s setting.Setting, path string) (string, error) {
	if _, err := os.Stat(path); err != nil {
		return "", unavailable(s, "this kernel has no such sysctl (module not loaded?)")
	}
	return t.Host.global(s)
}

// writeSysctl writes a value and reads it back. A failed write may have set
// the first numbers of a list (tcp_rmem), so they are restored.
func writeSysctl(path, value string) (written, error) {
	old, unreadable := os.ReadFile(path)
	if err := os.WriteFile(path, []byte(value+"\n"), 0); err != nil {
		return written{}, errors.Join(err, putBack(path, old, unreadable))
	}
	got, err := os.ReadFile(path)
	return written{before: folded(string(old)), asked: folded(value), after: folded(string(got)), blind: err != nil}, nil
}

// putBack restores the old value after a write that failed halfway.
func putBack(path string, old []byte, unreadable error) error {
	if unreadable != nil {
		return nil // its value is unknown, or it does not exist
	}
	if now, err := os.ReadFile(path); err != nil || bytes.Equal(now, old) {
		return err
	}
	if err := os.WriteFile(path, old, 0); err != nil {
		return fmt.Errorf("restore %q after a failed write: %w", folded(string(old)), err)
	}
	return nil
}

func readHost(name string) (string, error) {
	path, err := sysctlPath(name)
	if err != nil {
		return "", err
	}
	b, err := os.ReadFile(path)
	return strings.TrimSpace(string(b)), err
}

// writeHost writes a sysctl of the host and reads it back.
func writeHost(name, value string) (written, error) {
	path, err := sysctlPath(name)
	if err != nil {
		return written{}, err
	}
	return writeSysctl(path, value)
}
