//go:build linux || freebsd

package packetload

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/hint"
	"linerate/internal/load"
	"linerate/internal/load/wire"
	"linerate/internal/port"
)

// wireOf is a link between senders and receivers, with sockets instead of bpf descriptors: what is sent
// through device "gen1" is captured by receivers on "sink1", in buffers with the layout of bpf(4).
type wireOf struct {
	t       *testing.T
	mu      sync.Mutex
	opened  []*os.File
	sinks   map[string][]int // a device's receiving descriptors, by their other ends
	lose    bool             // frames sent from now on are lost
	carried atomic.Int64     // frames that arrived
	drops   atomic.Uint32
	refuse  error // error of a later open
	after   int   // opens before that
	// unreadable opens descriptors for writing only: every system refuses to read them.
	unreadable bool
}

func newWire(t *testing.T) (*wireOf, bpfEngine) {
	w := &wireOf{t: t, after: -1, sinks: map[string][]int{}}
	t.Cleanup(func() {
		for _, ends := range w.sinks {
			for _, end := range ends {
				unix.Close(end)
			}
		}
	})
	return w, bpfEngine{w.open, func(*os.File) (uint32, error) { return w.drops.Load(), nil }}
}

// open implements wire.Door.
func (w *wireOf) open(o wire.Order) (wire.Opened, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.after--; w.after < 0 && w.refuse != nil {
		return wire.Opened{}, w.refuse
	}
	if w.unreadable {
		f, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		w.opened = append(w.opened, f)
		return wire.Opened{File: f, Buffer: 1 << 16}, err
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET, 0)
	if err != nil {
		return wire.Opened{}, err
	}
	switch {
	case o.Receive:
		wait := unix.Timeval{Usec: 2000} // BIOCSRTIMEOUT
		if err := unix.SetsockoptTimeval(pair[0], unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait); err != nil {
			return wire.Opened{}, err
		}
		w.sinks[o.Device] = append(w.sinks[o.Device], pair[1])
	case w.lose:
		w.sinks[""] = append(w.sinks[""], pair[1])
	default:
		go w.carry(pair[1], strings.Replace(o.Device, "gen", "sink", 1))
	}
	f := os.NewFile(uintptr(pair[0]), o.Device)
	w.opened = append(w.opened, f)
	return wire.Opened{File: f, Buffer: 1 << 16, Device: wire.Device{Name: o.Device, MTU: 1500, MAC: net.HardwareAddr{2, 0, 0, 0, 0, 1}}}, nil
}

// carry delivers what is sent at one end to a device's receivers, until that end is closed.
func (w *wireOf) carry(from int, to string) {
	defer unix.Close(from)
	frame := make([]byte, 2048)
	for {
		n, err := unix.Read(from, frame)
		if n <= 0 || err != nil {
			return
		}
		w.carried.Add(1)
		w.deliver(to, frame[:n])
	}
}

// deliver captures frames, in one buffer, at a device's receivers.
func (w *wireOf) deliver(to string, frames ...[]byte) {
	var buffer []byte
	for _, f := range frames {
		buffer = put(buffer, wire.Monotonic(), f)
	}
	w.mu.Lock()
	sinks := w.sinks[to]
	w.mu.Unlock()
	for _, s := range sinks {
		_, _ = unix.Write(s, buffer) // a closed receiver captures nothing
	}
}

// allClosed fails the test if an opened descriptor was not closed.
func (w *wireOf) allClosed() {
	w.t.Helper()
	for _, f := range w.opened {
		if !errors.Is(f.Close(), os.ErrClosed) {
			w.t.Errorf("a descriptor of %s was left open", f.Name())
		}
	}
}

func specOf(flows int) load.Spec {
	return load.Spec{Device: "gen", Stream: 7, SrcMAC: net.HardwareAddr{2, 0, 0, 0, 0, 1}, DstMAC: net.HardwareAddr{2, 0, 0, 0, 0, 2}, Sizes: []int{64}, Ends: 1, Seed: 3,
		Flows: load.FlowSpace{Count: flows, Src: netip.MustParseAddr("198.18.0.1"), Dst: netip.MustParseAddr("198.19.0.1")}}
}

// run sends frames and returns the account of what was sent.
func run(t *testing.T, e bpfEngine, spec load.Spec, packets uint64) load.Sent {
	t.Helper()
	g, err := e.NewGenerator(spec, port.Here)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	sent, err := g.Run(t.Context(), load.Offer{Limit: load.Limit{Packets: packets}})
	if err != nil {
		t.Fatal(err)
	}
	return sent
}

