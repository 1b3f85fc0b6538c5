package study

import (
	"fmt"
	"math"
	"time"

	"linerate/internal/load"
	"linerate/internal/show"
	"linerate/internal/testbed"
)

// ChainTime returns a chain's CPU time per packet, in ns: the time between
// the first and the last packet, minus the time for which the CPU ran other
// programs (contention, in seconds), divided by the packets.
func ChainTime(r load.Received, contention float64) float64 {
	if r.RxPackets < 2 || r.Seconds <= 0 {
		return 0
	}
	return max(0, r.Seconds-contention) * 1e9 / float64(r.RxPackets-1)
}

// BypassTime returns a block's chain time without the DUT, in ns; 0 if the
// run is not a valid measurement.
func BypassTime(g Gates, b BypassRun) float64 {
	if b.Received.Seconds <= 0 || 100*b.Contention/b.Received.Seconds > g.ContentionPercent {
		return 0
	}
	return ChainTime(b.Received, b.Contention)
}

// bypassOf returns the chain time without the DUT in a trial's block, from the trial
// itself or an earlier one; 0 if it could not be measured.
func bypassOf(o Observation, block []Trial) float64 {
	if o.Bypass != nil {
		return o.Bypass.NS
	}
	for _, t := range block {
		if t.Saw().Bypass != nil && t.Saw().Bypass.NS > 0 {
			return t.Saw().Bypass.NS
		}
	}
	return 0
}

// HasBypass reports whether a trial of a block measured the chain without the DUT.
func HasBypass(block []Trial) bool { return bypassOf(Observation{}, block) > 0 }

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

// forwardGates are the gates of packet trials.
var forwardGates = []Gate{
	Drift, stolenFromForward,
	{Name: "contention", Ask: askContention},
	{Name: "starved", Ask: askStarved},
	{Name: "no traffic", Ask: func(a Asked) []string {
		return FaultIf(!sent(a), "the generator sent nothing")
	}},
	{Name: "nothing arrived", Cut: true, Ask: func(a Asked) []string {
		return FaultIf(sent(a) && !a.Observed.Flooded && !arrived(a), "no frame reached the receiver (link down, route missing, or all dropped)")
	}},
	{Name: "drain", Ask: func(a Asked) []string {
		return FaultIf(arrived(a) && a.Observed.Received.Lost == nil, "no end-of-stream frame arrived, so the loss is unknown")
	}},
	{Name: "account", Ask: askAccount},
	{Name: "rounds", Ask: askRounds},
	{Name: unsentGate, Ask: askUnsent},
	{Name: pacingGate, Ask: askPacing},
	{Name: "counters", Ask: askCounters},
	{Name: "loss", Ask: askLoss},
	{Name: "bypass", Ask: func(a Asked) []string {
		_, known := a.Metrics[BypassNS]
		return FaultIf(inCost(a.Part) && settled(a) && !known, "the block's chain without DUT could not be measured")
	}},
	{Name: "cost", Ask: askCost},
	{Name: HeadroomGate, Ask: askHeadroom, Lasting: true},
	{Name: "nothing asked", Ask: func(a Asked) []string {
		m := a.Observed.Management
		return FaultIf(a.Observed.Flooded && sent(a) && (m == nil || m.Greeting.Sent == 0), "the DUT was not asked whether it is usable")
	}},
	NotTaken, ReceiverLost,
}

// Gates for loads that differ from the load that the part asked for.
const (
	unsentGate   = "unsent"
	pacingGate   = "pacing"
	HeadroomGate = "headroom"
)

func inCost(p Part) bool { return p.Mode == testbed.Cost }

// InOverload reports whether a part is of mode overload.
func InOverload(p Part) bool { return p.Mode == testbed.Overload }
func ofPackets(p Part) bool  { return inCost(p) || InOverload(p) }

