package study

import (
	"fmt"
	"math"
	"time"

	"linerate/internal/load"
	"linerate/internal/testbed"
)

// Judge derives a trial's metrics from what was observed, and the reasons for
// which it is not valid. bypassNS is the block's chain time without DUT, of
// trials in mode cost that ran one after the other; no other uses it.
func Judge(p Part, g Gates, o Observation, bypassNS float64) (metrics map[string]float64, reasons []string) {
	metrics = map[string]float64{}
	if p.Mode == testbed.Serve {
		serveMetrics(metrics, o)
		return metrics, append(machineGates(g, o), serveGates(g, o)...)
	}
	if p.Search != nil {
		searchMetrics(metrics, p, o)
		return metrics, append(append(machineGates(g, o), machineOutcome(o)...), searchGates(o)...)
	}
	if p.Mode == testbed.Cost {
		if o.Interleaved != nil {
			return judgeSlices(g, o)
		}
		costMetrics(metrics, o, bypassNS)
	} else {
		overloadMetrics(metrics, o)
	}
	reasons = append(machineGates(g, o), machineOutcome(o)...)
	if o.Flooded {
		return metrics, append(reasons, floodGates(g, o)...)
	}
	reasons = append(reasons, trafficGates(g, o)...)
	if p.Mode == testbed.Cost {
		reasons = append(reasons, costGates(g, o, metrics)...)
	} else {
		reasons = append(reasons, overloadGates(p, g, o)...)
	}
	return metrics, reasons
}

// ChainTime is the CPU time of a chain per packet in ns: the time between the
// first and the last packet, without the share in which the CPU worked for
// other programs, over the packets. contention is in seconds.
func ChainTime(r load.Received, contention float64) float64 {
	if r.RxPackets < 2 || r.Seconds <= 0 {
		return 0
	}
	return max(0, r.Seconds-contention) * 1e9 / float64(r.RxPackets-1)
}

// BypassTime is a block's chain time without DUT in ns, or 0 when the run
// that was to measure it is no measurement.
func BypassTime(g Gates, b BypassRun) float64 {
	if b.Received.Seconds <= 0 || 100*b.Contention/b.Received.Seconds > g.ContentionPercent {
		return 0
	}
	return ChainTime(b.Received, b.Contention)
}

// BypassOf finds the block's chain time without DUT on record: the first that
// could be measured.
func BypassOf(done []Trial, block int) (ns float64, ok bool) {
	for _, t := range done {
		if t.Block == block && t.Observed != nil && t.Observed.Bypass != nil && t.Observed.Bypass.NS > 0 {
			return t.Observed.Bypass.NS, true
		}
	}
	return 0, false
}

func costMetrics(m map[string]float64, o Observation, bypassNS float64) {
	chain := ChainTime(o.Received, o.Contention)
	if chain <= 0 {
		return
	}
	m[ChainNS] = chain
	if bypassNS <= 0 {
		return
	}
	m[BypassNS] = bypassNS
	if cost := chain - bypassNS; cost > 0 {
		m[CostNS] = cost
		m[ForwardingRate] = 1e9 / cost
	}
}

func overloadMetrics(m map[string]float64, o Observation) {
	if o.Sent.Seconds > 0 {
		m[OfferedRate] = float64(o.Sent.TxPackets) / o.Sent.Seconds
	}
	managementMetrics(m, o)
	if o.Received.RxPackets > 1 && o.Received.Seconds > 0 {
		m[OverloadRate] = float64(o.Received.RxPackets-1) / o.Received.Seconds
	}
	if o.Received.Lost != nil && o.Sent.TxPackets > 0 {
		m[LossRatio] = float64(*o.Received.Lost) / float64(o.Sent.TxPackets)
	}
	if l := o.Received.Latency; l != nil && l.P50 > 0 {
		m[LatencyP50], m[LatencyP99] = float64(l.P50), float64(l.P99)
	}
}

// machineGates ask whether the machine was itself.
func machineGates(g Gates, o Observation) []string {
	bad := []string{} // never null in JSON
	for _, c := range o.CPUs {
		// Arms that take turns are on the same machine, however it drifts.
		if d := c.Drift() * 100; d > g.DriftPercent && o.Interleaved == nil {
			bad = append(bad, fmt.Sprintf("drift: CPU %d changed speed by %.1f %% during the trial (limit %g %%)", c.CPU, d, g.DriftPercent))
		}
		if s := c.Steal * 100; s > g.StealPercent {
			bad = append(bad, fmt.Sprintf("stolen time: the hypervisor took %.1f %% of CPU %d (limit %g %%)", s, c.CPU, g.StealPercent))
		}
	}
	return bad
}

func contentionPercent(o Observation) float64 {
	if o.Received.Seconds <= 0 {
		return 0
	}
	return 100 * o.Contention / o.Received.Seconds
}

// trafficGates ask whether the traffic was what the study says, and whether
// its account is closed.
func trafficGates(g Gates, o Observation) []string {
	var bad []string
	sent, got := o.Sent, o.Received
	switch {
	case sent.TxPackets == 0:
		return []string{"no traffic: the generator sent nothing"}
	case got.RxPackets == 0:
		return []string{"nothing arrived: no frame reached the receiver (link down, route missing, or all dropped)"}
	case got.Lost == nil:
		bad = append(bad, "drain: no end-of-stream frame arrived, so the loss is unknown")
	case got.RxPackets+*got.Lost != sent.TxPackets:
		bad = append(bad, fmt.Sprintf("account: received %d + lost %d is not the %d sent", got.RxPackets, *got.Lost, sent.TxPackets))
	}
	bad = append(bad, pacingGates(g, sent)...)
	return append(bad, counterGates(o)...)
}

