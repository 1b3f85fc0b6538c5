package tunable_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linerate/catalogue"
	"linerate/internal/fact/release"
	"linerate/internal/labtest"
	"linerate/internal/tunable"
)

// writableHere are names whose permissions depend on the machine.
var writableHere = map[string]bool{"kernel.nmi_watchdog": true, "kernel.ns_last_pid": true}

// TestLiveHost compares the catalogue's vm, kernel and fs with the running kernel, without writing:
// existence, and settable if the file can be written.
func TestLiveHost(t *testing.T) {
	text, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		labtest.Lacking(t, "%v", err)
	}
	rel, err := release.Parse(strings.TrimSpace(string(text)))
	if err != nil || !rel.AtLeast(6, 0) || newest.Before(rel) && rel.Short() != newest.Short() {
		labtest.Lacking(t, "kernel %s: vendors carry names over to older ones, newer ones have others", text)
	}
	c, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	known := 0
	for _, top := range []string{"vm", "kernel", "fs"} {
		err := filepath.WalkDir("/proc/sys/"+top, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil //nolint:nilerr // what cannot be listed is passed over
			}
			name := strings.ReplaceAll(strings.TrimPrefix(p, "/proc/sys/"), "/", ".")
			info, err := d.Info()
			r, ok := c.Lookup(tunable.Linux, name)
			if !ok || err != nil {
				return nil
			}
			known++
			if !r.Exists(rel) && len(r.Backports) == 0 {
				t.Errorf("%s is there on %s; the catalogue says it is not", name, rel)
			}
			if writable := info.Mode().Perm()&0o222 != 0; writable != r.At(rel).Settable.AtRuntime() && !writableHere[name] {
				t.Errorf("%s: mode %s, the catalogue says %s", name, info.Mode(), r.At(rel).Settable)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	if known < 100 {
		t.Errorf("only %d names of vm, kernel and fs are in the catalogue", known)
	}
}
