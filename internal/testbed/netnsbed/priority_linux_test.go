package netnsbed

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"linerate/internal/labtest"
)

// nice is the calling thread's.
func nice(t *testing.T) int {
	t.Helper()
	n, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		t.Fatal(err)
	}
	return 20 - n
}

// While a bed is up this process precedes others, with threads that it makes
// then, and its session does; with the last bed that ends.
func TestPrecedence(t *testing.T) {
	labtest.Need(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := nice(t)
	session, sessions := sessionNice()
	a, b := up(t, Options{}), up(t, Options{})
	if !a.precedes {
		labtest.Lacking(t, "no CAP_SYS_NICE")
	}
	a.Close()
	if n, _ := sessionNice(); nice(t) != first || sessions && n != first {
		t.Errorf("beside a bed this thread has nice %d, its session %d", nice(t), n)
	}
	if err := b.gen.do(func() error {
		if n := nice(t); n != first {
			t.Errorf("a thread made since has nice %d", n)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	b.Close()
	if n, _ := sessionNice(); nice(t) != before || n != session {
		t.Errorf("after the beds nice is %d, the session's %d; before %d and %d", nice(t), n, before, session)
	}
}

// ownSession is the environment of a test that runs again, in a session of its
// own: the kernel gives only those a priority among others, and who started the
// tests may have none (an init, a container).
const ownSession = "LINERATE_TEST_OWN_SESSION"

// A lab that finds its session at the lab's priority, because another runs there
// or was killed, does not leave it so.
func TestPrecedenceDoesNotStay(t *testing.T) {
	if os.Getenv(ownSession) == "" {
		labtest.Namespaces(t)
		again := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		again.Env = append(os.Environ(), ownSession+"=1")
		again.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if out, err := again.CombinedOutput(); err != nil {
			t.Errorf("in a session of its own: %v\n%s", err, out)
		}
		return
	}
	labtest.Need(t)
	if on, err := os.ReadFile("/proc/sys/kernel/sched_autogroup_enabled"); err != nil || strings.TrimSpace(string(on)) == "0" {
		t.Skip("this kernel does not share time by sessions: kernel.sched_autogroup_enabled is 0, or not there")
	}
	if _, sessions := sessionNice(); !sessions {
		t.Fatal("this kernel shares time by sessions, and a session of its own has no priority that could be read")
	}
	if err := os.WriteFile(autogroup, []byte(strconv.Itoa(first)), 0); err != nil {
		t.Fatalf("the session's priority cannot be set: %v", err)
	}
	up(t, Options{}).Close()
	if n, _ := sessionNice(); n != 0 {
		t.Errorf("after a lab the session's nice is %d", n)
	}
}
