// Package wiretest gives tests of traffic engines a wire: two network
// namespaces connected by a veth pair.
package wiretest

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"linerate/internal/port"
)

// End is one end of a wire.
type End struct {
	Device string
	MAC    net.HardwareAddr
	In     port.Place
}

// New makes a wire that lives until t ends. The namespaces are anonymous, and
// disappear with their last reference, whatever happens to the test.
func New(t testing.TB) (gen, sink End) {
	t.Helper()
	gens, sinks := Many(t, 1)
	return gens[0], sinks[0]
}

// Many makes n wires between two namespaces.
func Many(t testing.TB, n int) (gens, sinks []End) {
	t.Helper()
	var sinkFD int
	genIn, sinkIn := namespace(t), namespaceFD(t, &sinkFD)
	for i := range n {
		gen := End{fmt.Sprintf("gen%d", i), net.HardwareAddr{2, 0, 0, 0, 0, 1}, genIn}
		sink := End{fmt.Sprintf("sink%d", i), net.HardwareAddr{2, 0, 0, 0, 0, 2}, sinkIn}
		must(t, gen.In(func() error {
			return netlink.LinkAdd(&netlink.Veth{
				LinkAttrs: netlink.LinkAttrs{Name: gen.Device, HardwareAddr: gen.MAC, MTU: 1500, NumTxQueues: 1, NumRxQueues: 1},
				PeerName:  sink.Device, PeerHardwareAddr: sink.MAC, PeerNamespace: netlink.NsFd(sinkFD),
			})
		}))
		must(t, sink.raise())
		must(t, gen.raise())
		gens, sinks = append(gens, gen), append(sinks, sink)
	}
	return gens, sinks
}

func (e End) raise() error {
	return e.In(func() error {
		link, err := netlink.LinkByName(e.Device)
		if err != nil {
			return err
		}
		// Prevent router solicitations and listener reports among the frames.
		_ = os.WriteFile("/proc/sys/net/ipv6/conf/"+e.Device+"/disable_ipv6", []byte("1"), 0o644)
		return netlink.LinkSetUp(link)
	})
}

// Received returns how many frames have arrived at this end.
func (e End) Received(t testing.TB) (n uint64) {
	t.Helper()
	must(t, e.In(func() error {
		link, err := netlink.LinkByName(e.Device)
		if err == nil {
			n = link.Attrs().Statistics.RxPackets
		}
		return err
	}))
	return n
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func namespace(t testing.TB) port.Place {
	var fd int
	return namespaceFD(t, &fd)
}

func namespaceFD(t testing.TB, fd *int) port.Place {
	t.Helper()
	must(t, onThread(func() (err error) {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return err
		}
		*fd, err = unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		return err
	}))
	ns := *fd
	t.Cleanup(func() { unix.Close(ns) })
	return func(f func() error) error {
		return onThread(func() error {
			if err := unix.Setns(ns, unix.CLONE_NEWNET); err != nil {
				return err
			}
			return f()
		})
	}
}

// onThread runs f on a new thread, which ends with it, as does its namespace.
func onThread(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		done <- f()
	}()
	return <-done
}
