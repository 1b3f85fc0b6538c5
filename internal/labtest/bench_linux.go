package labtest

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// Bench is three machines as network namespaces: a generator and a receiver with a router
// in between, each with a separate management interface to this machine.
//
//	Generator gen0 198.18.0.1/16 ── dut0 198.18.255.254 DUT
//	DUT dut1 198.19.255.254/16 ── rx0 198.19.0.1 Receiver
//	Generator gen1 ── rx1 Receiver, without a DUT
type Bench struct {
	Generator, DUT, Receiver string // names of the namespaces
	// Addresses of the management interfaces (mgmt0), by namespace.
	Addresses map[string]string
}

// NewBench creates a bench that is removed when t ends.
func NewBench(t testing.TB) *Bench {
	t.Helper()
	Program(t, "ethtool")
	id := benchID()
	slot := slot(t, id)
	b := &Bench{Addresses: map[string]string{}}
	for i, n := range []*string{&b.Generator, &b.DUT, &b.Receiver} {
		*n = fmt.Sprintf(Prefix+"b%s-%d", id, i)
		b.namespace(t, *n, i, id, slot)
	}
	b.Wire(t, b.Generator, "gen0", b.DUT, "dut0")
	b.Wire(t, b.DUT, "dut1", b.Receiver, "rx0")
	b.Wire(t, b.Generator, "gen1", b.Receiver, "rx1")
	for _, a := range [][3]string{{b.Generator, "gen0", "198.18.0.1/16"}, {b.DUT, "dut0", "198.18.255.254/16"}, {b.DUT, "dut1", "198.19.255.254/16"}, {b.Receiver, "rx0", "198.19.0.1/16"}} {
		b.Run(t, a[0], "ip", "addr", "add", a[2], "dev", a[1])
	}
	b.Run(t, b.Generator, "ip", "route", "add", "198.19.0.0/16", "via", "198.18.255.254")
	b.Run(t, b.Receiver, "ip", "route", "add", "198.18.0.0/16", "via", "198.19.255.254")
	b.Run(t, b.DUT, "sysctl", "-qw", "net.ipv4.ip_forward=1")
	return b
}

// benches counts the benches of this process.
var benches atomic.Uint32

// benchID returns a part of a bench's names: unique for this process and up to
// 26 benches at once. A device's name has at most 15 characters.
func benchID() string {
	return fmt.Sprintf("%d%c", os.Getpid()%100_000, 'a'+(benches.Add(1)-1)%26)
}

// slot reserves a set of management networks that no other bench on this
// machine uses, and removes what the last bench there left behind.
func slot(t testing.TB, id string) int {
	t.Helper()
	for n := range 16 {
		f, err := os.OpenFile(lockPath(fmt.Sprintf("bench%d", n)), os.O_CREATE|os.O_RDWR, 0o666)
		if err != nil {
			t.Fatalf("open the lock of a bench: %v", err)
		}
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			t.Cleanup(func() {
				_ = f.Truncate(0) // a remaining name means leftovers; a later bench may reuse the name
				f.Close()
			})
			takeOver(t, f, n, id)
			return n
		}
		f.Close()
	}
	t.Fatal("sixteen benches are up on this machine")
	return 0
}

// takeOver removes the bench named in the lock file, whose owner was killed,
// and any device that still has an address in the slot's networks, since a
// second device with it would get the bench's connections. It then writes this
// bench's name to the file.
func takeOver(t testing.TB, f *os.File, slot int, id string) {
	t.Helper()
	was, err := io.ReadAll(io.LimitReader(f, 64))
	if err != nil {
		t.Fatalf("read the lock of a bench: %v", err)
	}
	for i := range 3 {
		if len(was) > 0 {
			_ = exec.Command("ip", "netns", "del", fmt.Sprintf(Prefix+"b%s-%d", was, i)).Run()
		}
		out, err := exec.Command("ip", "-o", "-4", "addr", "show", "to", network(slot, i)+"1").Output()
		if err != nil {
			t.Fatalf("look for what a bench left behind: %v", err)
		}
		for _, line := range strings.Split(string(out), "\n") {
			fields := strings.Fields(line) // "7: lrtm4711-0    inet 198.18.200.1/24 …"
			if len(fields) > 1 && strings.HasPrefix(fields[1], Prefix) {
				_ = exec.Command("ip", "link", "del", fields[1]).Run() // it may be disappearing with its namespace
			}
		}
	}
	if err := f.Truncate(0); err != nil {
		t.Fatalf("name the bench in its lock: %v", err)
	}
	if _, err := f.WriteAt([]byte(id), 0); err != nil {
		t.Fatalf("name the bench in its lock: %v", err)
	}
}

// network returns the management network of the i-th machine in a slot's
// bench, without the last byte.
func network(slot, i int) string { return fmt.Sprintf("198.18.%d.", 200+3*slot+i) }

func (b *Bench) namespace(t testing.TB, name string, i int, id string, slot int) {
	t.Helper()
	sh(t, "ip", "netns", "add", name)
	t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", name).Run() })
	for _, s := range []string{"net.ipv6.conf.all.disable_ipv6=1", "net.ipv6.conf.default.disable_ipv6=1"} {
		_ = exec.Command("ip", "netns", "exec", name, "sysctl", "-qw", s).Run() // fails on a kernel without IPv6
	}
	sh(t, "ip", "-n", name, "link", "set", "lo", "up")
	here := fmt.Sprintf(Prefix+"m%s-%d", id, i)
	net := network(slot, i)
	b.Addresses[name] = net + "2"
	sh(t, "ip", "link", "add", here, "type", "veth", "peer", "name", "mgmt0", "netns", name)
	t.Cleanup(func() { _ = exec.Command("ip", "link", "del", here).Run() })
	sh(t, "ip", "addr", "add", net+"1/24", "dev", here)
	sh(t, "ip", "link", "set", here, "up")
	b.Run(t, name, "ip", "addr", "add", net+"2/24", "dev", "mgmt0")
	b.Run(t, name, "ip", "link", "set", "mgmt0", "up")
}

// Wire connects two namespaces by interfaces with these names, both up.
func (b *Bench) Wire(t testing.TB, from, a, to, z string) {
	t.Helper()
	sh(t, "ip", "-n", from, "link", "add", a, "type", "veth", "peer", "name", z, "netns", to)
	for _, e := range [][2]string{{from, a}, {to, z}} {
		sh(t, "ip", "-n", e[0], "link", "set", e[1], "up")
		b.Run(t, e[0], "ethtool", "-K", e[1], "gro", "on") // a veth loses it while it is down
	}
}

// Run runs a command in a namespace and returns its output.
func (b *Bench) Run(t testing.TB, namespace string, argv ...string) string {
	t.Helper()
	return sh(t, append([]string{"ip", "netns", "exec", namespace}, argv...)...)
}

// In runs f on a thread inside a namespace.
func (b *Bench) In(namespace string, f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		ns, err := os.Open("/run/netns/" + namespace)
		if err == nil {
			err = unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET)
			ns.Close()
		}
		if err == nil {
			err = f()
		}
		done <- err
	}()
	return <-done
}

func sh(t testing.TB, argv ...string) string {
	t.Helper()
	out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", strings.Join(argv, " "), err, out)
	}
	return string(out)
}
