package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"linerate/internal/host/sshhost/sshtest"
	"linerate/internal/labtest"
	"linerate/internal/plan"
)

// wires joins two namespaces by two links: packets from 198.18.79.1 arrive on the first and
// are answered on the second, over the default route.
func wires(t *testing.T, name string) (outside, dut string) {
	t.Helper()
	outside, dut = fmt.Sprintf("%s-out-%s-%d", labtest.Prefix, name, os.Getpid()), fmt.Sprintf("%s-dut-%s-%d", labtest.Prefix, name, os.Getpid())
	t.Cleanup(func() {
		for _, ns := range []string{outside, dut} {
			_ = exec.Command("ip", "netns", "del", ns).Run()
		}
	})
	for _, line := range strings.Split(strings.NewReplacer("OUT", outside, "DUT", dut).Replace(`ip netns add OUT
ip netns add DUT
ip -n OUT link add wa type veth peer name wa netns DUT
ip -n OUT link add wb type veth peer name wb netns DUT
ip -n OUT addr add 198.18.77.1/24 dev wa
ip -n OUT addr add 198.18.78.1/24 dev wb
ip -n OUT addr add 198.18.79.1/32 dev lo
ip -n DUT addr add 198.18.77.2/24 dev wa
ip -n DUT addr add 198.18.78.2/24 dev wb
ip -n OUT link set lo up
ip -n OUT link set wa up
ip -n OUT link set wb up
ip -n DUT link set lo up
ip -n DUT link set wa up
ip -n DUT link set wb up
ip -n OUT route replace 198.18.77.2/32 dev wa src 198.18.79.1
ip -n DUT route add default via 198.18.78.1
ip -n DUT route add 198.18.99.0/24 via 198.18.77.1 dev wa
ip netns exec OUT ethtool -K wa tso off gso off
ip netns exec DUT nft add table inet filter
ip netns exec DUT nft add chain inet filter input { type filter hook input priority 0; policy accept; }`), "\n") {
		argv := strings.Fields(line)
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			labtest.Lacking(t, "%s: %v: %s", line, err, out)
		}
	}
	return outside, dut
}

// lockout is a plan that cuts the network path it is applied over, and how the host itself
// shows that.
type lockout struct {
	name     string
	settings []string
	probe    []string // a command run on the host itself
	cut      string   // its output when the path is cut
}

var lockouts = []lockout{
	{"rpfilter", []string{"net.ipv4.conf.wa.rp_filter:0=1", "net.ipv4.conf.all.rp_filter:0=1"}, []string{"sysctl", "-n", "net.ipv4.conf.wa.rp_filter"}, "1"},
	{"route", []string{"route,,0.0.0.0/0=via 198.18.77.99 dev wa"}, []string{"ip", "route", "show", "default"}, "default via 198.18.77.99 dev wa"},
	{"firewall", []string{"nft,,inet/filter/input=drop"}, []string{"sh", "-c", "nft list chain inet filter input | grep -o 'policy drop'"}, "policy drop"},
	{"mtu", []string{"link,wa,mtu=1280"}, []string{"cat", "/sys/class/net/wa/mtu"}, "1280"},
	{"link", []string{"link,wa,state=down"}, []string{"sh", "-c", "ip -o link show wa | grep -o 'state DOWN'"}, "state DOWN"},
}

// TestLockout applies, over a real sshd, plans that cut the network path they are applied
// over, so nobody can confirm them. The host must become reachable again by itself, with
// every route and value restored.
func TestLockout(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		labtest.Lacking(t, "needs root: it makes namespaces")
	}
	var all sync.WaitGroup // mostly waiting, so more run in parallel than there are CPUs
	for _, c := range lockouts {
		all.Go(func() { t.Run(c.name, func(t *testing.T) { lockOut(t, c) }) })
	}
	all.Wait()
}

func lockOut(t *testing.T, c lockout) {
	b := newBox(t, c.name)
	bad := filepath.Join(b.root, "bad")
	b.makePlan(bad, c.settings)
	before := b.state()
	// The session dies with the network: the command is killed, as if a laptop had been closed.
	b.cutOff(c.probe, c.cut, b.over("apply", bad, "--yes", "--confirm-within", "15s"))
	if out, err := b.linerate(2*time.Second, b.over("status")...); err == nil {
		t.Fatalf("the host is reachable although its path is cut: %s", out)
	}
	b.comesBack()
	if after := b.state(); after != before {
		t.Errorf("state before\n%s\nand after\n%s", before, after)
	}
	if _, err := os.Stat(filepath.Join(b.root, plan.LinuxSysctl)); err == nil {
		t.Error("the drop-in file is still there")
	}
}

