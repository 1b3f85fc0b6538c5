package netbenches

import (
	"fmt"
	"math"
	"slices"

	"linerate/internal/ledger"
	"linerate/internal/list"
)

// Metrics of imported trials. The forwarding rate is that of RFC 2285 §3.6.1
// at the offered load, which is nearly always far above it. It is not
// throughput in the sense of RFC 1242.
const (
	MetricRate        = "overload_forwarding_rate_pps"        // by the archive's own reduction
	MetricSteady      = "overload_forwarding_rate_pps_steady" // by linerate's reduction
	MetricOffered     = "offered_pps"
	MetricLoss        = "loss_ratio"
	MetricDrift       = "drift_ratio"
	MetricEquilibrium = "equilibrium_mbps"
	MetricMaximum     = "maximum_mbps"
)

// Flags of trials, which limit what can be concluded from them.
const (
	FlagGenerator = "generator-bound" // at least 99 % of the packets sent were received
	FlagDrift     = "drift"           // the rate changed by more than 1 % between the first and the last ten seconds
	FlagNoSender  = "no sender log"   // loss is unknown
	FlagWire      = "more received than sent"
)

// Thresholds of the flags.
const (
	generatorBound = 0.99
	driftLimit     = 0.01
)

// Judge reduces an iteration in both ways and checks it, and returns a trial
// with its metrics, flags and reasons for being invalid.
func (it *Iteration) Judge() ledger.Trial {
	t := ledger.Trial{Metrics: map[string]float64{}}
	switch e := it.Equilibrium; {
	case e != nil && e.Done:
		t.Metrics[MetricEquilibrium], t.Metrics[MetricMaximum] = e.Estimate, e.Maximum
	case e != nil:
		t.Reasons = append(t.Reasons, "the search ended without an estimate")
	case len(it.Receivers) == 0:
		t.Reasons = append(t.Reasons, "no receiver log")
	}
	if len(it.Receivers) > 0 {
		judgeReceiver(&t, it.Receivers[0])
		judgeLoss(&t, it)
	}
	for _, r := range slices.Concat(it.Receivers, it.Senders) {
		for _, f := range r.Faults {
			t.Reasons = append(t.Reasons, fmt.Sprintf("%s: %s", r.File.Path, f))
		}
	}
	t.Valid = len(t.Reasons) == 0
	return t
}

func judgeReceiver(t *ledger.Trial, r *Reading) {
	if r.Settled {
		t.Metrics[MetricSteady], t.Metrics[MetricDrift] = r.Steady, r.Drift
		if math.Abs(r.Drift) > driftLimit {
			t.Flags = append(t.Flags, FlagDrift)
		}
	}
	switch {
	case r.Empty:
		t.Reasons = append(t.Reasons, "the receiver's log is empty")
	case !r.Usable:
		t.Reasons = append(t.Reasons, "no usable row: the receiver counted nothing between its first 15 and its last 10 lines")
	default:
		t.Metrics[MetricRate] = r.Script
	}
}

// judgeLoss compares the packets received with those sent, both reduced in the same way.
func judgeLoss(t *ledger.Trial, it *Iteration) {
	sent := 0.0
	for _, s := range it.Senders {
		sent += s.rate()
	}
	if sent == 0 {
		t.Flags = append(t.Flags, FlagNoSender)
		return
	}
	t.Metrics[MetricOffered] = sent
	received, ok := t.Metrics[MetricRate]
	if !ok {
		return
	}
	t.Metrics[MetricLoss] = max(0, 1-received/sent)
	if received >= generatorBound*sent {
		t.Flags = append(t.Flags, FlagGenerator)
	}
	if received > sent*1.005 {
		t.Flags = append(t.Flags, FlagWire)
	}
}

// rate returns a sender's rate: by the script, as for receivers, if it finds
// rows; else the steady rate; else that of the summary.
func (r *Reading) rate() float64 {
	switch {
	case r.Usable:
		return r.Script
	case r.Settled:
		return r.Steady
	case r.Seconds > 0:
		return float64(r.Packets) / r.Seconds
	}
	return 0
}

// mostly reports whether at least half of the trials of a series have a flag.
func mostly(s *Series, flag string) bool {
	n := list.Count(s.Iterations, func(it *Iteration) bool { return slices.Contains(it.Judge().Flags, flag) })
	return 2*n >= len(s.Iterations) && n > 0
}
