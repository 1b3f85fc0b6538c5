package labtest

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// inOwnSession is set in the environment of a test that OwnSession runs again.
const inOwnSession = "LINERATE_TEST_OWN_SESSION"

// OwnSession runs t again in a new session and reports whether this is that second run. If
// it returns false, the test has already run in the new session and must return. The
// kernel's autogroups (sched(7)) weigh sessions against each other, and the tests' parent,
// such as a child of init, may be in none. OwnSession skips t if the kernel has no
// autogroups.
func OwnSession(t *testing.T) bool {
	t.Helper()
	if os.Getenv(inOwnSession) == "" {
		again := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		again.Env = append(os.Environ(), inOwnSession+"=1")
		again.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		out, err := again.CombinedOutput()
		switch {
		case err != nil:
			t.Errorf("in a session of its own: %v\n%s", err, out)
		case strings.Contains(string(out), "--- SKIP"):
			t.Skipf("%s", out)
		case !strings.Contains(string(out), "--- PASS"):
			t.Errorf("it was not run in a session of its own:\n%s", out)
		}
		return false
	}
	if on, err := os.ReadFile("/proc/sys/kernel/sched_autogroup_enabled"); err != nil || strings.TrimSpace(string(on)) == "0" {
		t.Skip("this kernel does not share time by sessions: kernel.sched_autogroup_enabled is 0 or missing")
	}
	return true
}
