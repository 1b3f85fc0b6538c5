package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"linerate/internal/labtest"
)

// TestStartersOfDetached: FreeBSD's daemon(8) closes what is open, appends what the program
// says to the log and leaves the directory alone; where root has no systemd nothing is
// needed but a session.
func TestStartersOfDetached(t *testing.T) {
	log := filepath.Join(t.TempDir(), "away.log")
	argv, how := starterOf("freebsd", "away.log", "/root", log)
	if !slices.Equal(argv, []string{"daemon", "-f", "-o", log}) || how != "daemon(8)" {
		t.Errorf("%q, %s", argv, how)
	}
	if _, err := os.Stat("/run/systemd/system"); err != nil {
		if argv, how := starterOf("linux", "away.log", "/root", log); argv != nil || how != "" {
			t.Errorf("%q, %s", argv, how)
		}
	}
	// What is started says so in the log, in the directory that it was started from.
	t.Chdir(t.TempDir())
	here, _ := os.Getwd()
	if _, err := Detach(t.Context(), []string{"/bin/sh", "-c", "pwd; echo heard >&2"}, log); err != nil {
		t.Fatal(err)
	}
	if !labtest.Eventually(func() bool { text, _ := os.ReadFile(log); return string(text) == here+"\nheard\n" }) {
		text, _ := os.ReadFile(log)
		t.Errorf("the log has %q", strings.TrimSpace(string(text)))
	}
}
