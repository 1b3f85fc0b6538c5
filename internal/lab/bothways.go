package lab

import (
	"context"
	"errors"
	"math"
	"time"

	"linerate/internal/load"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

// back is the chain from the receiver to the generator, of a part that wants
// both ways; else nil.
func (r *run) back(part study.Part, o *study.Observation) (*chain, error) {
	if !part.BothWays {
		return nil, nil
	}
	thread, err := r.bed.(testbed.TwoWay).BothWays() // of another bed the part is skipped
	if err != nil {
		return nil, err
	}
	o.BothWays = true
	from, to := r.bed.Receiver(), r.bed.Generator()
	return r.chainBetween(from, to, study.Endpoints{From: from, To: to}, part, thread)
}

// beside is run with another chain at the same time, if there is one: what came
// of both is added up. ready is called when both are warm.
func (c *chain) beside(ctx context.Context, back *chain, o load.Offer, warmup float64, ready func() error) (ran, error) {
	if back == nil {
		return c.run(ctx, o, warmup, ready)
	}
	if err := errors.Join(c.warm(ctx, o.Rate, warmup), back.warm(ctx, o.Rate, warmup), ready()); err != nil {
		return ran{}, err
	}
	type outcome struct {
		ran
		err error
	}
	other := make(chan outcome, 1)
	go func() {
		got, err := back.run(ctx, o, 0, nil)
		other <- outcome{got, err}
	}()
	there, err := c.run(ctx, o, 0, nil)
	again := <-other
	there.sent, there.received = atOnce(there.sent, again.sent), receivedAtOnce(there.received, again.received)
	there.contention = foreign(there.contention, again.contention, time.Duration(there.received.Seconds*float64(time.Second)))
	return there, errors.Join(err, again.err)
}

// foreign is how long two threads that both always had work waited for others
// than each other: of a time in which they shared a CPU, one of them waited all
// the time, and both while another program ran. Where one had rests it is less.
func foreign(one, other, whole time.Duration) time.Duration { return max(0, one+other-whole) }

// atOnce adds up what was sent at the same time.
func atOnce(a, b load.Sent) load.Sent {
	s := a.Plus(b)
	s.Seconds, s.TargetPPS = max(a.Seconds, b.Seconds), a.TargetPPS+b.TargetPPS
	if s.Seconds > 0 {
		s.TxPPS = float64(s.TxPackets) / s.Seconds
	}
	if s.PacingError = 0; s.TargetPPS > 0 {
		s.PacingError = math.Abs(s.TxPPS/s.TargetPPS - 1)
	}
	return s
}

// receivedAtOnce adds up what was received at the same time.
func receivedAtOnce(a, b load.Received) load.Received {
	r := a.Plus(b)
	r.Seconds = max(a.Seconds, b.Seconds)
	if r.Seconds > 0 {
		r.RxPPS = float64(r.RxPackets) / r.Seconds
	}
	return r
}
