package knob

import (
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/cilium/ebpf"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"linerate/internal/setting"
)

// forward replaces the kernel's routing.
func (t *Target) forward(s setting.Setting) (string, error) {
	in, out := t.Devices["ingress"], t.Devices["egress"]
	switch s.Name {
	case setting.ForwardXDP:
		err := t.In(func() error { return attachForwarder(in) })
		if err != nil {
			return "", unavailable(s, "%v", err)
		}
		return "an XDP program looks routes up and redirects", nil
	case setting.ForwardBridge:
		return "", t.In(func() error { return bridge(s, in, out) })
	}
	return "", fmt.Errorf("unknown way of forwarding %q", s.Name)
}

// bridge joins two devices. Frames are sent to the ingress's own address, as to
// a router; so the ingress gets another address, and the bridge gets a static
// entry that places the old one behind the egress.
func bridge(s setting.Setting, ingress, egress string) error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.HardwareAddr = "br0", net.HardwareAddr{2, 0, 0, 0, 0, 0x10}
	snooping := false
	if err := netlink.LinkAdd(&netlink.Bridge{LinkAttrs: attrs, MulticastSnooping: &snooping}); err != nil {
		return unavailable(s, "make a bridge: %v", err)
	}
	br, err := netlink.LinkByName("br0")
	if err != nil {
		return fmt.Errorf("find the bridge: %w", err)
	}
	in, err := netlink.LinkByName(ingress)
	if err != nil {
		return fmt.Errorf("find %s: %w", ingress, err)
	}
	out, err := netlink.LinkByName(egress)
	if err != nil {
		return fmt.Errorf("find %s: %w", egress, err)
	}
	old := in.Attrs().HardwareAddr
	if err := netlink.LinkSetHardwareAddr(in, net.HardwareAddr{2, 0, 0, 0, 0, 0x12}); err != nil {
		return fmt.Errorf("give %s another address: %w", ingress, err)
	}
	for _, port := range []netlink.Link{in, out} {
		if err := netlink.LinkSetMaster(port, br); err != nil {
			return fmt.Errorf("put %s into the bridge: %w", port.Attrs().Name, err)
		}
	}
	if err := netlink.LinkSetUp(br); err != nil {
		return fmt.Errorf("bring the bridge up: %w", err)
	}
	behind := &netlink.Neigh{LinkIndex: out.Attrs().Index, Family: unix.AF_BRIDGE, State: netlink.NUD_NOARP | netlink.NUD_PERMANENT,
		Flags: netlink.NTF_MASTER, HardwareAddr: old}
	behind.State = netlink.NUD_NOARP // static; the bridge does not own it
	if err := netlink.NeighSet(behind); err != nil {
		return fmt.Errorf("tell the bridge who is behind %s: %w", egress, err)
	}
	return nil
}

// policyRules adds rules that match sources which no workload uses.
func (t *Target) policyRules(s setting.Setting) (string, error) {
	n, err := strconv.Atoi(s.Value)
	if err != nil || n < 1 {
		return "", fmt.Errorf("%q is not a number of rules", s.Value)
	}
	return "", t.In(func() error {
		for i := range n {
			r := netlink.NewRule()
			r.Family, r.Table, r.Priority = unix.AF_INET, unix.RT_TABLE_MAIN, 101+i
			r.Src = &net.IPNet{IP: never(i).AsSlice(), Mask: net.CIDRMask(32, 32)}
			if err := netlink.RuleAdd(r); err != nil {
				return unavailable(s, "add rule %d: %v", i, err)
			}
		}
		return nil
	})
}

// attachForwarder attaches the forwarder to a device of the calling thread's network
// namespace. It looks up routes and neighbours in the kernel's tables and redirects;
// frames without an entry go to the kernel. It stays attached as long as the device
// exists. Routes must lead to devices whose peer accepts XDP frames.
func attachForwarder(device string) error {
	link, err := netlink.LinkByName(device)
	if err != nil {
		return fmt.Errorf("find %s: %w", device, err)
	}
	var objs forwardObjects
	if err := loadForwardObjects(&objs, nil); err != nil {
		var refused *ebpf.VerifierError
		if errors.As(err, &refused) {
			return fmt.Errorf("the kernel's verifier refused the forwarder: %w", refused)
		}
		return fmt.Errorf("load the XDP forwarder: %w", err)
	}
	defer objs.Close() // the device holds a reference to the program
	if err := netlink.LinkSetXdpFdWithFlags(link, objs.Forward.FD(), unix.XDP_FLAGS_DRV_MODE); err != nil {
		return fmt.Errorf("attach the XDP forwarder to %s: %w", device, err)
	}
	return nil
}
