package packetload

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"linerate/internal/load"
	"linerate/internal/load/wire"
	"linerate/internal/port"
)

// Native is the engine for interfaces whose driver has netmap. Elsewhere the
// kernel emulates it, and the engine is not had (load.NotHere): on epair(4) it
// sends more than bpf(4) does, but chains that end in it lost frames, where those
// that end in bpf lost none, and frames waited longer
// (docs/guide/freebsd-lab.md).
func NativeNetmap(open wire.Door) load.Engine {
	return netmapEngine{func(o wire.Order) (wire.Opened, error) {
		has, err := drives(o.Device)
		if err != nil {
			return wire.Opened{}, err
		}
		if !has {
			return wire.Opened{}, load.NotHere(fmt.Errorf("the driver of %s has no netmap(4), and by emulation frames are lost that bpf(4) receives", o.Device))
		}
		return open(o)
	}}
}

// capabilityNetmap is IFCAP_NETMAP (net/if.h), which netmap gives to the
// interfaces of drivers that have it.
const capabilityNetmap = 1 << 20

// drives reports whether a device's driver has netmap (SIOCGIFCAP).
func drives(device string) (bool, error) {
	if _, err := newHeader(device); err != nil {
		return false, err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return false, fmt.Errorf("open a socket: %w", err)
	}
	defer unix.Close(fd)
	var request [32]byte // struct ifreq: the name, what it can, what is on
	copy(request[:15], device)
	if err := wire.Ioctl(fd, unix.SIOCGIFCAP, unsafe.Pointer(&request)); err != nil {
		_, missing := wire.Look(device, port.Here)
		if missing != nil {
			return false, missing
		}
		return false, fmt.Errorf("read the capabilities of %s: %w", device, err)
	}
	return binary.NativeEndian.Uint32(request[16:])&capabilityNetmap != 0, nil
}
