package instrument

import (
	"net"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"linerate/internal/labtest"
)

// TestSoftirqsGrowWithPackets sends packets through the loopback of a namespace, each of
// which is a softirq's work or shares one.
func TestSoftirqsGrowWithPackets(t *testing.T) {
	if os.Getuid() != 0 {
		labtest.Lacking(t, "needs root: it attaches programs to the kernel's tracepoints")
	}
	k, err := OpenKernelClock()
	if err != nil {
		labtest.Lacking(t, "%v", err)
	}
	defer k.Close()
	cpus, err := online()
	if err != nil {
		t.Fatal(err)
	}
	send, done := inNamespace(t)
	defer done()
	var exact []time.Duration
	for _, n := range []int{20_000, 200_000} {
		before, err := k.Read()
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		send(n)
		after, err := k.Read()
		if err != nil {
			t.Fatal(err)
		}
		spent, most := after.All-before.All, time.Since(start)*time.Duration(len(cpus))
		softirqs := after.Interrupts - before.Interrupts
		if rest := spent - softirqs; rest != after.Ticked-before.Ticked {
			t.Errorf("%d packets: %s beside interrupts, of which ticks tell %s", n, rest, after.Ticked-before.Ticked)
		}
		if slack := 20 * time.Millisecond * time.Duration(len(cpus)); spent > most+slack { // ticks, and what was not over
			t.Errorf("%d packets: the kernel took %s of %s on %d CPUs", n, spent, most, len(cpus))
		}
		// What UDP over the loopback takes is some hundreds of nanoseconds a packet.
		if least := time.Duration(n) * 50 * time.Nanosecond; softirqs < least {
			t.Errorf("%d packets took %s of softirqs, not even %s", n, softirqs, least)
		}
		exact = append(exact, softirqs)
	}
	if exact[1] < 2*exact[0] {
		t.Errorf("ten times the packets took %s of softirqs instead of %s", exact[1], exact[0])
	}
}

// TestProgramsEnd has no program left where its descriptors were closed, which is what the
// kernel does of any process that ends.
func TestProgramsEnd(t *testing.T) {
	clock, err := OpenKernelClock()
	if err != nil {
		labtest.Lacking(t, "%v", err)
	}
	info, err := clock.(*tracepoints).objs.SoftBegins.Info()
	if err != nil {
		t.Fatal(err)
	}
	id, known := info.ID()
	there := func() bool {
		p, err := ebpf.NewProgramFromID(id)
		if err == nil {
			p.Close()
		}
		return err == nil
	}
	if !known || !there() {
		t.Fatalf("program %d is not there while it counts", id)
	}
	if err := clock.Close(); err != nil || !labtest.Eventually(func() bool { return !there() }) {
		t.Errorf("program %d is still there: %v", id, err)
	}
}

// inNamespace returns what sends packets over the loopback of a new network namespace.
func inNamespace(t *testing.T) (send func(n int), done func()) {
	t.Helper()
	jobs, over := make(chan int), make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with its namespace
		over <- func() error {
			if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
				return err
			}
			return exec.Command("ip", "link", "set", "lo", "up").Run()
		}()
		to, err := net.ListenPacket("udp", "127.0.0.1:0")
		var from net.Conn
		if err == nil {
			defer to.Close() // and so it is not collected before
			from, err = net.Dial("udp", to.LocalAddr().String())
		}
		for n := range jobs {
			for i := 0; i < n && err == nil; i++ {
				_, err = from.Write([]byte("a packet"))
			}
			over <- err
		}
	}()
	if err := <-over; err != nil {
		labtest.Lacking(t, "no network namespace here: %v", err)
	}
	return func(n int) {
		jobs <- n
		if err := <-over; err != nil {
			t.Fatal(err)
		}
	}, func() { close(jobs) }
}
