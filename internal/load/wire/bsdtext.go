package wire

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// readNeighbours reads what FreeBSD's arp -na and ndp -na list of a device.
func readNeighbours(known map[netip.Addr]net.HardwareAddr, device string, arp, ndp []byte) {
	for s := bufio.NewScanner(bytes.NewReader(arp)); s.Scan(); {
		// ? (198.18.0.1) at 02:00:00:00:00:01 on dut0 permanent [ethernet]
		f := strings.Fields(s.Text())
		if len(f) >= 6 && f[5] == device {
			addNeighbour(known, strings.Trim(f[1], "()"), f[3])
		}
	}
	for s := bufio.NewScanner(bytes.NewReader(ndp)); s.Scan(); {
		// 2001:2::1  02:00:00:00:00:01  dut0 permanent R
		f := strings.Fields(s.Text())
		if len(f) >= 3 && f[2] == device {
			addNeighbour(known, f[0], f[1])
		}
	}
}

func addNeighbour(known map[netip.Addr]net.HardwareAddr, address, mac string) {
	a, err := netip.ParseAddr(address)
	m, err2 := net.ParseMAC(mac)
	if err == nil && err2 == nil && len(m) == 6 {
		known[a.WithZone("")] = m
	}
}

// readRoute reads the next hop from FreeBSD's route -n get.
func readRoute(text, device string, dst netip.Addr) (netip.Addr, error) {
	hop, through := dst, ""
	for s := bufio.NewScanner(strings.NewReader(text)); s.Scan(); {
		key, value, _ := strings.Cut(strings.TrimSpace(s.Text()), ": ")
		switch key {
		case "gateway":
			if a, err := netip.ParseAddr(value); err == nil {
				hop = a.WithZone("")
			}
		case "interface":
			through = value
		}
	}
	if through != device {
		return netip.Addr{}, fmt.Errorf("no route to %s through %s: it goes through %q", dst, device, through)
	}
	return hop, nil
}