// TestSentIsReceived: two workers on separate descriptors, and every frame is in the account; a frame
// that is not linerate's is foreign.
func TestSentIsReceived(t *testing.T) {
	w, e := newWire(t)
	r, err := e.NewReceiver("sink", port.Here, load.Watch{Stream: -1})
	if err != nil {
		t.Fatal(err)
	}
	w.deliver("sink", make([]byte, 60), make([]byte, 60))
	spec := specOf(10)
	spec.CPUs = []int{-1, -1}
	sent := run(t, e, spec, 300)
	got, err := r.Finish(t.Context(), time.Minute)
	if err != nil || sent.TxPackets != 300 || got.RxPackets != 300 || got.Lost == nil || *got.Lost != 0 || got.FlowsSeen != 10 || got.Foreign != 2 ||
		got.Engine != BPF || got.RxBytes != sent.TxBytes || got.Latency == nil {
		t.Errorf("sent %+v\nreceived %+v, %v", sent, got, err)
	}
	if n := len(w.opened); n != 3 {
		t.Errorf("%d descriptors for one receiver and two workers", n)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	w.allClosed()
}

// TestReceiverWatches: only the chosen stream counts, Reset starts again, and frames that the kernel
// dropped since then are reported.
func TestReceiverWatches(t *testing.T) {
	w, e := newWire(t)
	w.drops.Store(5) // before the receiver existed
	r, err := e.NewReceiver("sink", port.Here, load.Watch{Stream: 7})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	other := specOf(3)
	other.Stream = 8
	run(t, e, other, 50)
	run(t, e, specOf(3), 20)
	got, err := r.Finish(t.Context(), time.Minute)
	if err != nil || got.RxPackets != 20 || got.Foreign != 0 || got.Dropped != 0 || len(got.Warnings) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	w.drops.Store(9)
	if got, err = r.Snapshot(); err != nil || got.Dropped != 4 || len(got.Warnings) != 1 || !strings.HasPrefix(got.Warnings[0], "4 frames arrived faster") {
		t.Errorf("%+v, %v", got, err)
	}
	if err := r.Reset(); err != nil {
		t.Fatal(err)
	}
	if got, err = r.Snapshot(); err != nil || got.RxPackets != 0 || got.Dropped != 0 || got.Lost != nil {
		t.Errorf("after a reset: %+v, %v", got, err)
	}
}

// TestReceiverFails: failures to read or query a descriptor are returned to the caller, and leave
// nothing open.
func TestReceiverFails(t *testing.T) {
	w, e := newWire(t)
	w.unreadable = true
	r, err := e.NewReceiver("sink", port.Here, load.Watch{Stream: -1})
	if err != nil {
		t.Fatal(err)
	}
	<-r.(*Receiver).done
	if _, err := r.Snapshot(); err == nil || !strings.HasPrefix(err.Error(), "read captured frames: ") {
		t.Errorf("a descriptor that cannot be read: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	w, e = newWire(t)
	broken := errors.New("no statistics")
	e.dropped = func(*os.File) (uint32, error) { return 0, broken }
	if _, err := e.NewReceiver("sink", port.Here, load.Watch{Stream: -1}); !errors.Is(err, broken) {
		t.Errorf("a descriptor without statistics: %v", err)
	}
	w.allClosed()
	w.refuse = errors.New("no descriptor")
	if _, err := e.NewReceiver("sink", port.Here, load.Watch{}); !errors.Is(err, w.refuse) {
		t.Errorf("%v", err)
	}
}

// TestSend: a full queue is not an error, a device that disappeared is.
func TestSend(t *testing.T) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &bpfPort{os.NewFile(uintptr(pair[0]), "gen"), "gen"}
	if err := unix.SetNonblock(pair[0], true); err != nil {
		t.Fatal(err)
	}
	frames := make([][]byte, 100_000)
	for i := range frames {
		frames[i] = make([]byte, 60)
	}
	n, err := p.Send(frames)
	if err != nil || n == 0 || n == len(frames) {
		t.Fatalf("%d of %d frames went into a queue that nobody empties, %v", n, len(frames), err)
	}
	if more, err := p.Send(frames); more != 0 || err != nil {
		t.Errorf("%d more, %v", more, err)
	}
	unix.Close(pair[1])
	if _, err := p.Send(frames); err == nil || !strings.HasPrefix(err.Error(), "send a frame of 60 bytes through gen: ") || hint.Of(err) != "is the device still up? ifconfig gen" {
		t.Errorf("%v, hint %q", err, hint.Of(err))
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// TestGeneratorClosesWhatItOpened: whichever open fails, or if a frame exceeds the MTU.
func TestGeneratorClosesWhatItOpened(t *testing.T) {
	spec := specOf(10)
	spec.CPUs = []int{-1, -1, -1}
	for _, after := range []int{0, 1, 2} {
		w, e := newWire(t)
		w.refuse, w.after = errors.New("no descriptor"), after
		if _, err := e.NewGenerator(spec, port.Here); !errors.Is(err, w.refuse) {
			t.Errorf("after %d openings: %v", after, err)
		}
		w.allClosed()
	}
	w, e := newWire(t)
	spec.Sizes = []int{4000}
	if _, err := e.NewGenerator(spec, port.Here); err == nil {
		t.Error("a frame larger than the device's MTU is accepted")
	}
	w.allClosed()
}
