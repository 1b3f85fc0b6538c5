package filehost

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/hint"
)

// TestOpenRefused: a file that may not be read could be configuration, so the error does not call it a bad bundle.
func TestOpenRefused(t *testing.T) {
	name := filepath.Join(t.TempDir(), "sysctl.conf")
	if _, err := OpenBundle(name); err == nil || err.Error() != "open "+name+": no such file or directory" || !strings.Contains(hint.Of(err), "linerate capture") {
		t.Errorf("%v, %q", err, hint.Of(err))
	}
	if os.Geteuid() == 0 {
		return // root may read every file
	}
	if err := os.WriteFile(name, nil, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenBundle(name); err == nil || err.Error() != "open "+name+": permission denied" || !strings.Contains(hint.Of(err), "root") {
		t.Errorf("%v, %q", err, hint.Of(err))
	}
}
