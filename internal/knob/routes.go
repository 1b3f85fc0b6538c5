package knob

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"

	"linerate/internal/setting"
)

// workloadNetwork contains the destinations of every IPv4 workload, from its first
// address up (RFC 2544 §C.2.2); workloadMost is their largest number.
var workloadNetwork = netip.MustParsePrefix("198.19.0.0/16")

const workloadMost = 50_000

// fullTable is the distribution of prefix lengths in a full IPv4 BGP table: of
// 10,000 routes, approximately as in public tables of 2023 (bgp.potaroo.net).
var fullTable = []struct{ bits, share int }{
	{24, 5980}, {22, 1130}, {23, 990}, {21, 530}, {20, 460}, {19, 260}, {16, 145}, {18, 143}, {17, 90},
	{15, 20}, {14, 13}, {13, 6}, {12, 4}, {11, 2}, {10, 1}, {8, 1},
}

// Routes returns the prefixes of a table, always the same ones. If the table
// is to be hit, hosts cover the workload's destinations from the first; a full
// table has half of its routes there, covering at most half of all addresses,
// each eight bits longer than elsewhere because they divide a /16.
func Routes(t setting.Table) []netip.Prefix {
	rng := rand.New(rand.NewPCG(uint64(t.Count), 0x40))
	list := make([]netip.Prefix, 0, t.Count)
	seen := make(map[netip.Prefix]bool, t.Count)
	add := func(p netip.Prefix) bool {
		if seen[p] {
			return false
		}
		seen[p], list = true, append(list, p)
		return true
	}
	if !t.Miss && t.Mix != setting.MixFull {
		addr := workloadNetwork.Addr().Next()
		for range min(t.Count, workloadMost) {
			add(netip.PrefixFrom(addr, 32))
			addr = addr.Next()
		}
	}
	inside := 0
	if !t.Miss && t.Mix == setting.MixFull {
		inside = min((t.Count+1)/2, 1<<15)
	}
	for len(list) < t.Count {
		switch {
		case len(list) < inside:
			add(within(workloadNetwork, length(rng)+8, rng))
		case t.Mix == setting.MixFull:
			add(elsewhere(length(rng), rng))
		default:
			add(within(reserved, 32, rng))
		}
	}
	return list
}

// reserved is 240.0.0.0/4, which no workload uses.
var reserved = netip.MustParsePrefix("240.0.0.0/4")

// length draws a prefix length from a full table.
func length(rng *rand.Rand) int {
	n := rng.IntN(10_000)
	for _, l := range fullTable {
		if n -= l.share; n < 0 {
			return l.bits
		}
	}
	return 24
}

// within draws a prefix of the given length inside another.
func within(p netip.Prefix, bits int, rng *rand.Rand) netip.Prefix {
	bits = max(bits, p.Bits()+1)
	base := p.Addr().As4()
	v := binary.BigEndian.Uint32(base[:]) | rng.Uint32()>>p.Bits()
	return netip.PrefixFrom(netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, v))), bits).Masked()
}

// elsewhere draws a unicast prefix that no workload uses. Short prefixes that
// would contain the workload's networks come from the reserved space instead.
func elsewhere(bits int, rng *rand.Rand) netip.Prefix {
	for {
		v := rng.Uint32()
		p := netip.PrefixFrom(netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, v))), bits).Masked()
		first := v >> 24
		if first != 0 && first != 127 && first < 224 && !p.Overlaps(netip.MustParsePrefix("198.18.0.0/15")) {
			return p
		}
	}
}
