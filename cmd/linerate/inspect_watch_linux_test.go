package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"linerate/internal/labtest"
	"linerate/internal/sockops"
)

// writers runs programs that write sysctls, in a cgroup and network namespaces of the test's own.
type writers struct {
	t     *testing.T
	dir   string // directory of the programs
	group string
	name  string // a process in the cgroup, for --service
}

func newWriters(t *testing.T) *writers {
	t.Helper()
	labtest.Namespaces(t)
	root, err := sockops.Cgroup("")
	if err != nil {
		labtest.Lacking(t, "%v", err)
	}
	w := &writers{t: t, dir: t.TempDir(), group: filepath.Join(root, fmt.Sprintf("linerate-test-%d.service", rand.Uint32())), name: fmt.Sprintf("lrw%d", rand.Uint32N(1e6))}
	if err := os.Mkdir(w.group, 0o755); err != nil {
		labtest.Lacking(t, "no cgroup can be made: %v", err)
	}
	t.Cleanup(func() {
		if !labtest.Eventually(func() bool { return os.Remove(w.group) == nil }) {
			t.Errorf("%s cannot be removed", w.group)
		}
	})
	stays := w.program(w.name, "read line")
	in, err := stays.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := stays.Start(); err != nil {
		labtest.Lacking(t, "no process starts in a cgroup and a network namespace of its own: %v", err)
	}
	t.Cleanup(func() { in.Close(); _ = stays.Wait() })
	if !labtest.Eventually(func() bool { got, err := sockops.Cgroup(w.name); return err == nil && got == w.group }) {
		t.Fatalf("%s is not in %s", w.name, w.group)
	}
	return w
}

// program creates a script under the given name and returns the command that runs it.
func (w *writers) program(name, script string) *exec.Cmd {
	w.t.Helper()
	file := filepath.Join(w.dir, name)
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		w.t.Fatal(err)
	}
	group, err := os.Open(w.group)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { group.Close() })
	cmd := exec.Command(file)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET, UseCgroupFD: true, CgroupFD: int(group.Fd())}
	return cmd
}

// write runs a program and waits for it.
func (w *writers) write(name, script string) {
	w.t.Helper()
	if out, err := w.program(name, script).CombinedOutput(); err != nil {
		w.t.Fatalf("%s: %v: %s", name, err, out)
	}
}

// watch starts inspect --watch and returns its output once it is watching.
func (w *writers) watch(args ...string) (cmd *exec.Cmd, out *bufio.Scanner) {
	w.t.Helper()
	cmd = exec.Command("linerate", append([]string{"inspect", "--watch", "--service", w.name}, args...)...)
	stdout, err := cmd.StdoutPipe()
	stderr, err2 := cmd.StderrPipe()
	if err != nil || err2 != nil {
		w.t.Fatal(err, err2)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	said := bufio.NewScanner(stderr)
	if !said.Scan() || !strings.Contains(said.Text(), "watching writes below /proc/sys by the processes in "+w.group) {
		labtest.Lacking(w.t, "inspect --watch: %s", said.Text())
	}
	return cmd, bufio.NewScanner(stdout)
}

// attached counts the BPF programs attached to the cgroup.
func (w *writers) attached() int {
	w.t.Helper()
	f, err := os.Open(w.group)
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	got, err := link.QueryPrograms(link.QueryOptions{Target: int(f.Fd()), Attach: ebpf.AttachCGroupSysctl})
	if err != nil {
		w.t.Fatal(err)
	}
	return len(got.Programs)
}

// TestInspectWatch: a daemon, a child of another process and a shell write sysctls in their
// own network namespaces. Each write is reported with its writer, unit, old and new value, the
// kernel has taken each value, and nothing stays attached when the watch is killed.
func TestInspectWatch(t *testing.T) {
	w := newWriters(t)
	cmd, out := w.watch("--json")
	for _, c := range []struct {
		program, script, by, parent, name, old, new, writer string
	}{
		{"tuned", "echo 1 > /proc/sys/net/ipv4/ip_forward; grep -q 1 /proc/sys/net/ipv4/ip_forward", "tuned", "", "net.ipv4.ip_forward", "0", "1", "TuneD"},
		{"kubelet", "sysctl -q -w net.ipv4.conf.lo.arp_ignore=2; grep -q 2 /proc/sys/net/ipv4/conf/lo/arp_ignore", "sysctl", "kubelet", "net.ipv4.conf.lo.arp_ignore", "0", "2", "kubelet"},
		{"by-hand", "/bin/sh -c 'echo 3 > /proc/sys/net/ipv4/conf/lo/tag; grep -q 3 /proc/sys/net/ipv4/conf/lo/tag'", "sh", "by-hand", "net.ipv4.conf.lo.tag", "0", "3", "shell"},
		{"by-hand", "sysctl -q -w net.ipv4.conf.lo.tag=4; true", "sysctl", "by-hand", "net.ipv4.conf.lo.tag", "0", "4", "sysctl(8)"},
		{"mystery", "echo 5 > /proc/sys/net/ipv4/conf/lo/tag", "mystery", "", "net.ipv4.conf.lo.tag", "0", "5", ""},
	} {
		w.write(c.program, c.script)
		var got watched
		if !out.Scan() || json.Unmarshal(out.Bytes(), &got) != nil {
			t.Fatalf("%s: %q", c.program, out.Text())
		}
		if got.Name != c.name || got.Old != c.old || got.New != c.new || got.Writer != c.writer || got.Unit != filepath.Base(w.group) || !got.Elsewhere || len(got.Chain) < 2 || got.Chain[0].Name != c.by || c.parent != "" && got.Chain[1].Name != c.parent || got.Chain[0].PID == 0 {
			t.Errorf("%s: %+v", c.program, got)
		}
		if (got.Writer == "") != (got.Fix == "") {
			t.Errorf("%s: fix %q", c.program, got.Fix)
		}
	}
	if n := w.attached(); n != 1 {
		t.Errorf("%d programs attached while inspect --watch runs, want 1", n)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if !labtest.Eventually(func() bool { return w.attached() == 0 }) {
		t.Error("the BPF program stays attached after inspect --watch was killed")
	}
	w.write("by-hand", "echo 6 > /proc/sys/net/ipv4/conf/lo/tag; grep -q 6 /proc/sys/net/ipv4/conf/lo/tag")
}

// TestInspectWatchLine: the text output has one line per write, a fix once per writer, and a summary.
func TestInspectWatchLine(t *testing.T) {
	w := newWriters(t)
	cmd, out := w.watch()
	w.write("tuned", "echo 1 > /proc/sys/net/ipv4/ip_forward; echo 0 > /proc/sys/net/ipv4/ip_forward")
	var lines []string
	for len(lines) < 2 && out.Scan() {
		lines = append(lines, out.Text())
	}
	if len(lines) < 2 || !strings.Contains(lines[0], "  net.ipv4.ip_forward: 0 → 1, by tuned[") || !strings.Contains(lines[0], "], in "+filepath.Base(w.group)+", in another network namespace: TuneD. TuneD applies its profile") ||
		!strings.HasSuffix(lines[1], ": TuneD") || strings.Contains(lines[0], "{file}") {
		t.Errorf("%q", lines)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for out.Scan() { // drain until it exits
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("interrupted: %v", err)
	}
	end, out := w.watch("--time", "1ms")
	if out.Scan() {
		t.Errorf("%q", out.Text())
	}
	if err := end.Wait(); err != nil {
		t.Errorf("--time: %v", err)
	}
}
