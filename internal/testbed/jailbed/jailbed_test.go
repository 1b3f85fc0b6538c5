package jailbed

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

func TestOwner(t *testing.T) {
	if pid, ok := owner(owned(4711, 2)); !ok || pid != 4711 {
		t.Errorf("%d, %v", pid, ok)
	}
	for _, name := range []string{"linerate-lab0", "linerate-1-2.dut1", "www", "linerate-12-", "xlinerate-1-2", "linerate-99999999999-1", "linerate-4711"} {
		if _, ok := owner(name); ok {
			t.Errorf("jail %q is taken for a lab's", name)
		}
	}
}

func TestBehind(t *testing.T) {
	want := []string{
		"[/sbin/route -q -n add -inet -net 198.19.0.0/17 198.19.0.1]",
		"[/sbin/route -q -n add -inet -net 198.19.128.0/17 198.19.0.1]",
		"[/sbin/route -q -n add -inet6 -net 2001:2:0:1::/65 2001:2:0:1::1]",
		"[/sbin/route -q -n add -inet6 -net 2001:2:0:1:8000::/65 2001:2:0:1::1]",
	}
	got := behind(sinkPort)
	for i, w := range want {
		if i >= len(got) || fmt.Sprint(got[i]) != w {
			t.Fatalf("%q, want %q", got, want)
		}
	}
}

// TestRunLines: the shell's handling of lines, tested with the local shell.
func TestRunLines(t *testing.T) {
	sh := func(input string) (string, error) {
		c := exec.Command("/bin/sh", "-c", runLines)
		c.Stdin = strings.NewReader(input)
		out, err := c.CombinedOutput()
		return string(out), err
	}
	commands := [][]string{{"echo", "*", "$HOME"}, {"-", "false"}, {"echo", "inet6"}, {"echo", "end;", "echo"}}
	if out, err := sh(lines(commands)); err != nil || out != "* $HOME\nend; echo\n" {
		t.Errorf("%q, %v", out, err)
	}
	if out, err := sh("false\necho after\n"); err == nil || out != "(false)\n" {
		t.Errorf("after a failure: %q, %v", out, err)
	}
}
