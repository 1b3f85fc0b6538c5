package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"linerate/internal/apply"
	"linerate/internal/host/localhost"
	"linerate/internal/host/sshhost/sshtest"
	"linerate/internal/labtest"
	"linerate/internal/plan"
	"linerate/internal/setting"
)

// makePlan writes a plan for this host: NAME=VALUE are sysctls, NAME:WAS=VALUE
// says what they were.
func makePlan(file string, args []string) {
	id, err := apply.On(&localhost.Runner{}).Hello(context.Background())
	fatal(err)
	p := plan.Plan{OS: id.OS, Release: id.Release, Host: id.Host, Role: "router"}
	for _, a := range args {
		name, value, _ := strings.Cut(a, "=")
		s := plan.Setting{Mechanism: setting.Sysctl, Value: value, Reason: "a test of it", Risk: "none",
			Where: plan.Where{File: plan.LinuxSysctl, Runtime: true}, Evidence: plan.Evidence{Kind: plan.Unmeasured}}
		name, was, known := strings.Cut(name, ":")
		if s.Name = name; known {
			s.Current.Value = &was
		}
		p.Settings = append(p.Settings, s)
	}
	p, err = plan.Seal(p)
	fatal(err)
	doc, err := plan.Marshal(p)
	fatal(err)
	fatal(os.WriteFile(file, doc, 0o644))
}

func fatal(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// hostRoot makes the directories of a host's own root.
func hostRoot(t testing.TB, root string) []string {
	t.Helper()
	for _, d := range []string{"etc/sysctl.d", "etc/rcS.d", "etc/init.d", "var/lib"} {
		if err := os.MkdirAll(filepath.Join(root, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"LINERATE_ROOT=" + root, "LINERATE_INIT=sysv"}
}

// TestApplyScripts runs apply, confirm, rollback and status as root, on files
// in a root and sysctls in a namespace of their own.
func TestApplyScripts(t *testing.T) {
	if os.Getuid() != 0 {
		labtest.Lacking(t, "needs root: it changes sysctls of a namespace")
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/apply",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			name := fmt.Sprintf("linerate-%d-%s", os.Getpid(), filepath.Base(e.WorkDir))
			if out, err := exec.Command("ip", "netns", "add", name).CombinedOutput(); err != nil {
				return fmt.Errorf("%w: %s", err, out)
			}
			e.Defer(func() { _ = exec.Command("ip", "netns", "del", name).Run() })
			for _, pair := range append(hostRoot(t, filepath.Join(e.WorkDir, "host")), "NS="+name) {
				k, v, _ := strings.Cut(pair, "=")
				e.Setenv(k, v)
			}
			return nil
		},
	})
}

// wires joins two namespaces by two wires: what comes by the first from
// 198.18.79.1 is answered by the second.
func wires(t *testing.T) (outside, dut string) {
	t.Helper()
	outside, dut = fmt.Sprintf("lr-out-%d", os.Getpid()), fmt.Sprintf("lr-dut-%d", os.Getpid())
	t.Cleanup(func() {
		for _, ns := range []string{outside, dut} {
			_ = exec.Command("ip", "netns", "del", ns).Run()
		}
	})
	for _, line := range strings.Split(strings.NewReplacer("OUT", outside, "DUT", dut).Replace(`netns add OUT
netns add DUT
-n OUT link add wa type veth peer name wa netns DUT
-n OUT link add wb type veth peer name wb netns DUT
-n OUT addr add 198.18.77.1/24 dev wa
-n OUT addr add 198.18.78.1/24 dev wb
-n OUT addr add 198.18.79.1/32 dev lo
-n DUT addr add 198.18.77.2/24 dev wa
-n DUT addr add 198.18.78.2/24 dev wb
-n OUT link set lo up
-n OUT link set wa up
-n OUT link set wb up
-n DUT link set lo up
-n DUT link set wa up
-n DUT link set wb up
-n OUT route replace 198.18.77.2/32 dev wa src 198.18.79.1
-n DUT route add 198.18.79.1/32 via 198.18.78.1`), "\n") {
		if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
			labtest.Lacking(t, "ip %s: %v: %s", line, err, out)
		}
	}
	return outside, dut
}

