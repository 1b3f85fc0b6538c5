package apply

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"linerate/internal/host/localhost"
	"linerate/internal/plan"
	"linerate/internal/setting"
)

// nspawned is a machine whose PID 1 is this machine's systemd, with an overlay over this machine's files,
// in its own namespaces. A reboot boots it again, like a power button.
type nspawned struct {
	t     *testing.T
	root  string
	pid   atomic.Int64 // pid of systemd-nspawn
	boots atomic.Int64
	ended atomic.Bool // do not boot it again
}

// rebooted is systemd-nspawn's exit code when its machine wants to reboot.
const rebooted = 133

func newNspawned(t *testing.T) *nspawned {
	t.Helper()
	dir := t.TempDir()
	n := &nspawned{t: t, root: filepath.Join(dir, "root")}
	for _, d := range []string{"root", "upper", "work"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	options := fmt.Sprintf("lowerdir=/,upperdir=%s/upper,workdir=%s/work", dir, dir)
	if err := syscall.Mount("overlay", n.root, "overlay", 0, options); err != nil {
		t.Fatalf("cannot mount an overlay: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(n.root, 0) })
	system := filepath.Join(n.root, "etc/systemd/system")
	wants, _ := filepath.Glob(system + "/*.wants/*")
	for _, w := range wants {
		_ = os.Remove(w)
	}
	for name, to := range map[string]string{"getty.target": "/dev/null", "console-getty.service": "/dev/null", "systemd-resolved.service": "/dev/null", "systemd-networkd.service": "/dev/null"} {
		_ = os.Symlink(to, filepath.Join(system, name))
	}
	if err := os.WriteFile(filepath.Join(n.root, "etc/hostname"), []byte("sdbox\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); n.power() }()
	t.Cleanup(func() { n.ended.Store(true); n.off(); <-done })
	n.up(0)
	return n
}

// power boots the machine repeatedly: when it reboots, and when the power is restored.
func (n *nspawned) power() {
	for !n.ended.Load() {
		cmd := exec.Command("systemd-nspawn", "-q", "-D", n.root, "--boot", "--private-network", "--register=no", "--keep-unit", "--console=pipe")
		if err := cmd.Start(); err != nil {
			return
		}
		n.pid.Store(int64(cmd.Process.Pid))
		n.boots.Add(1)
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != rebooted {
			time.Sleep(time.Second) // wait for its remains to be cleaned up
		}
	}
}

// off turns the power off.
func (n *nspawned) off() {
	if leader := n.leader(); leader != "" {
		_ = exec.Command("kill", "-9", leader).Run()
	}
}

// leader returns the process id of the machine's PID 1.
func (n *nspawned) leader() string {
	pid := n.pid.Load()
	out, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if f := strings.Fields(string(out)); len(f) > 0 {
		return f[0]
	}
	return ""
}

// inside makes a command run in the machine.
func (n *nspawned) inside(cmd *exec.Cmd) {
	argv := append([]string{"nsenter", "-t", n.leader(), "-m", "-p", "-n", "-u", "-i", "-C"}, cmd.Args...)
	cmd.Path, _ = exec.LookPath("nsenter")
	cmd.Args = argv
}

func (n *nspawned) run(argv ...string) string {
	cmd := exec.Command(argv[0], argv[1:]...)
	n.inside(cmd)
	out, _ := cmd.CombinedOutput()
	return string(bytes.TrimSpace(out))
}

func (n *nspawned) machine() Machine {
	return On(&localhost.Runner{Start: func(cmd *exec.Cmd) error { n.inside(cmd); return cmd.Run() }})
}

// up waits until a boot after the given one is complete.
func (n *nspawned) up(after int64) {
	n.t.Helper()
	for range 240 {
		if n.boots.Load() > after && n.leader() != "" && n.run("systemctl", "is-system-running") == "running" {
			return
		}
		time.Sleep(500 * time.Millisecond)
	}
	n.t.Fatalf("the machine did not boot: %s", n.run("systemctl", "--no-pager", "list-jobs"))
}

// ends waits until nothing is pending.
func (n *nspawned) ends(m Machine) Status {
	n.t.Helper()
	var st Status
	var err error
	for range 240 {
		if st, err = m.Status(context.Background()); err == nil && st.State == "idle" {
			return st
		}
		time.Sleep(500 * time.Millisecond)
	}
	n.t.Fatalf("still pending: %+v, %v", st, err)
	return st
}

// TestSystemd makes a real systemd run the switch and the boot entry: a time-out, a switch that is killed, a
// boot while a change is pending, a trial that is not confirmed, and one that is.
//
// It needs systemd-nspawn (systemd-container) and two minutes:
//
//	LINERATE_SYSTEMD=1 go test ./internal/apply -run TestSystemd -v
func TestSystemd(t *testing.T) {
	if os.Getenv("LINERATE_SYSTEMD") == "" {
		t.Skip("set LINERATE_SYSTEMD=1 to boot a systemd in a container")
	}
	if _, err := exec.LookPath("systemd-nspawn"); err != nil || os.Getuid() != 0 {
		t.Fatalf("needs root and systemd-nspawn: %v", err)
	}
	n := newNspawned(t)
	m := n.machine()
	ctx := context.Background()
	start := func(trial bool, within time.Duration) {
		t.Helper()
		p := systemdPlan(t, m)
		if got, err := Run(ctx, m, p, Options{Within: within, Trial: trial, Say: t.Logf}); got != Pending || err != nil {
			t.Fatalf("apply: %s, %v", got, err)
		}
	}
	is := func(what, keepalive string, st Status, why string) {
		t.Helper()
		last := st.History[len(st.History)-1]
		_, err := os.Stat(filepath.Join(n.root, plan.LinuxSysctl))
		if got := n.run("sysctl", "-n", "net.ipv4.tcp_keepalive_time"); got != keepalive || last.Why != why || (err == nil) != (keepalive == "7000") {
			t.Errorf("%s: the value is %s, the file %v, the history %+v", what, got, err, last)
		}
		if left := n.run("sh", "-c", "ls /etc/systemd/system | grep linerate; systemctl list-units --all --no-legend 'linerate-0*'"); left != "" {
			t.Errorf("%s: left behind: %s", what, left)
		}
	}

	start(false, 10*time.Second)
	if out := n.run("systemd-analyze", "verify", "/etc/systemd/system/linerate-revert.service"); out != "" {
		t.Errorf("the unit: %s", out)
	}
	is("time runs out", "7200", n.ends(m), "nobody confirmed in time")

	start(false, 15*time.Second)
	n.run("sh", "-c", "kill -9 $(cat /var/lib/linerate/pending/watcher)")
	is("the switch is killed", "7200", n.ends(m), "nobody confirmed in time")

	start(false, 5*time.Minute)
	boot := n.boots.Load()
	n.off()
	n.up(boot)
	is("the power goes", "7200", n.ends(m), "the host was booted before anybody confirmed")

	boot = n.boots.Load()
	start(true, 10*time.Second)
	n.up(boot + 1) // the trial, and the boot that ends it
	is("a trial that nobody confirms", "7200", n.ends(m), "nobody confirmed in time")

	boot = n.boots.Load()
	start(true, 2*time.Minute)
	n.up(boot)
	if _, err := m.Confirm(ctx, ""); err != nil {
		t.Fatal(err)
	}
	is("a trial that somebody confirms", "7000", n.ends(m), "")
}

func systemdPlan(t *testing.T, m Machine) plan.Plan {
	t.Helper()
	id, err := m.Hello(context.Background())
	if err != nil || id.Init != "systemd" || id.Host != "sdbox" {
		t.Fatalf("%+v, %v", id, err)
	}
	s := setTo("net.ipv4.tcp_keepalive_time", setting.Sysctl, "7200", "7000")
	s.Where.File, s.Reason = plan.LinuxSysctl, "a test"
	p, err := plan.Seal(plan.Plan{OS: id.OS, Release: id.Release, Host: id.Host, Role: "router", Settings: []plan.Step{s}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}
