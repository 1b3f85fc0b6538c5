package netnsbed

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"linerate/internal/testbed"
)

// forwarding makes a namespace a router that sends nothing unasked.
var forwarding = []struct{ file, value string }{
	{"net/ipv4/ip_forward", "1"},
	{"net/ipv4/conf/all/rp_filter", "0"},
	{"net/ipv4/conf/default/rp_filter", "0"},
	{"net/ipv4/conf/all/send_redirects", "0"},
	{"net/ipv4/conf/default/send_redirects", "0"},
	{"net/ipv6/conf/all/forwarding", "1"},
	{"net/ipv6/conf/default/accept_dad", "0"},
}

// connect wires a fresh DUT between generator and receiver.
func connect(gen *namespace, dut *routers, sink *namespace, p testbed.HopPath) error {
	if err := dut.first.do(forward); err != nil {
		return err
	}
	if err := dut.build(gen, genPort, sink, sinkPort, p); err != nil {
		return err
	}
	if err := gen.do(func() error { return introduceHost(genPort, ingress, sinkPort) }); err != nil {
		return err
	}
	return sink.do(func() error { return introduceHost(sinkPort, egress, genPort) })
}

// forward makes the calling thread's namespace a router.
func forward() error {
	for _, f := range forwarding {
		err := os.WriteFile("/proc/sys/"+f.file, []byte(f.value), 0)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("set %s of the DUT: %w", f.file, err)
		}
	}
	return nil
}

// introduceHost tells an outer port of the DUT and routes the far network
// through it, for ping and other tools by hand.
func introduceHost(own, dut, far end) error {
	if err := neighbour(own, dut, false); err != nil {
		return err
	}
	link, err := netlink.LinkByName(own.Device)
	if err != nil {
		return fmt.Errorf("find %s: %w", own.Device, err)
	}
	for _, hop := range []struct{ to, via end }{{far, dut}} {
		r := &netlink.Route{LinkIndex: link.Attrs().Index, Dst: ipNet(hop.to.IPv4.Masked()), Gw: hop.via.IPv4.Addr().AsSlice()}
		if err := netlink.RouteReplace(r); err != nil {
			return fmt.Errorf("route %s through the DUT: %w", hop.to.IPv4.Masked(), err)
		}
		if !haveIPv6() {
			continue
		}
		r = &netlink.Route{LinkIndex: link.Attrs().Index, Dst: ipNet(hop.to.IPv6.Masked()), Gw: hop.via.IPv6.Addr().AsSlice()}
		if err := netlink.RouteReplace(r); err != nil {
			return fmt.Errorf("route %s through the DUT: %w", hop.to.IPv6.Masked(), err)
		}
	}
	return nil
}

// demolish ends the DUT and waits until its wires are gone from the other
// namespaces. Connections are flushed first: a namespace that ends with a
// million of them keeps a kernel thread busy into the next trial.
func (b *Bed) demolish() error {
	if b.dut.first == nil {
		return nil
	}
	_ = b.dut.first.do(func() error { return netlink.ConntrackTableFlush(netlink.ConntrackTable) })
	err := errors.Join(b.dut.first.do(func() error { return deleteLink(ingress.Device) }),
		b.dut.last().do(func() error { return deleteLink(egress.Device) }))
	b.dut.close()
	b.dut = routers{}
	if err != nil {
		return err
	}
	for _, side := range []struct {
		ns *namespace
		e  end
	}{{b.gen, genPort}, {b.sink, sinkPort}} {
		if err := side.ns.do(func() error { return awaitGone(side.e.Device) }); err != nil {
			return err
		}
	}
	return nil
}

func deleteLink(device string) error {
	link, err := netlink.LinkByName(device)
	if err != nil {
		return nil // never built, or gone with its peer
	}
	if err := netlink.LinkDel(link); err != nil && !errors.Is(err, unix.ENODEV) {
		return fmt.Errorf("remove %s: %w", device, err)
	}
	return nil
}

func awaitGone(device string) error {
	for range 200 {
		if _, err := netlink.LinkByName(device); err != nil {
			return nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return fmt.Errorf("%s is still there a second after its peer was removed", device)
}

// readCounters of a DUT's two devices: of the direction or directions that it carries.
func readCounters(dut routers) (c testbed.Counters, err error) {
	err = dut.first.do(func() error {
		in, err := netlink.LinkByName(ingress.Device)
		if err != nil {
			return fmt.Errorf("read counters of %s: %w", ingress.Device, err)
		}
		s := in.Attrs().Statistics
		c.Received, c.Dropped = s.RxPackets, s.RxDropped
		if dut.bothWays {
			c.Forwarded, c.Dropped = s.TxPackets, c.Dropped+s.TxDropped
		}
		return nil
	})
	if err != nil {
		return c, err
	}
	err = dut.last().do(func() error {
		out, err := netlink.LinkByName(egress.Device)
		if err != nil {
			return fmt.Errorf("read counters of %s: %w", egress.Device, err)
		}
		s := out.Attrs().Statistics
		c.Forwarded, c.Dropped = c.Forwarded+s.TxPackets, c.Dropped+s.TxDropped
		if dut.bothWays {
			c.Received, c.Dropped = c.Received+s.RxPackets, c.Dropped+s.RxDropped
		}
		return nil
	})
	return c, err
}
