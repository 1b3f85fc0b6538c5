package wire_test

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"linerate/internal/hint"
	"linerate/internal/labtest"
	"linerate/internal/load"
	"linerate/internal/load/wire"
	"linerate/internal/load/wire/wiretest"
	"linerate/internal/port"
)

func place(t *testing.T, in port.Place, f func() error) {
	t.Helper()
	if err := in(f); err != nil {
		t.Fatal(err)
	}
}

func TestLook(t *testing.T) {
	labtest.Namespaces(t)
	gen, sink := wiretest.New(t)
	d, err := wire.Look(gen.Device, gen.In)
	if err != nil {
		t.Fatal(err)
	}
	if !d.Veth || !d.Up || !d.Carrier || d.MTU != 1500 || d.Queues != 1 || d.MAC.String() != gen.MAC.String() || d.Index == 0 {
		t.Errorf("%+v", d)
	}
	other, err := wire.Look(sink.Device, sink.In)
	if err != nil || other.Netns == d.Netns || d.Netns == 0 {
		t.Errorf("namespaces %d and %d, %v", d.Netns, other.Netns, err)
	}
}

// TestLookRefuses: reasons why a device cannot carry traffic are reported with advice.
func TestLookRefuses(t *testing.T) {
	labtest.Namespaces(t)
	gen, sink := wiretest.New(t)
	down := func(e wiretest.End) {
		place(t, e.In, func() error {
			link, err := netlink.LinkByName(e.Device)
			return errors.Join(err, netlink.LinkSetDown(link))
		})
	}
	if _, err := wire.Look("gen1", gen.In); err == nil || !strings.Contains(hint.Of(err), "gen0") {
		t.Errorf("a misspelt name: %v, hint %q", err, hint.Of(err))
	}
	down(sink)
	if _, err := wire.Look(gen.Device, gen.In); err == nil || !strings.Contains(err.Error(), "no carrier") {
		t.Errorf("the other end is down: %v", err)
	}
	down(gen)
	if _, err := wire.Look(gen.Device, gen.In); err == nil || !strings.Contains(err.Error(), "is down") || hint.Of(err) == "" {
		t.Errorf("the device is down: %v", err)
	}
}

func TestFits(t *testing.T) {
	d := wire.Device{Name: "eth0", MTU: 1500}
	if err := wire.Fits(d, []int{64, 1518}); err != nil {
		t.Error(err)
	}
	if err := wire.Fits(d, []int{64, 1519}); !hint.IsUsage(err) || !strings.Contains(hint.Of(err), "mtu 1501") {
		t.Errorf("%v, hint %q", err, hint.Of(err))
	}
}

// listen opens a socket that captures what arrives at an end.
func listen(t *testing.T, e wiretest.End) func() []byte {
	t.Helper()
	fd := -1
	place(t, e.In, func() (err error) {
		if fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0); err != nil {
			return err
		}
		link, err := netlink.LinkByName(e.Device)
		if err != nil {
			return err
		}
		return errors.Join(unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: 0x0300, Ifindex: link.Attrs().Index}),
			unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Usec: 200_000}))
	})
	t.Cleanup(func() { unix.Close(fd) })
	return func() []byte {
		b := make([]byte, 2048)
		n, err := unix.Read(fd, b)
		if err != nil {
			return nil
		}
		return b[:n]
	}
}

