package load

import (
	"math"
	"slices"

	"linerate/internal/list"
)

// Pace computes the rate and the pacing error.
func (s *Sent) Pace() {
	if s.Seconds <= 0 {
		return
	}
	s.TxPPS = float64(s.TxPackets) / s.Seconds
	if s.TargetPPS > 0 {
		s.PacingError = math.Abs(s.TxPPS/s.TargetPPS - 1)
	}
}

// Plus adds the account of another transmission of the same offer; the times
// are added, without the gap between them.
func (s Sent) Plus(o Sent) Sent {
	s.TxPackets += o.TxPackets
	s.TxBytes += o.TxBytes
	s.Unsent += o.Unsent
	s.Refused = plus(s.Refused, o.Refused)
	s.Seconds += o.Seconds
	s.Pace()
	s.Warnings = list.With(slices.Clip(s.Warnings), o.Warnings...)
	return s
}

// Plus adds the account of another transmission of the same offer. FlowsSeen
// is the larger of the two.
func (r Received) Plus(o Received) Received {
	r.Ways = plusWays(r.Ways, o.Ways, r.Seconds, o.Seconds)
	r.RxPackets += o.RxPackets
	r.RxBytes += o.RxBytes
	r.Seconds += o.Seconds
	if r.Seconds > 0 {
		r.RxPPS = float64(r.RxPackets) / r.Seconds
	}
	r.Lost, r.TxPackets = plus(r.Lost, o.Lost), plus(r.TxPackets, o.TxPackets)
	r.Duplicated += o.Duplicated
	r.Reordered += o.Reordered
	r.FlowsSeen = max(r.FlowsSeen, o.FlowsSeen)
	r.Foreign += o.Foreign
	r.Dropped += o.Dropped
	var both Histogram
	both.Merge(r.Delays)
	both.Merge(o.Delays)
	r.Delays, r.Latency = both, both.Latency()
	r.Warnings = list.With(slices.Clip(r.Warnings), o.Warnings...)
	return r
}

// plusWays adds accounts by way; before and after are the times over all ways.
func plusWays(all, more []WayReceived, before, after float64) []WayReceived {
	all = slices.Clone(all)
	for _, w := range more {
		i := slices.IndexFunc(all, func(a WayReceived) bool { return a.Way == w.Way })
		if i < 0 {
			all = append(all, w)
			continue
		}
		all[i] = all[i].plus(w, before, after)
	}
	return all
}

// plus adds the account of another transmission for this way; the rate is
// over both times.
func (w WayReceived) plus(o WayReceived, before, after float64) WayReceived {
	seconds := w.seconds(before) + o.seconds(after)
	w.TxPackets, w.Lost = plus(w.TxPackets, o.TxPackets), plus(w.Lost, o.Lost)
	w.RxPackets += o.RxPackets
	if w.RxPPS = 0; seconds > 0 {
		w.RxPPS = float64(w.RxPackets) / seconds
	}
	var both Histogram
	both.Merge(w.Delays)
	both.Merge(o.Delays)
	w.Delays, w.Latency = both, both.Latency()
	return w
}

// seconds returns the time over which a way's frames arrived; that of all ways if none arrived.
func (w WayReceived) seconds(all float64) float64 {
	if w.RxPPS == 0 {
		return all
	}
	return float64(w.RxPackets) / w.RxPPS
}

// plus adds numbers that may be unknown.
func plus(a, b *uint64) *uint64 {
	if a == nil || b == nil {
		return nil
	}
	n := *a + *b
	return &n
}
