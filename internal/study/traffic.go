package study

import (
	"fmt"

	"linerate/internal/load"
	"linerate/internal/testbed"
)

// firstPort of a workload's flows: below it are the well-known ports that
// firewalls treat differently (RFC 6335 §6).
const firstPort = 1024

// discardPort is where all flows go: RFC 863, and RFC 2544 §C.2.6.4's choice.
const discardPort = 9

// Ends are the ports a workload's packets travel between, by address.
type Ends struct{ From, To testbed.Port }

// Traffic is what a part offers on the wire that starts at via, between the
// addresses of ends (a wire without a DUT has none of its own). Stream, CPUs
// and limit are the lab's to fill.
func (s *Spec) Traffic(p Part, via testbed.Port, ends Ends) (load.Spec, error) {
	rate, err := p.Rate.Load()
	if err != nil {
		return load.Spec{}, err
	}
	w := s.Offers(p)
	sizes, err := w.sizes()
	if err != nil {
		return load.Spec{}, err
	}
	src, dst := ends.From.IPv4, ends.To.IPv4
	if w.Family == "ipv6" {
		src, dst = ends.From.IPv6, ends.To.IPv6
	}
	if !src.IsValid() || !dst.IsValid() {
		return load.Spec{}, fmt.Errorf("the testbed has no %s", w.Family)
	}
	return load.Spec{
		Device: via.Device, SrcMAC: via.MAC, DstMAC: via.Peer, Sizes: sizes, Rate: rate,
		Flows: load.FlowSpace{
			Count: w.Flows, Src: src.Addr(), Dst: dst.Addr(),
			SrcSpan: w.Sources, DstSpan: w.Destinations,
			SrcPort: firstPort, DstPort: discardPort, Random: w.Order == "random",
		},
	}, nil
}

// vethMTU is what the testbed's wires have: the letter z of a genome.
const vethMTU = 1500

// sizes is the workload's repeating sequence of frame sizes.
func (w Workload) sizes() ([]int, error) {
	if w.IMIX == "" {
		return w.Sizes, nil
	}
	return load.ParseIMIX(w.IMIX, vethMTU)
}
