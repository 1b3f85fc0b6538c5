package load

import (
	"math"
	"slices"
)

// Pace works out the rate, and how far it is off the target, of what was sent in which time.
func (s *Sent) Pace() {
	if s.Seconds <= 0 {
		return
	}
	s.TxPPS = float64(s.TxPackets) / s.Seconds
	if s.TargetPPS > 0 {
		s.PacingError = math.Abs(s.TxPPS/s.TargetPPS - 1)
	}
}

// Plus adds the account of another transmission of the same offer: the time is
// that of both, without what was between them.
func (s Sent) Plus(o Sent) Sent {
	s.TxPackets += o.TxPackets
	s.TxBytes += o.TxBytes
	s.Unsent += o.Unsent
	s.Refused = plus(s.Refused, o.Refused)
	s.Seconds += o.Seconds
	s.Pace()
	s.Warnings = union(s.Warnings, o.Warnings)
	return s
}

// Plus adds the account of another transmission of the same offer. Flows are
// those of the one that saw more.
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
	r.Warnings = union(r.Warnings, o.Warnings)
	return r
}

// plusWays adds accounts way by way; before and after are the times of all ways together.
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

// plus adds what another transmission of the same offer had arrive this way;
// the rate is that of both times together.
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

// seconds is the time in which a way's frames arrived; that of all ways where none did.
func (w WayReceived) seconds(all float64) float64 {
	if w.RxPPS == 0 {
		return all
	}
	return float64(w.RxPackets) / w.RxPPS
}

// union has each warning once.
func union(said, more []string) []string {
	said = slices.Clip(said)
	for _, w := range more {
		if !slices.Contains(said, w) {
			said = append(said, w)
		}
	}
	return said
}

// plus adds what may be unknown.
func plus(a, b *uint64) *uint64 {
	if a == nil || b == nil {
		return nil
	}
	n := *a + *b
	return &n
}
