package netbenches

import (
	"fmt"
	"math"
)

// Metrics of imported trials. The forwarding rate is that of RFC 2285 §3.6.1
// at the load the generator offered, nearly always far more than was
// forwarded: it is not throughput in RFC 1242's sense.
const (
	MetricRate        = "overload_forwarding_rate_pps"        // the archive's own reduction
	MetricSteady      = "overload_forwarding_rate_pps_steady" // linerate's
	MetricOffered     = "offered_pps"
	MetricLoss        = "loss_ratio"
	MetricDrift       = "drift_ratio"
	MetricEquilibrium = "equilibrium_mbps"
	MetricMaximum     = "maximum_mbps"
)

// Flags of trials: what limits what can be concluded from them.
const (
	FlagGenerator = "generator-bound" // received at least 99 % of what was sent
	FlagDrift     = "drift"           // the rate moved by more than 1 % from the first to the last ten seconds
	FlagNoSender  = "no sender log"   // loss is unknown
	FlagWire      = "more received than sent"
)

// Limits of the flags.
const (
	generatorBound = 0.99
	driftLimit     = 0.01
)

// Judged is a trial's numbers and what is wrong with it.
type Judged struct {
	Valid   bool
	Reasons []string
	Flags   []string
	Metrics map[string]float64
}

// Judge reduces one iteration both ways and passes it through the gates.
func (it *Iteration) Judge() Judged {
	j := Judged{Metrics: map[string]float64{}}
	if it.Equilibrium != nil {
		j.equilibrium(it.Equilibrium)
	}
	if len(it.Receivers) > 0 {
		j.receiver(it.Receivers[0])
		j.loss(it)
	} else if it.Equilibrium == nil {
		j.Reasons = append(j.Reasons, "no receiver log")
	}
	for _, logs := range [][]*Reading{it.Receivers, it.Senders} {
		for _, r := range logs {
			for _, f := range r.Faults {
				j.Reasons = append(j.Reasons, fmt.Sprintf("%s: %s", r.File.Path, f))
			}
		}
	}
	j.Valid = len(j.Reasons) == 0
	return j
}

func (j *Judged) equilibrium(e *Equilibrium) {
	if !e.Done {
		j.Reasons = append(j.Reasons, "the search ended without an estimate")
		return
	}
	j.Metrics[MetricEquilibrium], j.Metrics[MetricMaximum] = e.Estimate, e.Maximum
}

func (j *Judged) receiver(r *Reading) {
	if r.Settled {
		j.Metrics[MetricSteady] = r.Steady.PPS
		j.Metrics[MetricDrift] = r.Steady.Drift
		if math.Abs(r.Steady.Drift) > driftLimit {
			j.Flags = append(j.Flags, FlagDrift)
		}
	}
	switch {
	case r.Empty:
		j.Reasons = append(j.Reasons, "the receiver's log is empty")
	case !r.Usable:
		j.Reasons = append(j.Reasons, "no usable row: the receiver counted nothing between its first 15 and its last 10 lines")
	default:
		j.Metrics[MetricRate] = r.Script[MeanOfMiddle]
	}
}

// loss compares what was received with what was sent, both reduced alike.
func (j *Judged) loss(it *Iteration) {
	received, ok := j.Metrics[MetricRate]
	sent := 0.0
	for _, s := range it.Senders {
		sent += s.rate()
	}
	if sent == 0 {
		j.Flags = append(j.Flags, FlagNoSender)
		return
	}
	j.Metrics[MetricOffered] = sent
	if !ok {
		return
	}
	j.Metrics[MetricLoss] = max(0, 1-received/sent)
	if received >= generatorBound*sent {
		j.Flags = append(j.Flags, FlagGenerator)
	}
	if received > sent*1.005 {
		j.Flags = append(j.Flags, FlagWire)
	}
}

// rate is a sender's rate: the script's where it finds rows, since the
// receiver's is reduced so; else the steady rate, else the summary's.
func (r *Reading) rate() float64 {
	switch {
	case r.Usable:
		return r.Script[MeanOfMiddle]
	case r.Settled:
		return r.Steady.PPS
	case r.Seconds > 0:
		return float64(r.Packets) / r.Seconds
	}
	return 0
}
