//go:build linux || freebsd

package packetload

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"linerate/internal/load"
	"linerate/internal/load/wire"
	"linerate/internal/port"
	"linerate/internal/wait"
)

// device accepts what take returns of each batch, and keeps copies of all frames.
type device struct {
	mu     sync.Mutex
	take   func(call, n int) (int, error)
	calls  int
	frames [][]byte
	closed int
}

func (d *device) Send(frames [][]byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := len(frames), error(nil)
	if d.take != nil {
		n, err = d.take(d.calls, n)
	}
	d.calls++
	for _, b := range frames[:n] {
		d.frames = append(d.frames, bytes.Clone(b))
	}
	return n, err
}

func (d *device) Close() error { d.closed++; return nil }

// generator returns a generator that sends flows over a device.
func generator(t *testing.T, d *device, change func(*Config)) *Generator {
	t.Helper()
	mac := net.HardwareAddr{2, 0, 0, 0, 0, 1}
	c := Config{Engine: "test", In: port.Here, Device: wire.Device{Name: "dev0", MAC: mac, MTU: 1500}, Open: func() (Port, error) { return d, nil }, Stuck: "look at its cable",
		Spec: load.Spec{DstMAC: mac, Sizes: []int{64}, Seed: 5, Ends: 1, Flows: load.FlowSpace{Count: 10, Src: netip.MustParseAddr("198.18.0.1"), Dst: netip.MustParseAddr("198.19.0.1")}}}
	if change != nil {
		change(&c)
	}
	g, err := NewGenerator(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

func v6(c *Config) {
	c.Spec.Flows.Src, c.Spec.Flows.Dst, c.Spec.Sizes = netip.MustParseAddr("2001:2::1"), netip.MustParseAddr("2001:2::1:1"), []int{128}
}

// TestDue: as many frames are due as the rate gives by a time, the first one at once, never more than a
// batch or the limit; missed ones are made up for.
func TestDue(t *testing.T) {
	for _, c := range []struct {
		interval    float64
		sent, limit uint64
		since       uint64
		want        int
	}{
		{100, 0, math.MaxUint64, 0, 1}, {100, 1, math.MaxUint64, 0, 0}, {100, 1, math.MaxUint64, 99, 0}, {100, 1, math.MaxUint64, 100, 1},
		{100, 5, math.MaxUint64, 949, 5}, {100, 0, math.MaxUint64, 1e6, Batch}, {100, 20, math.MaxUint64, 1000, 0},
		{100, 3, 5, 1e6, 2}, {0, 0, math.MaxUint64, 0, Batch}, {0, 10, 12, 0, 2}, {0.5, 0, math.MaxUint64, 3, 7},
	} {
		w := worker{interval: c.interval, limit: c.limit}
		if got := w.due(c.sent, c.since); got != c.want {
			t.Errorf("%+v: %d are due", c, got)
		}
	}
	// However often it is called, everything due by then has been sent.
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		w := worker{interval: 50 + 1000*r.Float64(), limit: 1 + r.Uint64N(500)}
		sent, now := uint64(0), uint64(0)
		for range 300 {
			now += r.Uint64N(3 * Batch / 4 * 50)
			for n := w.due(sent, now); n > 0; n = w.due(sent, now) {
				sent += uint64(n)
			}
			if want := min(uint64(float64(now)/w.interval)+1, w.limit); sent != want {
				t.Fatalf("interval %g, limit %d: %d sent by %d ns, want %d", w.interval, w.limit, sent, now, want)
			}
		}
	}
}

// TestRest: a worker sleeps only while its next frame is far away, wakes early enough for that frame or
// the end despite timer delays, and sleeps no longer than it may take to react to a stop.
func TestRest(t *testing.T) {
	slept := time.Duration(0)
	was := nap
	nap = func(d time.Duration) { slept = d }
	defer func() { nap = was }()
	const late = wait.Late
	for _, c := range []struct {
		interval, duration time.Duration // duration 0: no end
		sent               uint64
		since              time.Duration
		want               time.Duration
	}{
		{100 * late, 0, 1, 0, min(99*late, longest)}, {100 * late, 0, 1, 97 * late, 2 * late}, {100 * late, 0, 1, 98 * late, 0}, {100 * late, 0, 1, 101 * late, 0},
		{100 * late, 0, 3, 290 * late, 9 * late}, {100 * late, 110 * late, 2, 100 * late, 9 * late}, {100 * late, 101 * late, 2, 100 * late, 0},
		{time.Hour, 0, 1, 0, longest}, {0, 0, 1, 0, 0}, {late, 0, 1, 0, 0},
	} {
		slept = 0
		w := worker{interval: float64(c.interval), duration: c.duration}
		if w.rest(c.sent, uint64(c.since)); slept != min(c.want, longest) {
			t.Errorf("%+v: it slept for %v", c, slept)
		}
	}
}

// TestUnsent: frames that were due and not sent are counted, and a run with a number of frames lasts
// until the interval after its last one is over.
func TestUnsent(t *testing.T) {
	for _, c := range []struct {
		interval             float64
		limit, sent, elapsed uint64
		wantUnsent, wantTime uint64
	}{
		{100, math.MaxUint64, 10, 1000, 0, 1000}, {100, math.MaxUint64, 7, 1000, 3, 1000}, {100, math.MaxUint64, 7, 950, 3, 950}, {100, math.MaxUint64, 12, 1000, 0, 1000},
		{100, 8, 8, 750, 0, 800}, {100, 8, 5, 5000, 3, 5000}, {100, 8, 8, 9000, 0, 9000},
		{0, math.MaxUint64, 7, 1000, 0, 1000}, {0, 7, 7, 0, 0, 1},
	} {
		w := worker{interval: c.interval, limit: c.limit}
		w.close(c.sent, c.elapsed)
		if w.unsent.Load() != c.wantUnsent || w.elapsed.Load() != c.wantTime {
			t.Errorf("%+v: %d unsent in %d ns", c, w.unsent.Load(), w.elapsed.Load())
		}
	}
}

// TestPrecomputed: frames of one size from precomputed headers equal those built one by one, checksums
// included.
func TestPrecomputed(t *testing.T) {
	for name, family := range map[string]func(*Config){"IPv4": func(*Config) {}, "IPv6": v6} {
		fast, slow := &device{}, &device{}
		for d, sizes := range map[*device]int{fast: 1, slow: 2} {
			g := generator(t, d, func(c *Config) {
				family(c)
				if sizes == 2 {
					c.Spec.Sizes = []int{c.Spec.Sizes[0], c.Spec.Sizes[0]}
				}
			})
			s := g.Stepper(77)
			for range 3 {
				n := len(d.frames)
				bytes := s.w.fill(Batch, 1234)
				if _, err := s.w.push(Batch, &g.stop); err != nil || len(d.frames) != n+Batch || bytes != uint64(Batch*(g.Spec.Sizes[0]-4)) {
					t.Fatalf("%s: %d frames of %d bytes, %v", name, len(d.frames), bytes, err)
				}
			}
		}
		for i := range fast.frames {
			if !bytes.Equal(fast.frames[i], slow.frames[i]) {
				t.Fatalf("%s: frame %d is\n%x\nand, made by itself,\n%x", name, i, fast.frames[i], slow.frames[i])
			}
		}
	}
}

// TestAnEndedRunCountsWhatWasTaken: frames of the last batch that the device did not accept before the
// end were not sent.
func TestAnEndedRunCountsWhatWasTaken(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	d := &device{take: func(call, n int) (int, error) {
		if call == 0 {
			return min(n, 4), nil
		}
		cancel()
		return 0, nil
	}}
	g := generator(t, d, func(c *Config) { c.Spec.Sizes = []int{64, 128, 64} })
	sent, err := g.Run(ctx, load.Offer{})
	if !errors.Is(err, context.Canceled) || sent.TxPackets != 4 || sent.TxBytes != 3*64+128 {
		t.Errorf("%+v, %v", sent, err)
	}
}

// TestRunAccounts: frames, bytes with FCS, and then the end of the stream.
func TestRunAccounts(t *testing.T) {
	d := &device{take: func(call, n int) (int, error) { return (n + 1) / 2 * (call % 2), nil }}
	g := generator(t, d, func(c *Config) { c.Spec.Sizes = []int{64, 128, 64} })
	sent, err := g.Run(t.Context(), load.Offer{Limit: load.Limit{Packets: 100}})
	if err != nil || sent.TxPackets != 100 || sent.TxBytes != 67*64+33*128 || sent.Unsent != 0 || len(sent.Warnings) != 0 || sent.Seconds <= 0 || sent.Engine != "test" {
		t.Fatalf("%+v, %v", sent, err)
	}
	data, ends := 0, 0
	for _, b := range d.frames {
		if found, ok := load.FindStamp(b); ok && found.Kind == load.End {
			ends++
		} else if ends == 0 {
			data++
		}
	}
	if data != 100 || ends == 0 {
		t.Errorf("%d frames of data, then %d that end the stream", data, ends)
	}
	var a load.Account
	for _, b := range d.frames {
		a.Frame(b, wire.Monotonic())
	}
	if got := a.Received("test"); got.RxPackets != 100 || got.RxBytes != sent.TxBytes || got.Lost == nil || *got.Lost != 0 || got.TxPackets == nil || *got.TxPackets != 100 || got.FlowsSeen != 10 {
		t.Errorf("arrived: %+v", got)
	}
}

// TestRunOnSeveralCPUs: the frames are divided completely, each flow belongs to one worker, and CPUs
// without a flow are reported.
func TestRunOnSeveralCPUs(t *testing.T) {
	d := &device{}
	g := generator(t, d, func(c *Config) { c.Spec.CPUs, c.Spec.Flows.Count = []int{-1, -1, -1, -1}, 3 })
	sent, err := g.Run(t.Context(), load.Offer{Limit: load.Limit{Packets: 100}})
	if err != nil || sent.TxPackets != 100 || len(sent.Warnings) != 1 || !strings.Contains(sent.Warnings[0], "1 of 4 CPUs sent nothing") {
		t.Errorf("%+v, %v", sent, err)
	}
	flows := map[uint32]int{}
	for _, b := range d.frames {
		if found, _ := load.FindStamp(b); found.Kind == load.Data {
			flows[found.Flow]++
		}
	}
	if flows[0] != 34 || flows[1] != 33 || flows[2] != 33 {
		t.Errorf("frames by flow: %v", flows)
	}
}

// TestRunFails: an error of the device ends all workers, and is returned.
func TestRunFails(t *testing.T) {
	broken := errors.New("link down")
	d := &device{take: func(call, n int) (int, error) {
		if call > 3 {
			return 0, broken
		}
		return n, nil
	}}
	g := generator(t, d, func(c *Config) { c.Spec.CPUs = []int{-1, -1} })
	if _, err := g.Run(t.Context(), load.Offer{}); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

// TestRunIsEnded: a run ended by its context returns the account so far, and the next run is not
// affected.
func TestRunIsEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	d := &device{}
	d.take = func(call, n int) (int, error) {
		if call == 20 {
			cancel()
		}
		return n, nil
	}
	g := generator(t, d, nil)
	sent, err := g.Run(ctx, load.Offer{})
	if !errors.Is(err, context.Canceled) || sent.TxPackets < 20*Batch {
		t.Errorf("%+v, %v", sent, err)
	}
	d.frames = nil
	if sent, err = g.Run(t.Context(), load.Offer{Limit: load.Limit{Packets: 3}}); err != nil || sent.TxPackets != 3 {
		t.Fatalf("again: %+v, %v", sent, err)
	}
	for i, b := range d.frames[:3] {
		if found, _ := load.FindStamp(b); found.Flow != uint32(i) || found.Sequence != 0 {
			t.Errorf("frame %d of the second run: %+v", i, found)
		}
	}
}

// TestCannotBegin: impossible loads are refused before a port is opened, and if a port fails to open
// the others are closed.
func TestCannotBegin(t *testing.T) {
	mac := net.HardwareAddr{2, 0, 0, 0, 0, 1}
	d, opened := &device{}, 0
	base := Config{In: port.Here, Device: wire.Device{Name: "dev0", MAC: mac, MTU: 1500}, Open: func() (Port, error) {
		if opened++; opened == 3 {
			return nil, errors.New("no buffers")
		}
		return d, nil
	}, Spec: load.Spec{DstMAC: mac, Sizes: []int{64}, CPUs: []int{-1, -1, -1}, Flows: load.FlowSpace{Count: 9, Src: netip.MustParseAddr("198.18.0.1"), Dst: netip.MustParseAddr("198.19.0.1")}}}
	if _, err := NewGenerator(base); err == nil || err.Error() != "no buffers" || d.closed != 2 {
		t.Errorf("%v, %d ports closed", err, d.closed)
	}
	for name, change := range map[string]func(*Config){
		"longer than the device takes": func(c *Config) { c.Spec.Sizes = []int{1519} }, "no size": func(c *Config) { c.Spec.Sizes = nil }, "two families": func(c *Config) { c.Spec.Flows.Dst = netip.MustParseAddr("2001:2::1") },
	} {
		c := base
		opened = 0
		change(&c)
		if g, err := NewGenerator(c); err == nil || opened != 0 {
			t.Errorf("%s: %v, %v, %d ports opened", name, g, err, opened)
		}
	}
}

// TestNoRoom: a single frame is retried for half a second.
func TestNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		d := &device{take: func(int, int) (int, error) { tries++; return 0, nil }}
		begun := time.Now()
		if err := one(d, make([]byte, 60)); err == nil || !strings.Contains(err.Error(), "no room for a frame of 60 bytes") || tries != sendTries || time.Since(begun) != sendTries*time.Millisecond {
			t.Errorf("%v after %d tries in %s", err, tries, time.Since(begun))
		}
		d.take = func(call, _ int) (int, error) { return (call - tries) / 3, nil }
		if err := one(d, make([]byte, 60)); err != nil || len(d.frames) != 1 {
			t.Errorf("%v, %d frames", err, len(d.frames))
		}
	})
}

// TestStepper: it counts the frames that the device accepted, and does not send them again.
func TestStepper(t *testing.T) {
	d := &device{take: func(call, n int) (int, error) { return min(n, 5), nil }}
	g := generator(t, d, nil)
	s := g.Stepper(9)
	frames, _, err := s.Step(12)
	if err != nil || frames != 12 || s.CPU() != -1 {
		t.Fatalf("%d, %v, on CPU %d", frames, err, s.CPU())
	}
	var a load.LaneAccount
	s.Sent(&a)
	if a.TxPackets != 12 || a.TxBytes != 12*64 || len(d.frames) != 12 {
		t.Errorf("%+v, %d frames", a, len(d.frames))
	}
	for i, b := range d.frames {
		if found, _ := load.FindStamp(b); found.Run != 9 || found.Flow != uint32(i%10) || found.Sequence != uint32(i/10) {
			t.Errorf("frame %d: %+v", i, found)
		}
	}
}
