package forward

import (
	"context"
	"errors"
	"time"

	"linerate/internal/drop"
	"linerate/internal/load"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

// overload is the Way of mode overload: all DUTs are up, their threads share
// one CPU, and they get the load in slices of tens of milliseconds, in rounds
// of random order. An arm's account is the sum of its slices; after each
// slice the receiver waits until nothing more arrives.
type overload struct{ OwnChains }

// betweenSlices is how long the last frames of a warm-up may be in flight.
const betweenSlices = 20 * time.Millisecond

func (w *overload) Ready(ctx context.Context) error {
	if err := w.Open(); err != nil {
		return err
	}
	offer, err := w.offer()
	if err != nil {
		return err
	}
	err = w.Round(ctx, func(lane int) error { return w.Chains[lane].warm(ctx, offer.Rate, w.Part.Warmup) })
	time.Sleep(betweenSlices)
	return err
}

// offer returns the load of a slice.
func (w *overload) offer() (load.Offer, error) {
	return study.OfferOf(w.Part, w.Part.Seconds/float64(study.Turns(w.Part)))
}

func (w *overload) Send(ctx context.Context) error {
	return w.Watched(func() error { return w.rounds(ctx) }, func(a testbed.Arm) (drop.Counters, error) {
		a.Machine = nil // counted by slice
		return a.AllDrops()
	})
}

func (w *overload) rounds(ctx context.Context) error {
	offer, err := w.offer()
	for range study.Turns(w.Part) {
		if err != nil {
			break
		}
		err = w.Round(ctx, func(lane int) error { return w.slice(ctx, lane, offer) })
	}
	return err
}

// slice offers an arm the load for one slice and adds the result. A slice in which the
// generator missed its rate, or the DUT waited for its CPU, is repeated at once, up to
// sliceTries times, while the arm has fewer repetitions than the part has slices. If an
// arm's first slice fell short in every attempt, its later slices are not repeated.
func (w *overload) slice(ctx context.Context, lane int, offer load.Offer) error {
	s, gates := w.Shares[lane], w.Spec().Gates
	got, err := w.offered(ctx, lane, offer)
	for range sliceTries {
		starved := study.Starved(gates, got.Contention, got.Received)
		if err != nil || s.hopeless || !starved && !study.SentShort(gates, got.Sent) || s.Observed.Redone.Number() >= study.Turns(w.Part) {
			break
		}
		s.Observed.Redone = s.Observed.Redone.Plus(got.Sent, got.Received, starved)
		got, err = w.offered(ctx, lane, offer)
	}
	s.hopeless = s.hopeless || s.Observed.Sent.Engine == "" && study.SentShort(gates, got.Sent)
	w.add(&s.Observed, got)
	return err
}

// sliceTries is how often a disturbed slice is repeated.
const sliceTries = 2

// offered returns the result of a slice. What the machine counted meanwhile
// belongs to this arm: slices in mode overload do not overlap, and the DUT has
// drained when the receiver has seen the end of the stream.
func (w *overload) offered(ctx context.Context, lane int, offer load.Offer) (Ran, error) {
	c, s := w.Chains[lane], w.Shares[lane]
	if err := c.Reset(); err != nil {
		return Ran{}, err
	}
	dead, err := watchDrops(testbed.Arm{Machine: s.Machine}.AllDrops)
	if err != nil {
		return Ran{}, err
	}
	got, failed := c.Run(ctx, offer, 0, nil)
	return got, errors.Join(failed, dead.into(&s.Observed))
}

func (w *overload) add(o *study.Observation, got Ran) {
	if o.Sent.Engine == "" {
		o.Sent, o.Received = got.Sent, got.Received
	} else {
		o.Sent, o.Received = o.Sent.Plus(got.Sent), o.Received.Plus(got.Received)
	}
	o.Contention += got.Contention.Seconds()
}
