package forward

import (
	"fmt"
	"math"
	"time"

	"linerate/internal/load"
	"linerate/internal/show"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

// Limits are those of gates of packets.
type Limits struct {
	// ContentionPercent is how much of a cost trial's time the measuring CPU may
	// have worked for other programs. That time is subtracted; too much of
	// it cannot be.
	ContentionPercent float64 `yaml:"foreign_percent"`
	// StarvedPercent is how much of an overload trial's time the DUT's
	// thread may have waited for its CPU: the rate is then not the DUT's.
	StarvedPercent float64 `yaml:"starved_percent"`
	// UnsentPercent of the due frames, and PacingPercent of the rate, may
	// be missed by the generator of a part with a rate.
	UnsentPercent float64 `yaml:"unsent_percent"`
	PacingPercent float64 `yaml:"pacing_percent"`
	// Headroom is how many times the forwarded rate must have been offered
	// for a rate under overload to be the DUT's and not the generator's.
	Headroom float64 `yaml:"headroom"`
	// CostLossPercent is the loss allowed in mode cost, where nothing can
	// be overloaded and so nothing should be lost.
	CostLossPercent float64 `yaml:"cost_loss_percent"`
	// GoodRoundsPercent of the rounds of an interleaved trial must have been
	// undisturbed.
	GoodRoundsPercent float64 `yaml:"good_rounds_percent"`
}

// LimitsOf are a study's limits for packets.
func LimitsOf(g study.Gates) *Limits { return study.LimitsOf[Limits](g) }

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
func BypassTime(g study.Gates, b BypassRun) float64 {
	if b.Received.Seconds <= 0 || 100*b.Contention/b.Received.Seconds > LimitsOf(g).ContentionPercent {
		return 0
	}
	return ChainTime(b.Received, b.Contention)
}

// bypassOf is the chain time without DUT of the block that a trial is of: the
// trial's own, or from the trials before it; 0 where nobody could measure it.
func bypassOf(o study.Observation, block []study.Trial) float64 {
	if In(&o).Bypass != nil {
		return In(&o).Bypass.NS
	}
	for _, t := range block {
		if In(t.Observed).Bypass != nil && In(t.Observed).Bypass.NS > 0 {
			return In(t.Observed).Bypass.NS
		}
	}
	return 0
}

// HasBypass reports whether a trial of a block measured its chain without DUT.
func HasBypass(block []study.Trial) bool { return bypassOf(study.Observation{}, block) > 0 }

func costMetrics(m map[string]float64, o study.Observation, bypassNS float64) {
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

func overloadMetrics(m map[string]float64, o study.Observation) {
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

// gates are what trials of packets must pass.
var gates = []study.Gate{
	study.Drift, stolenFromForward,
	{Name: "contention", AppliesTo: inCost, Ask: askContention, Limit: ContentionLimit},
	{Name: "starved", AppliesTo: InOverload, Ask: askStarved, Limit: func(g study.Gates) string {
		return fmt.Sprintf("the router's thread may wait %g %% of an overload trial for other programs", LimitsOf(g).StarvedPercent)
	}},
	{Name: "no traffic", AppliesTo: ofPackets, Limit: study.Must("the generator must send"), Ask: func(a study.Asked) []string {
		return study.FaultIf(!sent(a), "the generator sent nothing")
	}},
	{Name: "nothing arrived", Cut: true, AppliesTo: ofPackets, Limit: study.Must("frames must reach the receiver"), Ask: func(a study.Asked) []string {
		return study.FaultIf(sent(a) && !In(&a.Observed).Flooded && !arrived(a), "no frame reached the receiver (link down, route missing, or all dropped)")
	}},
	{Name: "drain", AppliesTo: ofPackets, Limit: study.Must("the end-of-stream frames must arrive, else the loss is unknown"), Ask: func(a study.Asked) []string {
		return study.FaultIf(arrived(a) && a.Observed.Received.Lost == nil, "no end-of-stream frame arrived, so the loss is unknown")
	}},
	{Name: "account", AppliesTo: ofPackets, Limit: study.Must("received and lost must add up to sent"), Ask: askAccount},
	{Name: "rounds", AppliesTo: inCost, Ask: askRounds, Limit: func(g study.Gates) string {
		return fmt.Sprintf("enough rounds, and %g %% of them, must be undisturbed", LimitsOf(g).GoodRoundsPercent)
	}},
	{Name: unsentGate, AppliesTo: InOverload, Ask: askUnsent, Limit: func(g study.Gates) string {
		return fmt.Sprintf("%g %% of the frames due may be unsent at a given rate", LimitsOf(g).UnsentPercent)
	}},
	{Name: pacingGate, AppliesTo: InOverload, Ask: askPacing, Limit: func(g study.Gates) string {
		return fmt.Sprintf("a given rate may be off by %g %%", LimitsOf(g).PacingPercent)
	}},
	{Name: "counters", AppliesTo: ofPackets, Limit: study.Must("the router's counters must move forward and cover what arrived"), Ask: askCounters},
	{Name: "loss", AppliesTo: inCost, Ask: askLoss, Limit: func(g study.Gates) string {
		return fmt.Sprintf("%g %% may be lost in mode cost, where nothing is overloaded", LimitsOf(g).CostLossPercent)
	}},
	{Name: "bypass", AppliesTo: inCost, Limit: study.Must("the chain without router must be measurable"), Ask: func(a study.Asked) []string {
		_, known := a.Metrics[BypassNS]
		return study.FaultIf(inCost(a.Part) && settled(a) && !known, "the block's chain without DUT could not be measured")
	}},
	{Name: "cost", AppliesTo: inCost, Ask: askCost, Limit: study.Must("the chain with router must take longer than without")},
	{Name: HeadroomGate, AppliesTo: InOverload, Ask: askHeadroom, Lasting: true, Limit: func(g study.Gates) string {
		return fmt.Sprintf("at maximum load %g times the forwarded rate must be offered", LimitsOf(g).Headroom)
	}},
	{Name: "nothing asked", Limit: study.Must("the router must be asked whether it is usable"), Ask: func(a study.Asked) []string {
		m := In(&a.Observed).Management
		return study.FaultIf(In(&a.Observed).Flooded && sent(a) && (m == nil || m.Greeting.Sent == 0), "nobody asked the DUT whether it is usable")
	}},
	NotTaken, ReceiverLost,
}

// ContentionLimit says how much other programs may take.
func ContentionLimit(g study.Gates) string {
	return fmt.Sprintf("other programs may take %g %% of the measuring CPU (their time is subtracted from costs)", LimitsOf(g).ContentionPercent)
}

// The gates that tell how a load was not the one asked for.
const (
	unsentGate   = "unsent"
	pacingGate   = "pacing"
	HeadroomGate = "headroom"
)

func inCost(p study.Part) bool { return p.Mode == testbed.Cost }

// InOverload reports whether a part's mode is overload.
func InOverload(p study.Part) bool { return p.Mode == testbed.Overload }
func ofPackets(p study.Part) bool  { return inCost(p) || InOverload(p) }

// stolenFromForward is Stolen, but of slices: those that it hit are left out of
// their arm's mean.
var stolenFromForward = study.Gate{Name: study.Stolen.Name, AppliesTo: study.Stolen.AppliesTo, Limit: study.Stolen.Limit, Ask: func(a study.Asked) []string {
	if sliced(a) {
		return nil
	}
	return study.AskStolen(a)
}}

// sliced reports whether a trial's arm took turns slice by slice.
func sliced(a study.Asked) bool { return inCost(a.Part) && a.Observed.Interleaved != nil }

// settled reports whether there are enough slices to ask what they say.
func settled(a study.Asked) bool { return len(askRounds(a)) == 0 }

func sent(a study.Asked) bool    { return a.Observed.Sent.TxPackets > 0 }
func arrived(a study.Asked) bool { return sent(a) && a.Observed.Received.RxPackets > 0 }

func contentionPercent(o study.Observation) float64 {
	if o.Received.Seconds <= 0 {
		return 0
	}
	return 100 * o.Contention / o.Received.Seconds
}

func askContention(a study.Asked) []string {
	f := contentionPercent(a.Observed)
	return study.FaultIf(inCost(a.Part) && settled(a) && f > LimitsOf(a.Limits).ContentionPercent,
		fmt.Sprintf("other programs took %s of the measuring CPU (limit %g %%)", show.WholePercent(f), LimitsOf(a.Limits).ContentionPercent))
}

// Starved reports whether a DUT's thread waited too long for its CPU while the
// traffic came that was received.
func Starved(g study.Gates, waited time.Duration, got load.Received) bool {
	return contentionPercent(study.Observation{Contention: waited.Seconds(), Received: got}) > LimitsOf(g).StarvedPercent
}

func askStarved(a study.Asked) []string {
	f := contentionPercent(a.Observed)
	return study.FaultIf(InOverload(a.Part) && !In(&a.Observed).Flooded && f > LimitsOf(a.Limits).StarvedPercent,
		fmt.Sprintf("the DUT's thread waited %s of the time for other programs (limit %g %%)", show.WholePercent(f), LimitsOf(a.Limits).StarvedPercent))
}

func askAccount(a study.Asked) []string {
	got := a.Observed.Received
	if !arrived(a) || got.Lost == nil {
		return nil
	}
	return study.FaultIf(got.RxPackets+*got.Lost != a.Observed.Sent.TxPackets,
		fmt.Sprintf("received %d + lost %d is not the %d sent", got.RxPackets, *got.Lost, a.Observed.Sent.TxPackets))
}

func askRounds(a study.Asked) []string {
	if !sliced(a) {
		return nil
	}
	l := a.Observed.Interleaved.Lanes
	return study.FaultIf(l.GoodRounds < minRounds || 100*float64(l.GoodRounds) < LimitsOf(a.Limits).GoodRoundsPercent*float64(l.Rounds),
		fmt.Sprintf("%d of %d were undisturbed (limits %d and %g %%); of this arm's slices %s", l.GoodRounds, l.Rounds, minRounds, LimitsOf(a.Limits).GoodRoundsPercent, l.Disturbed))
}

// counted reports whether a trial has an account of its traffic.
func counted(a study.Asked) bool { return arrived(a) || In(&a.Observed).Flooded && sent(a) }

func askUnsent(a study.Asked) []string {
	if !counted(a) {
		return nil
	}
	return unsent(a.Limits, a.Observed.Sent)
}

func askPacing(a study.Asked) []string {
	if !counted(a) {
		return nil
	}
	return pacing(a.Limits, a.Observed.Sent)
}

func unsent(g study.Gates, s load.Sent) []string {
	u := 100 * float64(s.Unsent) / float64(s.TxPackets+s.Unsent)
	return study.FaultIf(s.TargetPPS > 0 && u > LimitsOf(g).UnsentPercent, fmt.Sprintf("%.2f %% of the frames due were not sent (limit %g %%)", u, LimitsOf(g).UnsentPercent)+because(s))
}

func pacing(g study.Gates, s load.Sent) []string {
	e := 100 * math.Abs(s.PacingError)
	return study.FaultIf(s.TargetPPS > 0 && e > LimitsOf(g).PacingPercent, fmt.Sprintf("the rate was off by %.2f %% (limit %g %%)", e, LimitsOf(g).PacingPercent)+because(s))
}

// Short reports whether a paced transmission was kept from its rate.
func Short(g study.Gates, s load.Sent) bool { return len(unsent(g, s))+len(pacing(g, s)) > 0 }

// because is the weightiest of what kept a generator from its rate.
func because(s load.Sent) string {
	if len(s.Short) == 0 {
		return ""
	}
	return ": " + s.Short[0]
}

// askCounters asks whether the DUT's counters moved forward, and agree with the
// receiver that what arrived went through the DUT.
func askCounters(a study.Asked) []string {
	o := a.Observed
	before, after := o.Before, o.After
	if !arrived(a) || In(&o).Flooded || o.Uncounted {
		return nil
	}
	if after.Received < before.Received || after.Forwarded < before.Forwarded || after.Dropped < before.Dropped {
		return []string{"a counter of the DUT went backwards"}
	}
	forwarded := after.Forwarded - before.Forwarded
	return study.FaultIf(short(o, forwarded), fmt.Sprintf("the receiver has %d frames, but the DUT forwarded %d", o.Received.RxPackets, forwarded))
}

// short reports whether the DUT forwarded less than arrived. Drivers of machines miss
// some of what they send: FreeBSD's vtnet(4) beside pf counted 329,684 of 329,790
// frames, of which each had come in and arrived.
func short(o study.Observation, forwarded uint64) bool {
	const uncounted = 0.001
	got := o.Received.RxPackets
	if o.Machines {
		got -= uint64(uncounted * float64(got))
	}
	return forwarded < got
}

// askLoss: where nothing can be overloaded, next to nothing is lost.
func askLoss(a study.Asked) []string {
	lost := a.Observed.Received.Lost
	if !inCost(a.Part) || !settled(a) || lost == nil || !sent(a) {
		return nil
	}
	l := 100 * float64(*lost) / float64(a.Observed.Sent.TxPackets)
	return study.FaultIf(l > LimitsOf(a.Limits).CostLossPercent, fmt.Sprintf("%.2f %% of the frames were lost in a chain that runs to completion (limit %g %%)", l, LimitsOf(a.Limits).CostLossPercent))
}

func askCost(a study.Asked) []string {
	_, cost := a.Metrics[CostNS]
	_, bypass := a.Metrics[BypassNS]
	return study.FaultIf(inCost(a.Part) && settled(a) && bypass && !cost,
		fmt.Sprintf("the chain with DUT (%.0f ns) was not slower than the block's chain without (%.0f ns)", a.Metrics[ChainNS], a.Metrics[BypassNS]))
}

// askHeadroom: the DUT must be the bottleneck.
func askHeadroom(a study.Asked) []string {
	o := a.Observed
	if !InOverload(a.Part) || In(&o).Flooded || !a.Part.Rate.IsMax() || o.Received.Seconds <= 0 || o.Sent.Seconds <= 0 {
		return nil
	}
	offered, forwarded := float64(o.Sent.TxPackets)/o.Sent.Seconds, float64(o.Received.RxPackets)/o.Received.Seconds
	return study.FaultIf(forwarded > 0 && offered/forwarded < LimitsOf(a.Limits).Headroom,
		fmt.Sprintf("%.2f times the forwarding rate was offered (limit %g): the rate may be the generator's", offered/forwarded, LimitsOf(a.Limits).Headroom))
}

// notTaken and receiverLost say why a trial on a machine is none: the DUT did not
// take what a boot was to set, or frames were lost behind it.
var (
	NotTaken = study.Gate{Name: "not taken", Limit: study.Must("the router must have taken what was set before it booted"), Ask: func(a study.Asked) []string {
		if sliced(a) {
			return nil
		}
		return a.Observed.Applied.NotTaken
	}}
	ReceiverLost = study.Gate{Name: "receiver", Limit: study.Must("what the router forwarded must reach the receiver"), Ask: askReceiver}
)

func askReceiver(a study.Asked) []string {
	o := a.Observed
	forwarded := o.After.Forwarded - o.Before.Forwarded
	if !o.Machines || sliced(a) || forwarded < o.Received.RxPackets || o.Received.Lost == nil {
		return nil
	}
	// What a DUT says of its own accord is not the receiver's to count.
	behind := float64(forwarded - o.Received.RxPackets)
	return study.FaultIf(behind > 100+0.001*float64(forwarded), fmt.Sprintf("the DUT forwarded %d frames and the receiver has %d: it lost count, or the wire between them drops", forwarded, o.Received.RxPackets))
}
