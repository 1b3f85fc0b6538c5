package knob

//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -target bpfel -tags linux -cflags "-mcpu=v3 -Wall -Werror" forward ../../bpf/forward.bpf.c

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Attach puts the forwarder on a device of the calling thread's network
// namespace. It looks routes and neighbours up in the kernel's tables and
// redirects; whatever it does not find, the kernel gets. It stays for as long as
// the device. Routes must lead to devices whose other end takes XDP frames.
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
	defer objs.Close() // the device holds the program
	if err := netlink.LinkSetXdpFdWithFlags(link, objs.Forward.FD(), unix.XDP_FLAGS_DRV_MODE); err != nil {
		return fmt.Errorf("attach the XDP forwarder to %s: %w", device, err)
	}
	return nil
}
