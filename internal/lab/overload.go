package lab

import (
	"context"
	"time"

	"linerate/internal/load"
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
	return w.in.part.Offer(w.in.part.Seconds / float64(w.in.part.Turns()))
}

func (w *overload) send(ctx context.Context) error {
	offer, err := w.offer()
	for range w.in.part.Turns() {
		if err != nil {
			break
		}
		err = w.in.round(ctx, func(lane int) error { return w.slice(ctx, lane, offer) })
	}
	return err
}

// slice offers an arm the load once more and adds what came of it.
func (w *overload) slice(ctx context.Context, lane int, offer load.Offer) error {
	c, o := w.chains[lane], &w.in.shares[lane].o
	if err := c.rx.Reset(); err != nil {
		return err
	}
	got, err := c.run(ctx, offer, 0, nil)
	if o.Sent.Engine == "" {
		o.Sent, o.Received = got.sent, got.received
	} else {
		o.Sent, o.Received = o.Sent.Plus(got.sent), o.Received.Plus(got.received)
	}
	o.Contention += got.contention.Seconds()
	return err
}
