package netnsbed_test

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"sort"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"linerate/internal/labtest"
	"linerate/internal/port"
	"linerate/internal/testbed"
	"linerate/internal/testbed/netnsbed"
)

// place returns a new network namespace with its own thread.
func place(t testing.TB) port.Place {
	work := make(chan func())
	ready := make(chan error)
	go func() {
		runtime.LockOSThread()
		ready <- unix.Unshare(unix.CLONE_NEWNET)
		for f := range work {
			f()
		}
	}()
	if err := <-ready; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { close(work) })
	return func(f func() error) error {
		done := make(chan error)
		work <- func() { done <- f() }
		return <-done
	}
}

// address gives a device an address and brings it up.
func address(device string, p netip.Prefix) error {
	_ = os.WriteFile("/proc/sys/net/ipv6/conf/"+device+"/disable_ipv6", []byte("1"), 0)
	link, err := netlink.LinkByName(device)
	if err != nil {
		return err
	}
	a := &netlink.Addr{IPNet: &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), 32)}}
	return errors.Join(netlink.AddrAdd(link, a), netlink.LinkSetUp(link))
}

func join(t testing.TB, l testbed.Link) (*netnsbed.Link, port.Place, port.Place) {
	t.Helper()
	if os.Geteuid() != 0 {
		labtest.Lacking(t, "it needs root: it makes namespaces")
	}
	a, b := place(t), place(t)
	had := runtime.GOMAXPROCS(0)
	k, err := netnsbed.Join(netnsbed.End{In: a, Device: "near0"}, netnsbed.End{In: b, Device: "far0"}, l, 3)
	var un *testbed.ErrUnavailable
	if errors.As(err, &un) {
		labtest.Lacking(t, "%v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if now := runtime.GOMAXPROCS(0); now != had+1 {
			t.Errorf("the Go scheduler has %d processors with a link, %d without", now, had)
		}
		if err := k.Close(); err != nil {
			t.Error(err)
		}
		if now := runtime.GOMAXPROCS(0); now != had {
			t.Errorf("the Go scheduler has %d processors after a link, %d before", now, had)
		}
	})
	err = errors.Join(a(func() error { return address("near0", netip.MustParsePrefix("198.18.0.1/24")) }),
		b(func() error { return address("far0", netip.MustParsePrefix("198.18.0.2/24")) }))
	if err != nil {
		t.Fatal(err)
	}
	return k, a, b
}

// echo makes the far end answer UDP datagrams, and returns a connection to it.
func echo(t testing.TB, a, b port.Place) *net.UDPConn {
	t.Helper()
	var near, far *net.UDPConn
	to := &net.UDPAddr{IP: net.IPv4(198, 18, 0, 2), Port: 7}
	err := errors.Join(b(func() (err error) { far, err = net.ListenUDP("udp4", to); return err }),
		a(func() (err error) { near, err = net.DialUDP("udp4", nil, to); return err }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { near.Close(); far.Close() })
	go func() {
		buf := make([]byte, 2000)
		for {
			n, from, err := far.ReadFromUDP(buf)
			if err != nil {
				return
			}
			_, _ = far.WriteToUDP(buf[:n], from)
		}
	}()
	return near
}

func TestRoundTripsAreTwiceTheDelay(t *testing.T) {
	for _, delay := range []time.Duration{0, 5 * time.Millisecond, 40 * time.Millisecond} {
		t.Run(fmt.Sprint(delay), func(t *testing.T) {
			k, a, b := join(t, testbed.Link{Delay: delay, Jitter: min(delay, 1)})
			c := echo(t, a, b)
			var trips []time.Duration
			for range 10 {
				start := time.Now()
				if _, err := c.Write([]byte("?")); err != nil {
					t.Fatal(err)
				}
				_ = c.SetReadDeadline(start.Add(time.Minute))
				if _, err := c.Read(make([]byte, 10)); err != nil {
					t.Fatal(err)
				}
				trips = append(trips, time.Since(start))
			}
			sort.Slice(trips, func(i, j int) bool { return trips[i] < trips[j] })
			// A round trip must never be shorter; how much longer is measured by the benchmark.
			if trips[0] < 2*delay-2*time.Nanosecond {
				t.Errorf("a round trip of %v over %v each way", trips[0], delay)
			}
			s := settled(k, 20)
			if s.Packets != 20 || s.Lost+s.Missed+s.Overflown != 0 {
				t.Errorf("account %+v", s)
			}
		})
	}
}

// settled returns the account once it has so many packets: the link's thread writes it when idle.
func settled(k *netnsbed.Link, packets uint64) (s testbed.LinkStats) {
	labtest.Eventually(func() bool { s = k.Stats(); return s.Packets >= packets })
	return s
}

func TestLossHitsPackets(t *testing.T) {
	k, a, b := join(t, testbed.Link{Loss: 0.25})
	c := echo(t, a, b)
	const n = 2000
	back := 0
	for range n {
		if _, err := c.Write([]byte("?")); err != nil {
			t.Fatal(err)
		}
		_ = c.SetReadDeadline(time.Now().Add(3 * time.Millisecond))
		if _, err := c.Read(make([]byte, 10)); err == nil {
			back++
		}
	}
	for range 100 { // late answers
		_ = c.SetReadDeadline(time.Now().Add(3 * time.Millisecond))
		if _, err := c.Read(make([]byte, 10)); err == nil {
			back++
		}
	}
	s := k.Stats()
	// Of 2000, 1125 are expected back; the standard deviation is 22.
	if back < 1015 || back > 1235 || s.Lost == 0 || s.Missed != 0 {
		t.Errorf("%d of %d came back; account %+v", back, n, s)
	}
}
