package lab

import (
	"context"
	"errors"
	"time"

	"linerate/internal/load"
	"linerate/internal/study"
	"linerate/internal/study/forward"
)

// overload is that mode's way: all DUTs are up, their threads on one CPU, and
// are offered the load in slices of tens of milliseconds, in rounds of random
// order. An arm's account is the sum of its slices; the receiver waits after
// each until nothing more comes.
type overload struct{ ownChains }

// betweenSlices is for how long the last frames of a warm-up may still move.
const betweenSlices = 20 * time.Millisecond

func (w *overload) ready(ctx context.Context) error {
	if err := w.open(); err != nil {
		return err
	}
	offer, err := w.offer()
	if err != nil {
		return err
	}
	err = w.in.round(ctx, func(lane int) error { return w.chains[lane].warm(ctx, offer.Rate, w.in.part.Warmup) })
	time.Sleep(betweenSlices)
	return err
}

// offer is the traffic of a slice.
func (w *overload) offer() (load.Offer, error) {
	return forward.Offer(w.in.part, w.in.part.Seconds/float64(forward.Turns(w.in.part)))
}

func (w *overload) send(ctx context.Context) error {
	return w.in.watched(func() error { return w.rounds(ctx) }, ownDrops)
}

func (w *overload) rounds(ctx context.Context) error {
	offer, err := w.offer()
	for range forward.Turns(w.in.part) {
		if err != nil {
			break
		}
		err = w.in.round(ctx, func(lane int) error { return w.slice(ctx, lane, offer) })
	}
	return err
}

// slice offers an arm the load once more and adds what came of it. One in which
// the generator was kept from its rate, or the DUT from its CPU, is none: it is
// done again at once, in as many slices more as the part has, and a second time
// at most. Where an arm's first falls short each time, no more of its are.
func (w *overload) slice(ctx context.Context, lane int, offer load.Offer) error {
	s, gates := w.in.shares[lane], w.run.task.Spec.Gates
	got, err := w.offered(ctx, lane, offer)
	for range sliceTries {
		starved := forward.Starved(gates, got.contention, got.received)
		if err != nil || s.hopeless || !starved && !forward.Short(gates, got.sent) || forward.In(&s.o).Redone.Number() >= forward.Turns(w.in.part) {
			break
		}
		forward.Note(&s.o).Redone = forward.In(&s.o).Redone.Plus(got.sent, got.received, starved)
		got, err = w.offered(ctx, lane, offer)
	}
	s.hopeless = s.hopeless || s.o.Sent.Engine == "" && forward.Short(gates, got.sent)
	w.add(&s.o, got)
	return err
}

// sliceTries is how often a disturbed slice is done again.
const sliceTries = 2

// offered is what came of a slice. What the machine counted meanwhile is this
// arm's: slices of an overload do not overlap, and the DUT has drained when the
// receiver has seen the end.
func (w *overload) offered(ctx context.Context, lane int, offer load.Offer) (ran, error) {
	c, s := w.chains[lane], w.in.shares[lane]
	if err := c.rx.Reset(); err != nil {
		return ran{}, err
	}
	dead, err := watchDrops(s.Machine)
	if err != nil {
		return ran{}, err
	}
	got, failed := c.run(ctx, offer, 0, nil)
	return got, errors.Join(failed, dead.into(&s.o))
}

func (w *overload) add(o *study.Observation, got ran) {
	if o.Sent.Engine == "" {
		o.Sent, o.Received = got.sent, got.received
	} else {
		o.Sent, o.Received = o.Sent.Plus(got.sent), o.Received.Plus(got.received)
	}
	o.Contention += got.contention.Seconds()
}
