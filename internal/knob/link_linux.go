package knob

import (
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/safchain/ethtool"
	"github.com/vishvananda/netlink"

	"linerate/internal/hint"
	"linerate/internal/setting"
	"linerate/internal/show"
)

// offloads maps the switches of ethtool(8) -K to the kernel features that
// they control (net/ethtool/common.c): those that the device allows to change
// are set together.
var offloads = map[string][]string{
	"rx-checksum": {"rx-checksum"},
	"tx-checksum": {"tx-checksum-ipv4", "tx-checksum-ip-generic", "tx-checksum-ipv6", "tx-checksum-fcoe-crc", "tx-checksum-sctp"},
	"sg":          {"tx-scatter-gather", "tx-scatter-gather-fraglist"},
	"tso":         {"tx-tcp-segmentation", "tx-tcp-ecn-segmentation", "tx-tcp-mangleid-segmentation", "tx-tcp6-segmentation"},
	"gso":         {"tx-generic-segmentation"},
	GRO:           {"rx-gro"},
	// Every device has them, off by default.
	"rx-gro-list":           {"rx-gro-list"},
	"rx-udp-gro-forwarding": {"rx-udp-gro-forwarding"},
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
		if _, ok := offloads[s.Name]; !ok {
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
		if err := SetOffload(device, s.Name, on); err != nil {
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

// GRO is the offload that also enables NAPI on a veth.
const GRO = "gro"

// SetOffload switches an offload of a device in the calling thread's
// namespace, and verifies it: a driver may refuse silently.
func SetOffload(device, name string, on bool) error {
	e, err := ethtool.NewEthtool()
	if err != nil {
		return fmt.Errorf("open a socket for ethtool: %w", err)
	}
	defer e.Close()
	have, err := e.FeaturesWithState(device)
	if err != nil {
		return fmt.Errorf("read the offloads of %s: %w", device, err)
	}
	want := map[string]bool{}
	for _, f := range offloads[name] {
		if s, ok := have[f]; ok && s.Available && !s.NeverChanged {
			want[f] = on
		}
	}
	if len(want) == 0 {
		return fmt.Errorf("%s of %s is fixed by its driver", name, device)
	}
	if err := e.Change(device, want); err != nil {
		return fmt.Errorf("set %s of %s: %w", name, device, err)
	}
	got, err := e.Features(device)
	if err != nil {
		return fmt.Errorf("read the offloads of %s: %w", device, err)
	}
	for f := range want {
		if got[f] != on {
			return fmt.Errorf("%s of %s stayed %s: the driver refused %s", name, device, map[bool]string{true: "on", false: "off"}[got[f]], f)
		}
	}
	return nil
}

// napiFiles maps the NAPI settings of an interface to files in sysfs.
var napiFiles = map[string]string{
	"threaded":          "threaded",
	"defer-hard-irqs":   "napi_defer_hard_irqs",
	"gro-flush-timeout": "gro_flush_timeout",
	"rps":               "queues/rx-0/rps_cpus", // a mask of CPUs in hex
}

// napi writes a NAPI setting of an interface.
func (t *Target) napi(s setting.Setting) error {
	device, err := t.device(s.Device)
	if err != nil {
		return err
	}
	file, ok := napiFiles[s.Name]
	if !ok {
		return hint.Unknown("NAPI setting", s.Name, setting.NAPINames)
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

// spread lets the kernel distribute the ingress's flows over the given number
// of CPUs by their hash (RPS).
func (t *Target) spread(s setting.Setting) (string, error) {
	n, err := strconv.Atoi(s.Value)
	if err != nil || n < 1 {
		return "", fmt.Errorf("%q is not a number of CPUs", s.Value)
	}
	if n > len(t.Spare) {
		return "", unavailable(s, "this machine has %s apart from the generator's", show.Plural(len(t.Spare), "CPU"))
	}
	file := filepath.Join("/sys/class/net", t.Devices["ingress"], "queues/rx-0/rps_cpus")
	mask := cpuMask(t.Spare[:n])
	err = t.InSys(func() error { return os.WriteFile(file, []byte(mask), 0) })
	if err != nil {
		return "", unavailable(s, "set rps_cpus to %s: %v", mask, err)
	}
	return "RPS over CPUs " + mask, nil
}

// cpuMask returns a set of CPUs in the kernel's format: hexadecimal, in groups of 32 bits.
func cpuMask(cpus []int) string {
	m := new(big.Int)
	for _, c := range cpus {
		m.SetBit(m, c, 1)
	}
	text := m.Text(16)
	var groups []string
	for len(text) > 8 {
		groups = append([]string{text[len(text)-8:]}, groups...)
		text = text[:len(text)-8]
	}
	return strings.Join(append([]string{text}, groups...), ",")
}
