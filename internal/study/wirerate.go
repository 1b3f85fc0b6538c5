package study

import (
	"linerate/internal/load"
	"linerate/internal/stats"
	"linerate/internal/testbed"
)

// WireRate is what a variant forwards in a part, told at the levels that people
// compare: frames, bits of Ethernet frames and of IP packets, and the share of a
// wire's line rate.
type WireRate struct {
	Part    string `json:"part"`
	Variant string `json:"variant"`
	// Directions is the part's: rates of both are of both together.
	Directions string  `json:"directions"`
	Frame      float64 `json:"frame_bytes"` // mean, with FCS
	PPS        float64 `json:"pps"`
	// EthernetBPS counts frames with FCS, IPBPS the packets in them (RFC 1242
	// §3.17 counts frames; the talk's slides bits of Ethernet).
	EthernetBPS float64 `json:"ethernet_bps"`
	IPBPS       float64 `json:"ip_bps"`
	// LinkShare is of the most frames of this size that the stated link
	// carries, preamble and gap counted: one way, or both, as the part's traffic
	// goes.
	LinkShare stats.Number `json:"link_share"`
}

// Bytes around a packet on Ethernet: header and FCS, preamble and gap.
const (
	aroundPacket = 18
	betweenFrame = 20
)

// wireRates are those of all parts, of a study that states a link.
func wireRates(s Spec, trials []Trial) (out []WireRate) {
	link, err := load.ParseRate(s.Workload.Link)
	if s.Workload.Link == "" || err != nil {
		return nil
	}
	for _, p := range s.Parts {
		sizes, err := s.Offers(p).sizes()
		if err != nil || len(sizes) == 0 || p.Search != nil {
			continue
		}
		metric := ForwardingRate
		if p.Mode == testbed.Overload {
			metric = OverloadRate
		}
		sum := 0
		for _, size := range sizes {
			sum += size
		}
		frame := float64(sum) / float64(len(sizes))
		for _, v := range s.Variants {
			if x := sortedValues(byBlock(trials, p.Name, v.Name, metric)); len(x) > 0 {
				pps := average(x)
				out = append(out, WireRate{Part: p.Name, Variant: v.Name, Directions: p.Directions, Frame: frame, PPS: pps,
					EthernetBPS: 8 * frame * pps, IPBPS: 8 * (frame - aroundPacket) * pps,
					LinkShare: stats.Num(pps * 8 * (frame + betweenFrame) / float64(link.BPS) / float64(p.Ways()))})
			}
		}
	}
	return out
}
