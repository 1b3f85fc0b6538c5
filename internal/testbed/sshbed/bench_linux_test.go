package sshbed

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"linerate/internal/host/sshhost"
	"linerate/internal/host/sshhost/sshtest"
	"linerate/internal/labtest"
	"linerate/internal/port"
	"linerate/internal/setting"
	"linerate/internal/testbed"
	"linerate/internal/testbed/bedtest"
)

func TestMain(m *testing.M) {
	labtest.SideBySide()
	labtest.InMemory()
	os.Exit(m.Run())
}

// bench is a testbed of network namespaces, each with a real sshd.
type bench struct {
	*labtest.Bench
	root    string // the DUT's files
	servers map[string]*sshtest.Server
	file    testbed.File
}

const benchFile = `hosts:
  dut: {ssh: ssh://dut, management: mgmt0}
  generator: {ssh: ssh://generator, management: mgmt0}
  receiver: {ssh: ssh://receiver, management: mgmt0}
wires:
  - {from: generator/gen0, to: dut/dut0}
  - {from: dut/dut1, to: receiver/rx0}
  - {from: generator/gen1, to: receiver/rx1}
reboot: {wait: 2m, attempts: 2}
`

func newBench(t testing.TB) *bench {
	t.Helper()
	labtest.Namespaces(t)
	b := &bench{Bench: labtest.NewBench(t), root: inMemory(t), servers: map[string]*sshtest.Server{}}
	for _, d := range []string{"etc/init.d", "etc/rcS.d", "etc/sysctl.d", "boot", "var/lib"} {
		if err := os.MkdirAll(filepath.Join(b.root, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for role, ns := range map[string]string{testbed.DUT: b.DUT, testbed.Generator: b.Generator, testbed.Receiver: b.Receiver} {
		b.servers[role] = sshtest.Start(t, sshtest.Options{Namespace: ns, Listen: b.Addresses[ns],
			Env: []string{"LINERATE_ROOT=" + b.root, "LINERATE_INIT=sysv"}})
	}
	var err error
	if b.file, err = testbed.Parse("bench.yaml", []byte(benchFile)); err != nil {
		t.Fatal(err)
	}
	return b
}

// inMemory returns a directory whose files are durable at once, because the time that a journal waits
// for a busy disk is irrelevant to these tests.
func inMemory(t testing.TB) string {
	const shm = "/dev/shm"
	if _, err := os.Stat(shm); err != nil {
		return t.TempDir()
	}
	// Directories left by killed runs use memory.
	dead, _ := filepath.Glob(shm + "/linerate-test-*-*")
	for _, d := range dead {
		if _, err := os.Stat("/proc/" + strings.Split(filepath.Base(d), "-")[2]); errors.Is(err, fs.ErrNotExist) {
			_ = os.RemoveAll(d)
		}
	}
	dir, err := os.MkdirTemp(shm, fmt.Sprintf("linerate-test-%d-", os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// conn connects to a machine of the bench.
func (b *bench) conn(t testing.TB, role string) Conn {
	config := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(config, []byte(b.servers[role].ClientConfig(role)), 0o600); err != nil {
		t.Fatal(err)
	}
	return &sshhost.Runner{Name: "ssh://" + role, Dial: func(ctx context.Context) (*sshhost.Client, error) {
		target, err := sshhost.ParseTarget("ssh://" + role)
		if err != nil {
			return nil, err
		}
		return sshhost.Dial(ctx, target, sshhost.Options{Config: config, Alive: 10 * time.Second})
	}}
}

func (b *bench) options(t testing.TB) Options {
	return Options{File: b.file, DUT: b.conn(t, testbed.DUT), Generator: b.conn(t, testbed.Generator), Receiver: b.conn(t, testbed.Receiver),
		Window: time.Minute, Owner: "test-study", poll: 100 * time.Millisecond, Say: t.Logf}
}

func (b *bench) up(t testing.TB, change func(*Options)) *Bed {
	t.Helper()
	o := b.options(t)
	if change != nil {
		change(&o)
	}
	bed, err := Up(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := bed.Close(); err != nil {
			t.Error(err)
		}
	})
	return bed
}

// offer sends datagrams from one outer port to another and returns how many arrive.
func (b *bench) offer(t testing.TB, _ testbed.Bed, from, to port.Port, n int, inVain bool) int {
	t.Helper()
	patience := 10 * time.Second
	if inVain {
		patience = 500 * time.Millisecond
	}
	at := func(p port.Port) port.Place {
		namespace := map[port.Side]string{port.GeneratorSide: b.Generator, port.ReceiverSide: b.Receiver}[p.Side]
		return func(f func() error) error { return b.In(namespace, f) }
	}
	return bedtest.Datagrams(t, from.IPv4.Addr(), to.IPv4.Addr(), [2]port.Place{at(from), at(to)}, n, time.Now().Add(patience))
}

// snapshot returns everything on the DUT that a study could change.
func (b *bench) snapshot(t testing.TB) string {
	t.Helper()
	files, err := exec.Command("sh", "-c", `cd "$1" && find . -type d | sort && find . -type f -exec sh -c 'stat -c "%n %a %u %g" "$1"; md5sum "$1"' x {} \; | sort`, "sh", b.root).CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	return string(files) + b.Run(t, b.DUT, "sysctl", "net.ipv4.ip_forward", "net.ipv4.tcp_keepalive_time", "net.ipv4.ip_default_ttl") +
		b.Run(t, b.DUT, "sh", "-c", "exec 2>/dev/null; ip link; ip addr; ip route; nft list ruleset") // ip fails if another test's namespace is being deleted
}

func TestConformance(t *testing.T) {
	labtest.Lock(t) // the suite counts frames
	b := newBench(t)
	for device, want := range map[string]bool{"dut0": true, "lo": false} {
		if p, err := PortOf(t.Context(), b.conn(t, testbed.DUT), device); err != nil || p.AtOnce != want {
			t.Errorf("%s counts at once: %v, %v; want %v", device, p.AtOnce, err, want)
		}
	}
	b.secondWay(t)
	b.knowNeighbours(t)
	for name, change := range map[string]func(*Options){
		"reached":   func(*Options) {},
		"unreached": func(o *Options) { o.DUT.Close(); o.DUT, o.File.Hosts.DUT = nil, nil },
	} {
		t.Run(name, func(t *testing.T) {
			bedtest.Conform(t, bedtest.Suite{
				Up: func(t testing.TB) testbed.Bed {
					bed := b.up(t, change)
					for _, w := range bed.DUT().Ways() { // resolve neighbours before frames are counted
						b.offer(t, bed, w.Generator, w.Receiver, 1, false)
						b.offer(t, bed, w.Receiver, w.Generator, 1, false)
					}
					return bed
				},
				Offer:     b.offer,
				Closed:    setting.Setting{Mechanism: setting.Sysctl, Name: "net.ipv4.ip_forward", Value: "0"},
				Unreached: name == "unreached",
			})
		})
	}
}

// knowNeighbours prevents the machines from resolving known neighbours again while frames are counted.
func (b *bench) knowNeighbours(t testing.TB) {
	t.Helper()
	for _, ns := range []string{b.Generator, b.DUT, b.Receiver} {
		b.Run(t, ns, "sh", "-c", "for f in /proc/sys/net/ipv4/neigh/*/delay_first_probe_time; do echo 3600 >$f; done")
	}
}

// secondWay adds a path through the DUT, in separate networks.
func (b *bench) secondWay(t testing.TB) {
	t.Helper()
	for _, w := range [][6]string{
		{b.Generator, "gen2", "198.18.100.1/24", "dut2", "198.18.100.254/24", "198.19.100.0/24"},
		{b.Receiver, "rx2", "198.19.100.1/24", "dut3", "198.19.100.254/24", "198.18.100.0/24"},
	} {
		b.Wire(t, w[0], w[1], b.DUT, w[3])
		b.Run(t, w[0], "ip", "addr", "add", w[2], "dev", w[1])
		b.Run(t, b.DUT, "ip", "addr", "add", w[4], "dev", w[3])
		b.Run(t, w[0], "ip", "route", "add", w[5], "via", strings.TrimSuffix(w[4], "/24"))
	}
	b.file.Wires = append(b.file.Wires, testbed.Wire{From: "generator/gen2", To: "dut/dut2"}, testbed.Wire{From: "dut/dut3", To: "receiver/rx2"})
}

func eq(t testing.TB, what, got, want string) {
	t.Helper()
	if got != want {
		g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
		for i := range min(len(g), len(w)) {
			if g[i] != w[i] {
				t.Errorf("%s: line %d is %q, was %q", what, i, g[i], w[i])
				return
			}
		}
		t.Errorf("%s: %d lines, were %d: %s", what, len(g), len(w), fmt.Sprint(g[min(len(g), len(w)):], w[min(len(g), len(w)):]))
	}
}
