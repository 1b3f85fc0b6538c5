package netnsbed

import (
	"os"
	"runtime"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"linerate/internal/cputime"
	"linerate/internal/labtest"
)

// nice returns the calling thread's nice value.
func nice(t *testing.T) int {
	t.Helper()
	n, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		t.Fatal(err)
	}
	return 20 - n
}

// TestPrecedence: while a bed is up this process, its new threads and its session have precedence, until
// the last bed is closed.
func TestPrecedence(t *testing.T) {
	labtest.Need(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := nice(t)
	session, sessions := cputime.SessionNice("self")
	a, b := up(t, Options{}), up(t, Options{})
	if !a.precedes {
		labtest.Lacking(t, "no CAP_SYS_NICE")
	}
	a.Close()
	if n, _ := cputime.SessionNice("self"); nice(t) != first || sessions && n != first {
		t.Errorf("beside a bed this thread has nice %d, its session %d", nice(t), n)
	}
	if err := b.gen.do(func() error {
		if n := nice(t); n != first {
			t.Errorf("a thread created meanwhile has nice %d", n)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	b.Close()
	if n, _ := cputime.SessionNice("self"); nice(t) != before || n != session {
		t.Errorf("after the beds nice is %d, the session's %d; before %d and %d", nice(t), n, before, session)
	}
}

// TestPrecedenceDoesNotStay: a lab that finds its session at the lab's priority, because another lab runs
// there or was killed, resets it at its end.
func TestPrecedenceDoesNotStay(t *testing.T) {
	labtest.Namespaces(t)
	if !labtest.OwnSession(t) {
		return
	}
	labtest.Need(t)
	if _, sessions := cputime.SessionNice("self"); !sessions {
		t.Fatal("this kernel has autogroup scheduling, but the priority of a new session cannot be read")
	}
	if err := os.WriteFile(autogroup, []byte(strconv.Itoa(first)), 0); err != nil {
		t.Fatalf("the session's priority cannot be set: %v", err)
	}
	up(t, Options{}).Close()
	if n, _ := cputime.SessionNice("self"); n != 0 {
		t.Errorf("after a lab the session's nice is %d", n)
	}
}
