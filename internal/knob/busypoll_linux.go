package knob

import (
	"errors"
	"fmt"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"linerate/internal/setting"
)

// Of the generic netlink family netdev (include/uapi/linux/netdev.h). A NAPI
// thread that polls without rest is value 2 of THREADED, which sysfs does not
// take; kernels that do not know it answer that it is out of range.
const (
	netdevFamily       = "netdev"
	netdevVersion      = 1
	cmdNAPIGet         = 11
	cmdNAPISet         = 14
	attrNAPIIfindex    = 1
	attrNAPIID         = 2
	attrNAPIThreaded   = 8
	threadedPollsAlone = 2
)

// busyPoll has the NAPI threads of a device poll without rest.
func busyPoll(s setting.Setting, device string) error {
	family, err := netlink.GenlFamilyGet(netdevFamily)
	if err != nil {
		return unavailable(s, "this kernel has no netlink family %s: %v", netdevFamily, err)
	}
	link, err := netlink.LinkByName(device)
	if err != nil {
		return fmt.Errorf("find %s: %w", device, err)
	}
	ids, err := napiIDs(family.ID, link.Attrs().Index)
	if err != nil {
		return fmt.Errorf("list the NAPI instances of %s: %w", device, err)
	}
	if len(ids) == 0 {
		return unavailable(s, "%s has no NAPI instance that can be set", device)
	}
	for _, id := range ids {
		err := setThreaded(family.ID, id, threadedPollsAlone)
		if errors.Is(err, unix.ERANGE) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EOPNOTSUPP) {
			return helped(unavailable(s, "this kernel's NAPI threads cannot busy-poll: %v", err), "boot a newer kernel")
		}
		if err != nil {
			return fmt.Errorf("have NAPI instance %d of %s poll without rest: %w", id, device, err)
		}
	}
	return nil
}

// setThreaded says how a NAPI instance is polled.
func setThreaded(family uint16, id, threaded uint32) error {
	req := nl.NewNetlinkRequest(int(family), unix.NLM_F_ACK)
	req.AddData(&nl.Genlmsg{Command: cmdNAPISet, Version: netdevVersion})
	req.AddData(nl.NewRtAttr(attrNAPIID, nl.Uint32Attr(id)))
	req.AddData(nl.NewRtAttr(attrNAPIThreaded, nl.Uint32Attr(threaded)))
	_, err := req.Execute(unix.NETLINK_GENERIC, 0)
	return err
}

// napiIDs are the kernel's numbers of a device's NAPI instances.
func napiIDs(family uint16, index int) (ids []uint32, err error) {
	req := nl.NewNetlinkRequest(int(family), unix.NLM_F_DUMP)
	req.AddData(&nl.Genlmsg{Command: cmdNAPIGet, Version: netdevVersion})
	req.AddData(nl.NewRtAttr(attrNAPIIfindex, nl.Uint32Attr(uint32(index)))) //nolint:gosec // an interface's number
	msgs, err := req.Execute(unix.NETLINK_GENERIC, 0)
	if err != nil {
		return nil, err
	}
	for _, m := range msgs {
		attrs, err := nl.ParseRouteAttr(m[nl.SizeofGenlmsg:])
		if err != nil {
			return nil, err
		}
		for _, a := range attrs {
			if a.Attr.Type == attrNAPIID && len(a.Value) >= 4 {
				ids = append(ids, nl.NativeEndian().Uint32(a.Value))
			}
		}
	}
	return ids, nil
}
