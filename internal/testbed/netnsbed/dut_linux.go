package netnsbed

import (
	"errors"
	"fmt"
	"net/netip"
	"os"

	"github.com/vishvananda/netlink"

	"linerate/internal/testbed"
)

// forwarding makes a namespace a router that sends nothing unsolicited.
var forwarding = []struct{ file, value string }{
	{"net/ipv4/ip_forward", "1"},
	{"net/ipv4/conf/all/rp_filter", "0"},
	{"net/ipv4/conf/default/rp_filter", "0"},
	{"net/ipv4/conf/all/send_redirects", "0"},
	{"net/ipv4/conf/default/send_redirects", "0"},
	{"net/ipv6/conf/all/forwarding", "1"},
	{"net/ipv6/conf/default/accept_dad", "0"},
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

// introduceHost gives an outer port a neighbour entry for the DUT and a route
// to the far network, for manual use of ping and similar tools.
func introduceHost(own, dut, far end) error {
	if err := neighbour(own, dut, false); err != nil {
		return err
	}
	link, err := netlink.LinkByName(own.Device)
	if err != nil {
		return fmt.Errorf("find %s: %w", own.Device, err)
	}
	for _, hop := range []struct{ to, via netip.Prefix }{{far.IPv4, dut.IPv4}, {far.IPv6, dut.IPv6}} {
		if hop.to.Addr().Is6() && !haveIPv6() {
			continue
		}
		r := &netlink.Route{LinkIndex: link.Attrs().Index, Dst: ipNet(hop.to.Masked()), Gw: hop.via.Addr().AsSlice()}
		if err := netlink.RouteReplace(r); err != nil {
			return fmt.Errorf("route %s through the DUT: %w", hop.to.Masked(), err)
		}
	}
	return nil
}

// readCounters reads the counters of a DUT's two devices, for the direction or directions that it carries.
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