// floodGates ask whether the flood was what the study says, and the DUT asked.
func floodGates(g Gates, o Observation) []string {
	switch {
	case o.Sent.TxPackets == 0:
		return []string{"no traffic: the generator sent nothing"}
	case o.Management == nil || o.Management.Greeting.Sent == 0:
		return []string{"nothing asked: nobody asked the DUT whether it is usable"}
	}
	return pacingGates(g, o.Sent)
}

// pacingGates ask whether a given rate was sent.
func pacingGates(g Gates, sent load.Sent) (bad []string) {
	if sent.TargetPPS > 0 {
		due := float64(sent.TxPackets + sent.Unsent)
		if u := 100 * float64(sent.Unsent) / due; u > g.UnsentPercent {
			bad = append(bad, fmt.Sprintf(unsentGate+"%.2f %% of the frames due were not sent (limit %g %%)", u, g.UnsentPercent)+because(sent))
		}
		if e := 100 * math.Abs(sent.PacingError); e > g.PacingPercent {
			bad = append(bad, fmt.Sprintf(pacingGate+"the rate was off by %.2f %% (limit %g %%)", e, g.PacingPercent)+because(sent))
		}
	}
	return bad
}

// Short reports whether a paced transmission was kept from its rate.
func (g Gates) Short(sent load.Sent) bool { return len(pacingGates(g, sent)) > 0 }

// The gates of a load that was not the one asked for.
const (
	unsentGate = "unsent: "
	pacingGate = "pacing: "
)

// because is the weightiest of what kept a generator from its rate.
func because(s load.Sent) string {
	if len(s.Short) == 0 {
		return ""
	}
	return ": " + s.Short[0]
}

// counterGates ask whether the DUT's counters moved forward, and agree with
// the receiver that what arrived went through the DUT.
func counterGates(o Observation) []string {
	b, a := o.Before, o.After
	if o.Uncounted {
		return nil
	}
	if a.Received < b.Received || a.Forwarded < b.Forwarded || a.Dropped < b.Dropped {
		return []string{"counters: a counter of the DUT went backwards"}
	}
	if forwarded := a.Forwarded - b.Forwarded; short(o, forwarded) {
		return []string{fmt.Sprintf("counters: the receiver has %d frames, but the DUT forwarded %d", o.Received.RxPackets, forwarded)}
	}
	return nil
}

// short reports whether the DUT forwarded less than arrived. Drivers of machines miss
// some of what they send: FreeBSD's vtnet(4) beside pf counted 329,684 of 329,790
// frames, of which each had come in and arrived.
func short(o Observation, forwarded uint64) bool {
	const uncounted = 0.001
	got := o.Received.RxPackets
	if o.Machines {
		got -= uint64(uncounted * float64(got))
	}
	return forwarded < got
}

// costGates hold where nothing can be overloaded: next to nothing is lost,
// and the chain with a DUT takes longer than without.
func costGates(g Gates, o Observation, m map[string]float64) []string {
	var bad []string
	if f := contentionPercent(o); f > g.ContentionPercent {
		bad = append(bad, fmt.Sprintf("contention: other programs took %.0f %% of the measuring CPU (limit %g %%)", f, g.ContentionPercent))
	}
	if lost := o.Received.Lost; lost != nil && o.Sent.TxPackets > 0 {
		if l := 100 * float64(*lost) / float64(o.Sent.TxPackets); l > g.CostLossPercent {
			bad = append(bad, fmt.Sprintf("loss: %.2f %% of the frames were lost in a chain that runs to completion (limit %g %%)", l, g.CostLossPercent))
		}
	}
	_, hasCost := m[CostNS]
	switch _, hasBypass := m[BypassNS]; {
	case !hasBypass:
		bad = append(bad, "bypass: the block's chain without DUT could not be measured")
	case !hasCost:
		bad = append(bad, fmt.Sprintf("cost: the chain with DUT (%.0f ns) was not slower than the block's chain without (%.0f ns)", m[ChainNS], m[BypassNS]))
	}
	return bad
}

// Starved reports whether a DUT's thread waited too long for its CPU while the
// traffic came that was received.
func (g Gates) Starved(waited time.Duration, got load.Received) bool {
	return contentionPercent(Observation{Contention: waited.Seconds(), Received: got}) > g.StarvedPercent
}

// overloadGates hold where the DUT must be the bottleneck, and have its CPU.
func overloadGates(p Part, g Gates, o Observation) []string {
	var bad []string
	if f := contentionPercent(o); f > g.StarvedPercent {
		bad = append(bad, fmt.Sprintf("starved: the DUT's thread waited %.0f %% of the time for other programs (limit %g %%)", f, g.StarvedPercent))
	}
	if !p.Rate.IsMax() || o.Received.Seconds <= 0 || o.Sent.Seconds <= 0 {
		return bad
	}
	offered := float64(o.Sent.TxPackets) / o.Sent.Seconds
	forwarded := float64(o.Received.RxPackets) / o.Received.Seconds
	if forwarded > 0 && offered/forwarded < g.Headroom {
		bad = append(bad, fmt.Sprintf(headroomGate+"%.2f times the forwarding rate was offered (limit %g): the rate may be the generator's", offered/forwarded, g.Headroom))
	}
	return bad
}
