package calc

import (
	"net/netip"
	"testing"
)

// TestToeplitz holds the hash to the verification suite of Microsoft's
// specification, "Verifying the RSS Hash Calculation".
func TestToeplitz(t *testing.T) {
	for _, v := range []struct {
		src, dst      string
		addresses, ip uint32 // without ports, with
	}{
		{"66.9.149.187:2794", "161.142.100.80:1766", 0x323e8fc2, 0x51ccc178},
		{"199.92.111.2:14230", "65.69.140.83:4739", 0xd718262a, 0xc626b0ea},
		{"24.19.198.95:12898", "12.22.207.184:38024", 0xd2d0a5de, 0x5c2b394a},
		{"38.27.205.30:48228", "209.142.163.6:2217", 0x82989176, 0xafc7327f},
		{"153.39.163.191:44251", "202.188.127.2:1303", 0x5d1809c5, 0x10e828a2},
		{"[3ffe:2501:200:1fff::7]:2794", "[3ffe:2501:200:3::1]:1766", 0x2cc18cd5, 0x40207d3d},
		{"[3ffe:501:8::260:97ff:fe40:efab]:14230", "[ff02::1]:4739", 0x0f0c461c, 0xdde51bbf},
		{"[3ffe:1900:4545:3:200:f8ff:fe21:67cf]:44251", "[fe80::200:f8ff:fe21:67cf]:38024", 0x4b61e985, 0x02d1feef},
	} {
		src, dst := netip.MustParseAddrPort(v.src), netip.MustParseAddrPort(v.dst)
		if got := Toeplitz(RSSKey, append(src.Addr().AsSlice(), dst.Addr().AsSlice()...)); got != v.addresses {
			t.Errorf("%s → %s: %#08x, want %#08x", v.src, v.dst, got, v.addresses)
		}
		if got := RSSHash(src, dst); got != v.ip {
			t.Errorf("%s → %s with ports: %#08x, want %#08x", v.src, v.dst, got, v.ip)
		}
	}
}
