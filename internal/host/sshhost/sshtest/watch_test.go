package sshtest

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"linerate/internal/labtest"
)

// TestServerEndsWithItsTest that is killed.
func TestServerEndsWithItsTest(t *testing.T) {
	const inside = "SSHTEST_TO_BE_KILLED"
	if os.Getenv(inside) != "" {
		s := Start(t, Options{})
		_, _ = os.Stdout.WriteString(strconv.Itoa(s.PID()) + "\n")
		select {}
	}
	Start(t, Options{}) // or skip
	child := exec.Command(os.Args[0], "-test.run=^TestServerEndsWithItsTest$")
	child.Env = append(os.Environ(), inside+"=1", "TMPDIR="+t.TempDir())
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	pid, no := strconv.Atoi(strings.TrimSpace(line))
	_ = child.Process.Kill()
	_ = child.Wait()
	if err != nil || no != nil {
		t.Fatalf("it said %q: %v", line, err)
	}
	if !labtest.Eventually(func() bool {
		line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
		return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || err == nil && len(line) == 0 // nobody may have waited for it
	}) {
		t.Errorf("sshd %d goes on", pid)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}
