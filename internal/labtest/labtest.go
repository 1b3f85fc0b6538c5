// Package labtest is what tests of the lab share: the right to make network
// namespaces, and the machine to themselves while they measure.
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

// Required is the environment variable by which CI says that this machine
// has a lab: a lab test that skips then fails.
const Required = "LINERATE_LAB"

// Need skips t, with the reason, where a privileged lab cannot be made; where
// LINERATE_LAB=required it fails instead. It then holds the machine-wide
// lock until t ends, so that packages tested in parallel never disturb a
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

// SideBySide lets more parallel tests run at once than there are CPUs, of a package
// whose tests wait more than they work: for other processes, for windows to end.
// It is TestMain's to call, and go test's -parallel overrides it.
func SideBySide() {
	if err := flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0))); err != nil {
		panic(err) // testing has had the flag since Go 1
	}
}

// Prefix begins the names of all devices and namespaces that tests make in the
// machine's own network namespace. Packages are tested at the same time: a test
// that looks for what a lab left behind takes no notice of these.
const Prefix = "lrt"

// lockPath is one file per machine, not per user, working directory or TMPDIR: users with
// different directories for temporary files still share the machine's networks.
func lockPath(name string) string { return filepath.Join("/tmp", "linerate-"+name+".lock") }

// Without says that t goes on without a part of what it tests, which this
// machine lacks; where LINERATE_LAB=required it fails.
func Without(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv(Required) == "required" {
		t.Errorf("required here: "+format, args...)
		return
	}
	t.Logf(format, args...)
}

// Program is Lacking for a program of another package, such as nft(8).
func Program(t testing.TB, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		Lacking(t, "%v", err)
	}
}

// Lacking skips t because this machine lacks what the test needs; where
// LINERATE_LAB=required the machine is one that .ci/run set up, and it fails.
func Lacking(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv(Required) == "required" {
		t.Fatalf("required here: "+format, args...)
	}
	t.Skipf(format, args...)
}