// TestOverSSH: a harmless plan is applied, confirmed over a separate connection, and rolled
// back.
func TestOverSSH(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		labtest.Lacking(t, "needs root: it makes namespaces")
	}
	b := newBox(t, "good")
	good := filepath.Join(b.root, "good")
	b.makePlan(good, []string{"net.ipv4.conf.wa.rp_filter:0=2"})
	for _, step := range []struct{ want, args string }{
		{"pending", "apply " + good + " ssh://box --yes --no-wait --check 198.18.77.2:" + fmt.Sprint(b.server.Port)},
		{"unless confirmed", "status ssh://box"},
		{"confirmed 000001-", "confirm ssh://box"},
		{"no drift", "status ssh://box"},
		{"reverted 000001-", "rollback ssh://box"},
		{"nothing is pending", "status ssh://box"},
	} {
		out, err := b.linerate(time.Minute, append(strings.Fields(step.args), "--ssh-config", b.server.Config)...)
		if err != nil || !strings.Contains(out, step.want) {
			t.Fatalf("%s: %v: %s", step.args, err, out)
		}
	}
	if got := b.inside("sysctl", "-n", "net.ipv4.conf.wa.rp_filter"); got != "0" {
		t.Errorf("rp_filter is %s after the rollback", got)
	}
	// Changes that could cut off the user require an explicit --confirm-within.
	risky := filepath.Join(b.root, "risky")
	for _, what := range []string{"link,wa,mtu=1400", "link,wa,state=down", "route,,0.0.0.0/0=absent", "nft,,inet/filter/input=drop"} {
		b.makePlan(risky, []string{what})
		out, err := b.linerate(time.Minute, b.over("apply", risky, "--yes", "--no-wait")...)
		if err == nil || !strings.Contains(out, "may cut you off") || !strings.Contains(out, "--confirm-within 1m") {
			t.Errorf("%s without --confirm-within was not refused: %v: %s", what, err, out)
		}
	}
	// A change to a link other than the one in use does not need it.
	b.makePlan(risky, []string{"link,wb,mtu=1400"})
	if out, err := b.linerate(time.Minute, b.over("apply", risky, "--yes", "--dry-run")...); err != nil {
		t.Errorf("the MTU of another link: %v: %s", err, out)
	}
}

// box is a host behind a real sshd, seen from outside.
type box struct {
	t            *testing.T
	outside, dut string
	root         string
	server       *sshtest.Server
}

func newBox(t *testing.T, name string) *box {
	t.Helper()
	b := &box{t: t, root: t.TempDir()}
	b.outside, b.dut = wires(t, name)
	b.server = sshtest.Start(t, sshtest.Options{Namespace: b.dut, Listen: "198.18.77.2", Env: hostRoot(t, b.root)})
	if out, err := b.linerate(time.Minute, b.over("status")...); err != nil {
		t.Fatalf("the host is not reachable before the test: %v: %s", err, out)
	}
	return b
}

func (b *box) over(args ...string) []string {
	return append(args, "ssh://box", "--ssh-config", b.server.Config)
}

// linerate runs the command from outside the host.
func (b *box) linerate(timeout time.Duration, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, "ip", append([]string{"netns", "exec", b.outside, "linerate"}, args...)...).CombinedOutput()
	return string(out), err
}

func (b *box) makePlan(file string, settings []string) {
	b.t.Helper()
	if out, err := exec.Command("mkplan", append([]string{file}, settings...)...).CombinedOutput(); err != nil {
		b.t.Fatalf("mkplan: %v: %s", err, out)
	}
}

// inside runs a command in the host and returns its output, or "" on an error.
func (b *box) inside(argv ...string) string {
	out, _ := exec.Command("ip", append([]string{"netns", "exec", b.dut}, argv...)...).Output()
	return strings.TrimSpace(string(out))
}

// state returns what a lockout may change: routes, links, addresses, the firewall.
func (b *box) state() string {
	return b.inside("sh", "-c", `ip -4 route; for d in wa wb; do cat /sys/class/net/$d/mtu; ip -o link show $d | grep -o "state [A-Z]*"; sysctl net.ipv4.conf.$d.rp_filter; done; ip -4 -o addr; nft list ruleset`)
}

// comesBack waits until the host is reachable from outside and reports why it was rolled back.
func (b *box) comesBack() {
	b.t.Helper()
	var back string
	var err error
	labtest.Eventually(func() bool {
		back, err = b.linerate(30*time.Second, b.over("status")...)
		return err == nil && strings.Contains(back, "nothing is pending")
	})
	if err != nil || !strings.Contains(back, "nobody confirmed in time") {
		b.t.Fatalf("the host did not come back: %v: %s", err, back)
	}
}

// cutOff runs an apply until it has cut its own network path, and kills it there.
func (b *box) cutOff(probe []string, cut string, args []string) {
	b.t.Helper()
	cmd := exec.Command("ip", append([]string{"netns", "exec", b.outside, "linerate"}, args...)...)
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for range 2400 {
		if b.inside(probe...) == cut {
			_ = cmd.Process.Kill()
			<-ended
			return
		}
		select {
		case err := <-ended:
			b.t.Fatalf("the plan should have cut the network, but apply ended with %v", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
	_ = cmd.Process.Kill()
	b.t.Fatal("nothing was applied")
}
