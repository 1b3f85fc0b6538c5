package sshtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"linerate/internal/labtest"
)

// TestServerEndsWithItsTest: if a test is killed with its process group, as by Ctrl-C or a time-out of the
// whole run, the server and its sessions end.
func TestServerEndsWithItsTest(t *testing.T) {
	const inside = "SSHTEST_TO_BE_KILLED"
	if os.Getenv(inside) != "" {
		s := Start(t, Options{})
		login := exec.Command("ssh", "-F", s.Config, "box", "echo $PPID; exec cat")
		login.Stdout = os.Stdout
		if _, err := login.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		_, _ = os.Stdout.WriteString(strconv.Itoa(s.PID()) + "\n")
		t.Fatal(login.Run())
	}
	Start(t, Options{}) // or skip
	child := exec.Command(os.Args[0], "-test.run=^TestServerEndsWithItsTest$")
	child.Env = append(os.Environ(), inside+"=1", "TMPDIR="+t.TempDir())
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var server, login int
	_, err = fmt.Fscan(out, &server, &login)
	_ = syscall.Kill(-child.Process.Pid, syscall.SIGINT)
	_ = syscall.Kill(-child.Process.Pid, syscall.SIGKILL)
	_ = child.Wait()
	if err != nil {
		t.Fatal(err)
	}
	for what, pid := range map[string]int{"sshd": server, "the login": login} {
		if !labtest.Eventually(func() bool {
			line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
			return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || err == nil && len(line) == 0 // it may be a zombie
		}) {
			t.Errorf("%s, pid %d, is still running", what, pid)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