// stolenFromForward is Stolen, but ignores trials in slices: disturbed slices
// are excluded from their arm's mean.
var stolenFromForward = Gate{Name: Stolen.Name, Ask: func(a Asked) []string {
	if sliced(a) {
		return nil
	}
	return AskStolen(a)
}}

// sliced reports whether a trial's arm was interleaved in slices.
func sliced(a Asked) bool { return inCost(a.Part) && a.Observed.Interleaved != nil }

// settled reports whether there are enough good slices to judge the trial.
func settled(a Asked) bool { return len(askRounds(a)) == 0 }

func sent(a Asked) bool    { return a.Observed.Sent.TxPackets > 0 }
func arrived(a Asked) bool { return sent(a) && a.Observed.Received.RxPackets > 0 }

func contentionPercent(o Observation) float64 {
	if o.Received.Seconds <= 0 {
		return 0
	}
	return 100 * o.Contention / o.Received.Seconds
}

func askContention(a Asked) []string {
	f := contentionPercent(a.Observed)
	return FaultIf(inCost(a.Part) && settled(a) && f > a.Limits.ContentionPercent,
		fmt.Sprintf("other programs took %s of the measuring CPU (limit %g %%)", show.WholePercent(f), a.Limits.ContentionPercent))
}

// Starved reports whether a DUT's thread waited too long for its CPU while the
// received traffic arrived.
func Starved(g Gates, waited time.Duration, got load.Received) bool {
	return contentionPercent(Observation{Contention: waited.Seconds(), Received: got}) > g.StarvedPercent
}

func askStarved(a Asked) []string {
	f := contentionPercent(a.Observed)
	return FaultIf(InOverload(a.Part) && !a.Observed.Flooded && f > a.Limits.StarvedPercent,
		fmt.Sprintf("the DUT's thread waited %s of the time for other programs (limit %g %%)", show.WholePercent(f), a.Limits.StarvedPercent))
}

func askAccount(a Asked) []string {
	got := a.Observed.Received
	if !arrived(a) || got.Lost == nil {
		return nil
	}
	return FaultIf(got.RxPackets+*got.Lost != a.Observed.Sent.TxPackets,
		fmt.Sprintf("received %d + lost %d is not the %d sent", got.RxPackets, *got.Lost, a.Observed.Sent.TxPackets))
}

func askRounds(a Asked) []string {
	if !sliced(a) {
		return nil
	}
	l := a.Observed.Interleaved.Lanes
	return FaultIf(l.GoodRounds < minRounds || 100*float64(l.GoodRounds) < a.Limits.GoodRoundsPercent*float64(l.Rounds),
		fmt.Sprintf("%d of %d were undisturbed (limits %d and %g %%); of this arm's slices %s", l.GoodRounds, l.Rounds, minRounds, a.Limits.GoodRoundsPercent, l.Disturbed))
}

// counted reports whether a trial's traffic was accounted for.
func counted(a Asked) bool { return arrived(a) || a.Observed.Flooded && sent(a) }

func askUnsent(a Asked) []string {
	if !counted(a) {
		return nil
	}
	return unsent(a.Limits, a.Observed.Sent)
}

func askPacing(a Asked) []string {
	if !counted(a) {
		return nil
	}
	return pacing(a.Limits, a.Observed.Sent)
}

func unsent(g Gates, s load.Sent) []string {
	u := 100 * float64(s.Unsent) / float64(s.TxPackets+s.Unsent)
	return FaultIf(s.TargetPPS > 0 && u > g.UnsentPercent, fmt.Sprintf("%.2f %% of the frames due were not sent (limit %g %%)", u, g.UnsentPercent))
}

func pacing(g Gates, s load.Sent) []string {
	e := 100 * math.Abs(s.PacingError)
	return FaultIf(s.TargetPPS > 0 && e > g.PacingPercent, fmt.Sprintf("the rate was off by %.2f %% (limit %g %%)", e, g.PacingPercent))
}

// SentShort reports whether a paced transmission missed its rate.
func SentShort(g Gates, s load.Sent) bool { return len(unsent(g, s))+len(pacing(g, s)) > 0 }

