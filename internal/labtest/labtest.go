// Package labtest holds what tests of the lab share: checks for the right to
// create network namespaces, and exclusive use of the machine while they measure.
package labtest

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
)

// Required is the environment variable by which CI states that this machine
// has a lab: a lab test that would skip then fails.
const Required = "LINERATE_LAB"

// Need skips t, with the reason, if a privileged lab cannot be created; if
// LINERATE_LAB=required, it fails instead. It then holds the machine-wide
// lock until t ends, so that packages tested in parallel do not disturb a
// measurement.
func Need(t testing.TB) {
	t.Helper()
	Namespaces(t)
	Lock(t)
}

// Namespaces is Need for a test that measures nothing: it does not wait for
// the machine.
func Namespaces(t testing.TB) {
	t.Helper()
	if reason := missing(); reason != "" {
		if os.Getenv(Required) == "required" {
			t.Fatalf("the lab is required here, but %s", reason)
		}
		t.Skipf("no lab: %s", reason)
	}
}

// Lock holds the machine-wide measuring lock until t ends.
func Lock(t testing.TB) {
	t.Helper()
	hold(t, lockPath("lab"))
}

// SideBySide lets more parallel tests run than there are CPUs, for a package whose
// tests mostly wait: for other processes, or for windows to end. TestMain calls it;
// go test's -parallel overrides it.
func SideBySide() {
	if err := flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0))); err != nil {
		panic(err) // testing has always had the flag
	}
}

// Prefix begins the names of all devices and namespaces that tests create in
// the machine's own network namespace. Packages are tested in parallel: a test
// that looks for a lab's leftovers ignores these.
const Prefix = "lrt"

// lockPath returns one file per machine, not per user, working directory or TMPDIR: users
// with different temporary directories still share the machine's networks.
func lockPath(name string) string { return filepath.Join("/tmp", "linerate-"+name+".lock") }

// Without records that t continues without testing a part that this machine
// lacks; if LINERATE_LAB=required, t fails.
func Without(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv(Required) == "required" {
		t.Errorf("required here: "+format, args...)
		return
	}
	t.Logf(format, args...)
}

// Program is Lacking for a missing program, such as nft(8).
func Program(t testing.TB, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		Lacking(t, "%v", err)
	}
}

// Lacking skips t because this machine lacks what the test needs; if
// LINERATE_LAB=required, .ci/run has set the machine up, and t fails.
func Lacking(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv(Required) == "required" {
		t.Fatalf("required here: "+format, args...)
	}
	t.Skipf(format, args...)
}