// TestSendEnds: every worker's account arrives completely and repeatedly, with the addresses of several
// flows, in frames that fit any link.
func TestSendEnds(t *testing.T) {
	labtest.Namespaces(t)
	gen, sink := wiretest.New(t)
	d, err := wire.Look(gen.Device, gen.In)
	if err != nil {
		t.Fatal(err)
	}
	s, err := wire.Open(d, gen.In)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const flows = 900
	f, err := load.NewFramer(load.Spec{SrcMAC: gen.MAC, DstMAC: sink.MAC, Stream: 5, Sizes: []int{64},
		Flows: load.FlowSpace{Count: flows, Random: true, Src: netip.MustParseAddr("198.18.0.1"), Dst: netip.MustParseAddr("198.19.0.1"), SrcSpan: 50}})
	if err != nil {
		t.Fatal(err)
	}
	next := listen(t, sink)
	workers := []wire.Worker{{Total: 1000}, {Total: 2000, NeverLeft: 500}}
	if err := wire.SendEnds(context.Background(), s.Send, f, load.Stamp{Stream: 5, Run: 9}, workers); err != nil {
		t.Fatal(err)
	}
	var ends load.Endings
	of, messages, sources := load.StreamRun{Stream: 5, Run: 9}, 0, map[string]bool{}
	for b := next(); b != nil; b = next() {
		found, ok := load.FindStamp(b)
		if !ok || found.Kind != load.End || len(b) > 128 {
			t.Fatalf("a frame of %d bytes is no end of stream", len(b))
		}
		m, err := load.ReadEnding(found.Rest)
		if err != nil {
			t.Fatal(err)
		}
		ends.Add(of, m)
		messages++
		sources[string(b[26:30])] = true
	}
	if !ends.Complete(of) || ends.Sent(of) != 2500 {
		t.Errorf("complete %v, %d frames sent, want 2500", ends.Complete(of), ends.Sent(of))
	}
	if messages != 5*len(workers) || len(sources) < 3 {
		t.Errorf("%d messages from %d addresses: one lost frame or blocked flow could lose the account", messages, len(sources))
	}
}

// TestSendGivesUp: a frame that no device accepts is an error, and does not block.
func TestSendGivesUp(t *testing.T) {
	labtest.Namespaces(t)
	gen, _ := wiretest.New(t)
	d, err := wire.Look(gen.Device, gen.In)
	if err != nil {
		t.Fatal(err)
	}
	s, err := wire.Open(d, gen.In)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Send(make([]byte, 9000)); err == nil || !strings.Contains(err.Error(), "9000 bytes") {
		t.Errorf("a frame beyond the MTU: %v", err)
	}
}

func TestOnCPU(t *testing.T) {
	var during, after unix.CPUSet
	err := wire.OnCPU(0, func(tid int) error {
		if tid != unix.Gettid() {
			t.Errorf("thread %d is told to be %d", unix.Gettid(), tid)
		}
		return unix.SchedGetaffinity(0, &during)
	})
	if err != nil || during.Count() != 1 || !during.IsSet(0) {
		t.Errorf("%d CPUs, %v", during.Count(), err)
	}
	if err := unix.SchedGetaffinity(os.Getpid(), &after); err != nil || after.Count() < 1 {
		t.Fatal(err)
	}
	if err := wire.OnCPU(1000, func(int) error { return nil }); err == nil || !strings.Contains(hint.Of(err), "may use CPUs") {
		t.Errorf("a CPU that does not exist: %v", err)
	}
}

// TestWakeInterrupts: Wake interrupts a long system call of a pinned worker, and no other signal does.
func TestWakeInterrupts(t *testing.T) {
	tids, ended := make(chan int, 1), make(chan error, 1)
	go func() {
		ended <- wire.OnCPU(-1, func(tid int) error {
			tids <- tid
			return unix.Pause()
		})
	}()
	tid := <-tids
	if err := unix.Tgkill(os.Getpid(), tid, unix.SIGUSR2); err != nil {
		t.Fatal(err)
	}
	deadline := time.After(labtest.Patience)
	for {
		wire.Wake(tid)
		select {
		case err := <-ended:
			if !errors.Is(err, unix.EINTR) {
				t.Errorf("got %v, want EINTR", err)
			}
			return
		case <-deadline:
			t.Fatal("the worker still waits")
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func TestClockIsTheKernels(t *testing.T) {
	c := wire.NewClock()
	before := wire.Monotonic()
	now := c.Now()
	after := wire.Monotonic()
	if now+1e6 < before || now > after+1e6 {
		t.Errorf("%d is not between %d and %d, to a millisecond", now, before, after)
	}
}
