package study

import (
	"fmt"
	"time"

	"linerate/internal/load"
	"linerate/internal/port"
)

// firstPort of a workload's flows: below it are the well-known ports that
// firewalls treat differently (RFC 6335 §6).
const firstPort = 1024

// discardPort is where all flows go: RFC 863, and RFC 2544 §C.2.6.4's choice.
const discardPort = 9

// Endpoints are the ports a workload's packets travel between, by address.
type Endpoints struct{ From, To port.Port }

// Traffic is what a part offers on a wire, between the addresses of two endpoints (a wire
// without a DUT has no addresses). The lab fills Stream and CPUs.
func Traffic(s *Spec, p Part, wire, between Endpoints) (load.Spec, error) {
	w := s.Offers(p)
	src, dst := between.From.IPv4, between.To.IPv4
	if w.Family == "ipv6" {
		src, dst = between.From.IPv6, between.To.IPv6
	}
	if !src.IsValid() || !dst.IsValid() {
		return load.Spec{}, fmt.Errorf("the testbed has no %s", w.Family)
	}
	flows := load.FlowSpace{
		Count: w.Flows, Src: src.Addr(), Dst: dst.Addr(),
		SrcSpan: w.Sources, DstSpan: w.Destinations,
		SrcPort: firstPort, DstPort: discardPort, Random: w.Order == "random", Elephant: w.Elephant,
	}
	out := load.Spec{Device: wire.From.Device, SrcMAC: wire.From.MAC, DstMAC: wire.From.Peer, Sizes: w.FrameSizes(), Flows: flows}
	if GoesBothWays(p) {
		flows.Reply = true
		out.Back = &load.Spec{Device: wire.To.Device, SrcMAC: wire.To.MAC, DstMAC: wire.To.Peer, Sizes: w.FrameSizes(), Flows: flows}
	}
	return out, nil
}

// GoesBothWays reports whether the part's traffic goes in both directions.
func GoesBothWays(p Part) bool { return p.Directions == BothWays }

// DirectionCount is how many directions the part's traffic has.
func DirectionCount(p Part) int {
	if GoesBothWays(p) {
		return 2
	}
	return 1
}

// OfferOf is a part's offered load, for a time in seconds.
func OfferOf(p Part, seconds float64) (load.Offer, error) {
	rate, err := p.Rate.Parse()
	return load.Offer{Rate: rate, Limit: load.Limit{Duration: time.Duration(seconds * float64(time.Second))}}, err
}
