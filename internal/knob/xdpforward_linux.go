package knob

//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -target bpfel -tags linux -cflags "-mcpu=v3 -Wall -Werror" forward ../../bpf/forward.bpf.c

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

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
