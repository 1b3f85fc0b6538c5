package study

import (
	"fmt"
	"math"
	"slices"
	"time"

	"linerate/internal/load"
	"linerate/internal/port"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/yamlfile"
)

// measuresCapacity reports whether a part's trials measure the most that a
// DUT forwards and the most that the generator offers.
func measuresCapacity(p Part) bool {
	return offersFrames(p) && InOverload(p) && p.Rate.IsMax() && !p.Usable && p.At == nil
}

// capacityPart returns the first part that measures capacity; later parts may
// offer shares of it.
func capacityPart(s *Spec) (place int, ok bool) {
	i := slices.IndexFunc(s.Parts, measuresCapacity)
	return max(0, i), i >= 0
}

// checkShare refuses a share of a capacity that no earlier part measures.
func checkShare(s *Spec, place int, path string) *yamlfile.Problem {
	p := s.Parts[place]
	if !p.Rate.IsShare() {
		return nil
	}
	at, ok := capacityPart(s)
	switch {
	case !InOverload(p):
		return yamlfile.Wrong(path+".rate", "mode %s has no offered load", p.Mode).Advise("remove rate, or use mode: overload")
	case s.OnMachines():
		return yamlfile.Wrong(path+".rate", "on machines of your own an offered load is a number").Advise("write 300kpps")
	case !ok || at > place:
		return yamlfile.Wrong(path+".rate", "%s is a share of a capacity that no part measures before", p.Rate).
			Advise("put a part {name: at-max, mode: overload, rate: max} before this one, or write frames per second")
	}
	return nil
}

// Capacity returns what the control forwarded when the generator offered all it
// could, and that offered load: means over valid trials, or over all trials if
// none is valid. Both are 0 if there are no trials yet.
func Capacity(s *Spec, trials []Trial) (forwarded, offered float64) {
	at, ok := capacityPart(s)
	if !ok {
		return 0, 0
	}
	for _, valid := range []bool{true, false} {
		var out, in []float64
		for _, t := range trials {
			if t.Part != s.Parts[at].Name || t.Variant != s.Control && t.Variant != AA || t.Valid != valid {
				continue
			}
			f, o := t.Metrics[OverloadRate], t.Metrics[OfferedRate]
			if f > 0 && o > 0 {
				out, in = append(out, f), append(in, o)
			}
		}
		if len(out) > 0 {
			return stats.Mean(out), stats.Mean(in)
		}
	}
	return 0, 0
}

// nearMax is the share of the generator's maximum above which a paced load may
// not be reached.
const nearMax = 0.95

// OutOfReach returns why a part cannot be measured, judging by the trials so far: its share of the
// capacity exceeds what the generator can send. It is "" if the part can be measured.
func (s *Spec) OutOfReach(p Part, trials []Trial) string {
	share, ok := p.Rate.Share()
	if !ok {
		return ""
	}
	capacity, most := Capacity(s, trials)
	if capacity == 0 || share*capacity <= nearMax*most {
		return ""
	}
	return fmt.Sprintf("%s of the capacity is more than the generator can send, %s", show.Percent(100*share), show.Percent(100*most/capacity))
}

// Resolve replaces a load that is a share of the capacity by frames per
// second, from the trials so far. ok is false if no trial has measured the
// capacity.
func (s *Spec) Resolve(p Part, trials []Trial) (_ Part, ok bool) {
	share, is := p.Rate.Share()
	if !is {
		return p, true
	}
	capacity, _ := Capacity(s, trials)
	p.Rate = Rate(fmt.Sprintf("%.0fpps", math.Max(1, share*capacity/float64(DirectionCount(p)))))
	return p, capacity > 0
}

// warnOutOfReach names the loads that were not offered, and says why.
func warnOutOfReach(r *Results, s Spec) {
	var shares []string
	for _, p := range s.Parts {
		if s.OutOfReach(p, r.Trials) != "" {
			share, _ := p.Rate.Share()
			shares = append(shares, show.Percent(100*share))
		}
	}
	if len(shares) > 0 {
		capacity, most := Capacity(&s, r.Trials)
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s of the capacity was not offered: the generator can send %s of it (%s of %s)",
			show.List(shares), show.Percent(100*most/capacity), show.Rate(most), show.Rate(capacity)))
	}
}

// firstPort is the lowest source port of a workload's flows: firewalls may
// treat the well-known ports below it differently (RFC 6335 §6).
const firstPort = 1024

// discardPort is the destination port of all flows (RFC 863; RFC 2544 §C.2.6.4 chooses it too).
const discardPort = 9

// Endpoints are the ports between which a workload's packets travel, with their addresses.
type Endpoints struct{ From, To port.Port }

// Traffic returns the traffic that a part offers on a wire, between the addresses of two
// endpoints (a wire without a DUT has no addresses). The lab fills in Stream and CPUs.
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
		SrcPort: firstPort, DstPort: discardPort, Random: w.Order == "random" || w.Order == trains, Elephant: w.Elephant,
	}
	if w.Order == trains {
		flows.Train = Train
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

// DirectionCount returns the number of directions of the part's traffic.
func DirectionCount(p Part) int {
	if GoesBothWays(p) {
		return 2
	}
	return 1
}

// OfferOf returns a part's offered load for a time in seconds.
func OfferOf(p Part, seconds float64) (load.Offer, error) {
	rate, err := p.Rate.Parse()
	return load.Offer{Rate: rate, Limit: load.Limit{Duration: time.Duration(seconds * float64(time.Second))}}, err
}