// TestLockout applies, over a real sshd, a plan that cuts the very path it
// came by; nobody can confirm; the host comes back by itself, as seen from
// outside. Then a plan that cuts nothing is confirmed, drifts, is rolled back.
func TestLockout(t *testing.T) {
	if os.Getuid() != 0 {
		labtest.Lacking(t, "needs root: it makes namespaces")
	}
	outside, dut := wires(t)
	root := t.TempDir()
	s := sshtest.Start(t, sshtest.Options{Namespace: dut, Listen: "198.18.77.2", Env: hostRoot(t, root)})
	linerate := func(timeout time.Duration, args ...string) (string, error) {
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		out, err := exec.CommandContext(ctx, "ip", append([]string{"netns", "exec", outside, "linerate"}, args...)...).CombinedOutput()
		return string(out), err
	}
	over := func(args ...string) []string { return append(args, "ssh://box", "--ssh-config", s.Config) }
	if out, err := linerate(time.Minute, over("status")...); err != nil {
		t.Fatalf("the host is not reached to begin with: %v: %s", err, out)
	}
	bad, good := filepath.Join(root, "bad"), filepath.Join(root, "good")
	makePlan(bad, []string{"net.ipv4.conf.all.rp_filter:0=1", "net.ipv4.conf.wa.rp_filter:0=1"})
	makePlan(good, []string{"net.ipv4.conf.wa.rp_filter:0=2"})

	// The session dies with the network: the command is killed, as a
	// closed laptop would.
	cutOff(t, outside, dut, over("apply", bad, "--yes", "--confirm-within", "10s"))
	if out, err := linerate(2*time.Second, over("status")...); err == nil {
		t.Fatalf("the host is reached though its path is cut: %s", out)
	}
	var back string
	var err error
	for range 30 {
		if back, err = linerate(2*time.Second, over("status")...); err == nil {
			break
		}
	}
	if err != nil || !strings.Contains(back, "nothing is pending") || !strings.Contains(back, "nobody confirmed in time") {
		t.Fatalf("the host did not come back: %v: %s", err, back)
	}
	t.Logf("back:\n%s", back)
	if got := sysctlIn(t, dut, "net.ipv4.conf.wa.rp_filter"); got != "0" {
		t.Errorf("rp_filter is %s after the revert", got)
	}
	if _, err := os.Stat(filepath.Join(root, plan.LinuxSysctl)); err == nil {
		t.Error("the drop-in file is still there")
	}

	steps := []struct{ want, args string }{
		{"pending", "apply " + good + " ssh://box --yes --no-wait --check 198.18.77.2:" + fmt.Sprint(s.Port)},
		{"unless confirmed", "status ssh://box"},
		{"confirmed 000002-", "confirm ssh://box"},
		{"no drift", "status ssh://box"},
		{"reverted 000002-", "rollback ssh://box"},
		{"nothing is pending", "status ssh://box"},
	}
	for _, step := range steps {
		out, err := linerate(time.Minute, append(strings.Fields(step.args), "--ssh-config", s.Config)...)
		if err != nil || !strings.Contains(out, step.want) {
			t.Fatalf("%s: %v: %s", step.args, err, out)
		}
	}
	if got := sysctlIn(t, dut, "net.ipv4.conf.wa.rp_filter"); got != "0" {
		t.Errorf("rp_filter is %s after the rollback", got)
	}
}

// cutOff runs an apply until it has cut its own path, and kills it there.
func cutOff(t *testing.T, outside, dut string, args []string) {
	t.Helper()
	cmd := exec.Command("ip", append([]string{"netns", "exec", outside, "linerate"}, args...)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for range 600 {
		if sysctlIn(t, dut, "net.ipv4.conf.wa.rp_filter") == "1" {
			_ = cmd.Process.Kill()
			<-ended
			return
		}
		select {
		case err := <-ended:
			t.Fatalf("the plan was to cut the network and ended with %v", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
	_ = cmd.Process.Kill()
	t.Fatal("nothing was applied")
}

func sysctlIn(t *testing.T, namespace, name string) string {
	t.Helper()
	out, err := exec.Command("ip", "netns", "exec", namespace, "sysctl", "-n", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
