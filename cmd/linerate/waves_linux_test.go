package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"linerate/internal/assemble/hosts"
	"linerate/internal/fleet"
	"linerate/internal/host/sshhost/sshtest"
	"linerate/internal/labtest"
	"linerate/internal/plan"
)

// smallFleet is a set of hosts in namespaces, each behind its own sshd, and a controller in
// another namespace.
type smallFleet struct {
	t      *testing.T
	dir    string
	out    string   // the controller's namespace
	ns     []string // namespaces of the hosts h1, h2 …
	server []*sshtest.Server
}

// smallFleets numbers the fleets, whose namespaces need distinct names.
var smallFleets atomic.Int32

func newSmallFleet(t *testing.T, n int) *smallFleet {
	t.Helper()
	labtest.Namespaces(t)
	if os.Getuid() != 0 {
		labtest.Lacking(t, "needs root: it makes namespaces")
	}
	f, nth := &smallFleet{t: t, dir: t.TempDir()}, smallFleets.Add(1)
	name := func(what string) string {
		return fmt.Sprintf("%s-%s-%d-%d", labtest.Prefix, what, os.Getpid(), nth)
	}
	f.out = name("wave0")
	run := func(line string) {
		argv := strings.Fields(line)
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			labtest.Lacking(t, "%s: %v: %s", line, err, out)
		}
	}
	t.Cleanup(func() {
		for _, ns := range append([]string{f.out}, f.ns...) {
			_ = exec.Command("ip", "netns", "del", ns).Run()
		}
	})
	run("ip netns add " + f.out)
	var config strings.Builder
	for i := 1; i <= n; i++ {
		ns := name(fmt.Sprintf("wave%d", i))
		f.ns = append(f.ns, ns)
		for _, line := range []string{"ip netns add NS", "ip -n OUT link add wI type veth peer name w0 netns NS", "ip -n OUT addr add 198.18.9I.1/24 dev wI", "ip -n NS addr add 198.18.9I.2/24 dev w0",
			"ip -n OUT link set wI up", "ip -n NS link set w0 up", "ip -n NS link set lo up"} {
			run(strings.NewReplacer("NS", ns, "OUT", f.out, "I", fmt.Sprint(i)).Replace(line))
		}
		root := filepath.Join(f.dir, fmt.Sprintf("h%d", i))
		env := hostRoot(t, root)
		f.write(filepath.Join(root, "etc/machine-id"), fmt.Sprintf("%d", i)+strings.Repeat("a", 31)+"\n")
		s := sshtest.Start(t, sshtest.Options{Namespace: ns, Listen: fmt.Sprintf("198.18.9%d.2", i), Env: env})
		f.server = append(f.server, s)
		config.WriteString(s.ClientConfig(fmt.Sprintf("h%d", i)))
	}
	config.WriteString(f.server[0].ClientConfig("dead") + "  ConnectTimeout 2\n")
	f.write(filepath.Join(f.dir, "config"), strings.Replace(config.String(), "Host dead\n", "Host dead\n  Port 1\n", 1))
	return f
}

func (f *smallFleet) write(path, text string) {
	f.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

func (f *smallFleet) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.Background(), "ip", append([]string{"netns", "exec", f.out, "linerate"}, args...)...)
	cmd.Env = append(os.Environ(), "LINERATE_LEDGER="+filepath.Join(f.dir, "ledger.db"))
	cmd.Dir = f.dir
	return cmd
}

// linerate runs the command on the controller and checks its output and whether it fails; want lists texts separated by |.
func (f *smallFleet) linerate(fails bool, want string, args ...string) string {
	f.t.Helper()
	raw, err := f.command(args...).CombinedOutput()
	out := string(raw)
	if (err != nil) != fails {
		f.t.Fatalf("linerate %s: %v: %s", strings.Join(args, " "), err, out)
	}
	for w := range strings.SplitSeq(want, "|") {
		if !strings.Contains(out, w) {
			f.t.Fatalf("linerate %s does not say %q: %s", strings.Join(args, " "), w, out)
		}
	}
	return out
}

// forwarding returns ip_forward of each host: "1010" means that h1 and h3 forward.
func (f *smallFleet) forwarding() string {
	var all string
	for _, ns := range f.ns {
		out, _ := exec.Command("ip", "netns", "exec", ns, "sysctl", "-n", "net.ipv4.ip_forward").Output()
		all += strings.TrimSpace(string(out))
	}
	return all
}

func (f *smallFleet) expect(forwarding, when string) {
	f.t.Helper()
	if got := f.forwarding(); got != forwarding {
		f.t.Fatalf("%s: the hosts forward %s, want %s", when, got, forwarding)
	}
}