// askCounters checks that the DUT's counters never decreased, and that what the
// receiver counted went through the DUT.
func askCounters(a Asked) []string {
	o := a.Observed
	before, after := o.Before, o.After
	if !arrived(a) || o.Flooded || o.Uncounted {
		return nil
	}
	if after.Received < before.Received || after.Forwarded < before.Forwarded || after.Dropped < before.Dropped {
		return []string{"a counter of the DUT went backwards"}
	}
	forwarded := after.Forwarded - before.Forwarded
	return FaultIf(short(o, forwarded), fmt.Sprintf("the receiver has %d frames, but the DUT forwarded %d", o.Received.RxPackets, forwarded))
}

// short reports whether the DUT counted fewer forwarded frames than arrived. Drivers of
// real machines miss some: FreeBSD's vtnet(4) with pf counted 329,684 of 329,790 frames,
// all of which had come in and arrived.
func short(o Observation, forwarded uint64) bool {
	const uncounted = 0.001
	got := o.Received.RxPackets
	if o.Machines {
		got -= uint64(uncounted * float64(got))
	}
	return forwarded < got
}

// askLoss checks that next to nothing is lost in mode cost, where nothing can be overloaded.
func askLoss(a Asked) []string {
	lost := a.Observed.Received.Lost
	if !inCost(a.Part) || !settled(a) || lost == nil || !sent(a) {
		return nil
	}
	l := 100 * float64(*lost) / float64(a.Observed.Sent.TxPackets)
	return FaultIf(l > a.Limits.CostLossPercent, fmt.Sprintf("%.2f %% of the frames were lost in a chain that runs to completion (limit %g %%)", l, a.Limits.CostLossPercent))
}

func askCost(a Asked) []string {
	_, cost := a.Metrics[CostNS]
	_, bypass := a.Metrics[BypassNS]
	return FaultIf(inCost(a.Part) && settled(a) && bypass && !cost,
		fmt.Sprintf("the chain with DUT (%.0f ns) was not slower than the block's chain without (%.0f ns)", a.Metrics[ChainNS], a.Metrics[BypassNS]))
}

// askHeadroom checks that the DUT is the bottleneck.
func askHeadroom(a Asked) []string {
	o := a.Observed
	if !InOverload(a.Part) || o.Flooded || !a.Part.Rate.IsMax() || o.Received.Seconds <= 0 || o.Sent.Seconds <= 0 {
		return nil
	}
	offered, forwarded := float64(o.Sent.TxPackets)/o.Sent.Seconds, float64(o.Received.RxPackets)/o.Received.Seconds
	return FaultIf(forwarded > 0 && offered/forwarded < a.Limits.Headroom,
		fmt.Sprintf("%.2f times the forwarding rate was offered (limit %g): the rate may be the generator's", offered/forwarded, a.Limits.Headroom))
}

// NotTaken and ReceiverLost invalidate trials on machines: the DUT did not apply
// what a boot was to set, or frames were lost behind it.
var (
	NotTaken = Gate{Name: "not taken", Ask: func(a Asked) []string {
		if sliced(a) {
			return nil
		}
		return a.Observed.Applied.NotTaken
	}}
	ReceiverLost = Gate{Name: "receiver", Ask: askReceiver}
)

func askReceiver(a Asked) []string {
	o := a.Observed
	forwarded := o.After.Forwarded - o.Before.Forwarded
	if !o.Machines || sliced(a) || forwarded < o.Received.RxPackets || o.Received.Lost == nil {
		return nil
	}
	// The receiver does not count frames that the DUT itself originates.
	behind := float64(forwarded - o.Received.RxPackets)
	return FaultIf(behind > 100+0.001*float64(forwarded), fmt.Sprintf("the DUT forwarded %d frames and the receiver has %d: it lost count, or the wire between them drops", forwarded, o.Received.RxPackets))
}
