package knob

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unsafe"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"linerate/internal/hint"
	"linerate/internal/setting"
)

// offloads are the switches of ethtool -K that have an ioctl of their own
// (include/uapi/linux/ethtool.h), by name: the command that sets each.
var offloads = map[string]uint32{
	"rx-checksum": 0x15, // ETHTOOL_SRXCSUM
	"tx-checksum": 0x17, // ETHTOOL_STXCSUM
	"sg":          0x19, // ETHTOOL_SSG
	"tso":         0x1f, // ETHTOOL_STSO
	"gso":         0x24, // ETHTOOL_SGSO
	"gro":         0x2c, // ETHTOOL_SGRO
}

// link sets a property of an interface: mtu, txqueuelen or an offload.
func (t *Target) link(s setting.Setting) error {
	device, err := t.device(s.Device)
	if err != nil {
		return err
	}
	return t.In(func() error {
		switch s.Name {
		case "mtu", "txqueuelen":
			return linkNumber(device, s)
		}
		cmd, ok := offloads[s.Name]
		if !ok {
			known := []string{"mtu", "txqueuelen"}
			for name := range offloads {
				known = append(known, name)
			}
			return hint.Unknown("link property", s.Name, known)
		}
		on, err := onOff(s.Value)
		if err != nil {
			return fmt.Errorf("%s of %s: %w", s.Name, device, err)
		}
		if err := SetOffload(device, cmd, on); err != nil {
			return unavailable(s, "%v", err)
		}
		return nil
	})
}

func linkNumber(device string, s setting.Setting) error {
	n, err := strconv.Atoi(s.Value)
	if err != nil || n < 0 {
		return fmt.Errorf("%s of %s: %q is not a number", s.Name, device, s.Value)
	}
	l, err := netlink.LinkByName(device)
	if err != nil {
		return fmt.Errorf("find %s: %w", device, err)
	}
	set := netlink.LinkSetMTU
	if s.Name == "txqueuelen" {
		set = netlink.LinkSetTxQLen
	}
	if err := set(l, n); err != nil {
		return fmt.Errorf("set %s of %s to %d: %w", s.Name, device, n, err)
	}
	return nil
}

func onOff(value string) (bool, error) {
	switch value {
	case "on", "1", "true":
		return true, nil
	case "off", "0", "false":
		return false, nil
	}
	return false, fmt.Errorf("%q is neither on nor off", value)
}

// GRO is the ethtool command that SetOffload takes for generic receive
// offload; on a veth it also turns on NAPI.
const GRO = 0x2c

// SetOffload switches an offload of a device of the calling thread's
// namespace, by the SIOCETHTOOL ioctl.
func SetOffload(device string, cmd uint32, on bool) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open a socket for ethtool: %w", err)
	}
	defer unix.Close(fd)
	value := struct{ cmd, data uint32 }{cmd: cmd}
	if on {
		value.data = 1
	}
	// struct ifreq: the name, then a union that holds a pointer.
	var req struct {
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		pad  [16]byte
	}
	copy(req.name[:unix.IFNAMSIZ-1], device)
	req.data = unsafe.Pointer(&value)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&req))); errno != 0 {
		return fmt.Errorf("ethtool command %#x on %s: %w", cmd, device, errno)
	}
	return nil
}

// napiFiles are the NAPI settings that sysfs has per interface.
var napiFiles = map[string]string{
	"threaded":          "threaded",
	"defer-hard-irqs":   "napi_defer_hard_irqs",
	"gro-flush-timeout": "gro_flush_timeout",
}

// napi writes a NAPI setting of an interface.
func (t *Target) napi(s setting.Setting) error {
	device, err := t.device(s.Device)
	if err != nil {
		return err
	}
	file, ok := napiFiles[s.Name]
	if !ok {
		return hint.Unknown("NAPI setting", s.Name, []string{"threaded", "defer-hard-irqs", "gro-flush-timeout"})
	}
	value := strings.NewReplacer("on", "1", "off", "0").Replace(s.Value)
	return t.InSys(func() error {
		err := os.WriteFile(filepath.Join("/sys/class/net", device, file), []byte(value), 0)
		if errors.Is(err, os.ErrNotExist) {
			return unavailable(s, "this kernel has no %s", file)
		}
		if err != nil {
			return fmt.Errorf("set %s of %s to %s: %w", file, device, value, err)
		}
		return nil
	})
}