// wave returns the identifier that apply printed.
func (f *smallFleet) wave(out string) string {
	f.t.Helper()
	_, rest, _ := strings.Cut(out, "\nwave 20")
	id, _, _ := strings.Cut("20"+rest, "\n")
	if len(id) != 20 {
		f.t.Fatalf("no wave in %s", out)
	}
	return id
}

// harmless replaces the plans in a directory by ones that only enable forwarding: the planner's
// own depend on the machine that runs the test.
func (f *smallFleet) harmless(dir string) {
	f.t.Helper()
	planned, err := hosts.ReadPlans(dir)
	if err != nil {
		f.t.Fatal(err)
	}
	index, err := os.OpenFile(filepath.Join(dir, "index.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		f.t.Fatal(err)
	}
	defer index.Close()
	for _, p := range planned {
		if p.Failure != "" {
			continue
		}
		file := filepath.Join(dir, p.File)
		if out, err := exec.Command("mkplan", file, "net.ipv4.ip_forward:0=1").CombinedOutput(); err != nil {
			f.t.Fatalf("mkplan: %v: %s", err, out)
		}
		made, err := readPlan(file, nil, plan.Parse)
		if err != nil {
			f.t.Fatal(err)
		}
		p.Digest, p.Changes = made.Digest, fleet.ChangesOf(made)
		if err := json.NewEncoder(index).Encode(p); err != nil {
			f.t.Fatal(err)
		}
	}
}

// TestWaves plans a fleet, applies the plans in waves to hosts of which one fails its check, one
// is unreachable and some were changed meanwhile, and rolls a wave back.
func TestWaves(t *testing.T) {
	t.Parallel()
	f := newSmallFleet(t, 4)
	over := []string{"--ssh-config", filepath.Join(f.dir, "config")}
	with := func(args ...string) []string { return append(args, over...) }
	f.write(filepath.Join(f.dir, "hosts"), "h1 role=router states=1M\nh2 role=router\nh3 role=router\nh4 role=router\ndead role=router\n")
	f.linerate(false, "5 hosts: 4 with a plan, 0 with nothing to do, 1 without a plan|net.ipv4.ip_forward 0 → 1 on 4 of 5 hosts|no plan of dead: ", with("plan", "--hosts", "hosts", "--out", "plans", "--tries", "1")...)
	f.linerate(true, "holds plans of 5 hosts already|--resume", with("plan", "--hosts", "hosts", "--out", "plans")...)
	f.linerate(false, `"planned": 4|"failed": 1`, with("plan", "--hosts", "hosts", "--out", "plans", "--tries", "1", "--resume", "--json")...)
	f.linerate(false, "nf_conntrack_max|1,000,000 flows", "plan", "show", "plans/plans/h1.json")
	f.harmless(filepath.Join(f.dir, "plans"))

	// A dry run examines all hosts and changes none.
	f.linerate(false, "wave 1: 1 host: h1|wave 2: 3 hosts: h2, h3, h4|4 hosts could be changed as planned, 0 would be skipped", with("apply", "plans", "-n")...)
	f.expect("0000", "after a dry run")
	f.linerate(true, "no ledger", "fleet", "wave")

	// The check of h3 fails once it forwards: h1 was confirmed before and keeps the change, h2 and h4 are rolled back.
	fine := filepath.Join(f.dir, "fine")
	check := fmt.Sprintf(`[ "$LINERATE_HOST" != h3 ] || [ -e %s ] || [ "$(ip netns exec %s sysctl -n net.ipv4.ip_forward)" = 0 ]`, fine, f.ns[2])
	out := f.linerate(true, "h1 confirmed|h3 reverted|confirmed     1: h1|reverted      3|--resume=", with("apply", "plans", "--yes", "--waves", "1,100%", "--check", check, "--check-tries", "1")...)
	f.expect("1000", "after a check failed")
	id := f.wave(out)
	f.linerate(false, "stopped|confirmed     1: h1", "fleet", "wave", id)
	f.linerate(true, "", "fleet", "wave", id, "--fail-on", "reverted")
	f.linerate(true, "did you mean|"+id, "fleet", "wave", id[:18]+"zz")

	// The rollout resumes once the check passes.
	f.write(fine, "")
	f.linerate(false, "confirmed     4", "apply", "--resume="+id)
	f.expect("1111", "after the wave went on")
	f.linerate(false, "done", "fleet", "wave")
	f.linerate(true, "is done", with("apply", "--resume="+id)...)
	f.linerate(false, "nothing|skipped", with("apply", "plans", "-n")...)

	// All are rolled back but h2, which somebody changed since.
	if out, err := exec.Command("ip", "netns", "exec", f.ns[1], "sysctl", "-qw", "net.ipv4.ip_forward=0").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	f.linerate(true, "h2 changed-since|rolled-back   3", "rollback", "--wave", id)
	f.expect("0000", "after the rollback")
	f.linerate(false, "rolled-back   4", with("rollback", "--wave", id, "--force")...)
	f.linerate(false, `"rolled-back": 4`, "fleet", "wave", id, "--json")

	// h4 is now another machine, and h2 has a pending change: only these two are skipped.
	f.write(filepath.Join(f.dir, "h4/etc/machine-id"), strings.Repeat("b", 32)+"\n")
	f.linerate(false, "", with("apply", "plans/plans/h2.json", "ssh://h2", "--yes", "--no-wait", "--confirm-within", "5m")...)
	f.linerate(true, "h4 skipped: another machine|h2 skipped: another apply is pending|2 hosts of step 2 skipped", with("apply", "plans", "--yes", "--waves", "1,100%")...)
	f.expect("1110", "after hosts were skipped")
	f.linerate(false, "", with("rollback", "ssh://h2")...)
	f.expect("1010", "after the pending one was taken back")
}

// timeIsOver moves the deadline of hosts' pending changes into the past; their switches check it
// every few seconds.
func (f *smallFleet) timeIsOver(hosts ...string) {
	f.t.Helper()
	for _, h := range hosts {
		deadline := filepath.Join(f.dir, h, "var/lib/linerate/pending/deadline")
		text, err := os.ReadFile(deadline)
		if err != nil {
			f.t.Fatal(err)
		}
		boot, _, _ := strings.Cut(string(text), " ")
		f.write(deadline+".over", boot+" 1\n")
		if err := os.Rename(deadline+".over", deadline); err != nil {
			f.t.Fatal(err)
		}
	}
}

// TestWaveKilled kills the controller while changes are pending: the hosts roll back by
// themselves, and the wave can be resumed.
func TestWaveKilled(t *testing.T) {
	t.Parallel()
	f := newSmallFleet(t, 3)
	with := func(args ...string) []string { return append(args, "--ssh-config", filepath.Join(f.dir, "config")) }
	f.write(filepath.Join(f.dir, "hosts"), "h1 role=router\nh2 role=router\nh3 role=router\n")
	f.linerate(false, "3 with a plan", with("plan", "--hosts", "hosts", "--out", "plans")...)
	f.harmless(filepath.Join(f.dir, "plans"))
	gate := filepath.Join(f.dir, "gate")
	// The check of h3 hangs after the change, so that h2 stays pending meanwhile.
	check := fmt.Sprintf(`[ "$LINERATE_HOST" != h3 ] || [ -e %s ] || [ "$(ip netns exec %s sysctl -n net.ipv4.ip_forward)" = 0 ] || sleep 100`, gate, f.ns[2])
	cmd := f.command(with("apply", "plans", "--yes", "--waves", "1,100%", "--confirm-within", "5m", "--check", check, "--check-timeout", "1m")...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if !labtest.Eventually(func() bool { return f.forwarding() == "111" }) {
		t.Errorf("the hosts forward %s", f.forwarding())
	}
	_ = cmd.Process.Kill() // ip-netns(8) has exec'd linerate
	_ = cmd.Wait()
	f.expect("111", "when the controller dies")
	f.timeIsOver("h2", "h3")
	labtest.Eventually(func() bool { return f.forwarding() == "100" })
	f.expect("100", "after nobody confirmed")
	f.linerate(false, "not ended", "fleet", "wave")
	f.write(gate, "")
	f.linerate(false, "nobody confirmed in time|confirmed     3", with("apply", "--resume")...)
	f.expect("111", "after the wave went on")

	// When interrupted, it rolls unconfirmed changes back at once instead of waiting for the timer.
	f.linerate(false, "rolled-back   3", with("rollback", "--wave", "20")...)
	cmd = f.command(with("apply", "plans", "--yes", "--waves", "1,100%", "--confirm-within", "10m", "--soak", "1m")...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if !labtest.Eventually(func() bool { return f.forwarding() == "100" }) {
		t.Errorf("the hosts forward %s", f.forwarding())
	}
	_ = cmd.Process.Signal(os.Interrupt)
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != 130 {
		t.Errorf("interrupted: %v", err)
	}
	f.expect("000", "after Ctrl-C")
	f.linerate(false, "interrupted", "fleet", "wave", "last")
}
