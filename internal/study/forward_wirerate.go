package study

import (
	"linerate/internal/load"
	"linerate/internal/stats"
)

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
		sizes := s.Offers(p).FrameSizes()
		if len(sizes) == 0 || !offersFrames(p) {
			continue
		}
		metric := ForwardingRate
		if InOverload(p) {
			metric = OverloadRate
		}
		sum := 0
		for _, size := range sizes {
			sum += size
		}
		frame := float64(sum) / float64(len(sizes))
		for _, v := range s.Variants {
			if x := sortedValues(byBlock(trials, p.Name, v.Name, metric)); len(x) > 0 {
				pps := stats.Mean(x)
				out = append(out, WireRate{Part: p.Name, Variant: v.Name, Directions: p.Directions, Frame: frame, PPS: pps,
					EthernetBPS: 8 * frame * pps, IPBPS: 8 * (frame - aroundPacket) * pps,
					LinkShare: stats.Num(pps * 8 * (frame + betweenFrame) / float64(link.BPS) / float64(DirectionCount(p)))})
			}
		}
	}
	return out
}
