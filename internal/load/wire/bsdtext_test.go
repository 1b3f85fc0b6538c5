package wire

import (
	"net"
	"net/netip"
	"testing"
)

// The texts are those of FreeBSD 14's arp(8), ndp(8) and route(8).
func TestReadNeighbours(t *testing.T) {
	arp := "? (198.18.255.254) at 02:00:00:00:00:02 on gen0 permanent [ethernet]\n" +
		"? (198.18.0.1) at 02:00:00:00:00:01 on gen0 expires in 1171 seconds [ethernet]\n" +
		"? (10.0.2.2) at 52:55:0a:00:02:02 on vtnet0 expires in 1100 seconds [ethernet]\n" +
		"? (198.18.0.7) at (incomplete) on gen0 expired [ethernet]\n"
	ndp := "Neighbo" + "r                             Linklayer Address  Netif Expire    1s 5s\n" +
		"2001:2::ffff:fffe                    02:00:00:00:00:02   gen0 permanent R  \n" +
		"fe80::1%gen0                         (incomplete)        gen0 expired   N  \n"
	known := map[netip.Addr]net.HardwareAddr{}
	readNeighbours(known, "gen0", []byte(arp), []byte(ndp))
	if len(known) != 3 || known[netip.MustParseAddr("198.18.255.254")].String() != "02:00:00:00:00:02" ||
		known[netip.MustParseAddr("2001:2::ffff:fffe")].String() != "02:00:00:00:00:02" {
		t.Errorf("%v", known)
	}
}

func TestReadRoute(t *testing.T) {
	text := "   route to: 198.19.3.4\ndestination: 198.19.0.0\n       mask: 255.255.0.0\n    gateway: 198.18.255.254\n        fib: 0\n  interface: gen0\n      flags: <UP,GATEWAY,DONE,STATIC>\n"
	dst := netip.MustParseAddr("198.19.3.4")
	if hop, err := readRoute(text, "gen0", dst); err != nil || hop.String() != "198.18.255.254" {
		t.Errorf("%v, %v", hop, err)
	}
	if _, err := readRoute(text, "gen1", dst); err == nil {
		t.Error("a route through another device passes")
	}
	direct := "   route to: 198.18.0.9\ndestination: 198.18.0.0\n  interface: gen0\n"
	if hop, err := readRoute(direct, "gen0", netip.MustParseAddr("198.18.0.9")); err != nil || hop.String() != "198.18.0.9" {
		t.Errorf("%v, %v", hop, err)
	}
}
