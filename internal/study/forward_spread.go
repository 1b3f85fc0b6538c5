package study

import (
	"net/netip"
	"slices"

	"linerate/internal/calc"
	"linerate/internal/load"
	"linerate/internal/port"
)

// Limits of what is computed: of more flows the first say enough.
const (
	maxSpreadFlows = 20_000
)

// The ends of the namespaces' flows (RFC 2544 §C.2.2, RFC 5180).
var spreadEnds = map[string]Endpoints{
	"ipv4": forwardEnds("198.18.0.1/16", "198.19.0.1/16"),
	"ipv6": forwardEnds("2001:2::1/64", "2001:2:0:1::1/64"),
}

func forwardEnds(from, to string) Endpoints {
	at := func(s string) port.Port {
		p := netip.MustParsePrefix(s)
		return port.Port{IPv4: p, IPv6: p}
	}
	return Endpoints{From: at(from), To: at(to)}
}

// spreads are those of all parts, of a study that asks for queues.
func spreads(s Spec) (out []Spread) {
	if len(s.Workload.Queues) == 0 {
		return nil
	}
	for _, p := range s.Parts {
		if !offersFrames(p) {
			continue
		}
		traffic, err := Traffic(&s, p, Endpoints{}, spreadEnds[s.Offers(p).Family])
		if err != nil {
			continue
		}
		hashes := hashesOf(traffic.Flows.WithDefaults())
		for _, q := range s.Workload.Queues {
			even, elephant := worth(hashes, q)
			out = append(out, Spread{Part: p.Name, Flows: s.Offers(p).Flows, Queues: q, Even: even, Elephant: elephant})
		}
	}
	return out
}

func hashesOf(f load.FlowSpace) []uint32 {
	out := make([]uint32, min(f.Count, maxSpreadFlows))
	for i := range out {
		t := f.Tuple(i)
		out[i] = calc.RSSHash(netip.AddrPortFrom(t.Src, t.SrcPort), netip.AddrPortFrom(t.Dst, t.DstPort))
	}
	return out
}

// indirection is how many entries a card's table from hashes to queues has, as
// most have them; a card of more queues has more.
const indirection = 128

// worth tells how many CPUs' worth so many queues are.
func worth(hashes []uint32, queues int) (even, elephant float64) {
	entries := uint32(max(indirection, queues)) //nolint:gosec // at most maxQueues
	flows := make([]int, queues)
	for _, h := range hashes {
		flows[int(h%entries)%queues]++
	}
	n := len(hashes)
	even = float64(n) / float64(slices.Max(flows))
	// The elephant counts for as many as all flows together, then half.
	flows[int(hashes[0]%entries)%queues] += n
	return even, 2 * float64(n) / float64(slices.Max(flows))
}
