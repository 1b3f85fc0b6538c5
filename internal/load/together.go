package load

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"
)

// Way is one of several ways that traffic takes at the same time: through another
// port, or in the other direction.
type Way struct {
	Name  string  // in the record: FROM → TO
	Share float64 // share of the offer's rate that its generator sends
	Generator
	Receiver
}

// Together combines several ways into one generator and receiver: each has the
// offer's limit and a share of its rate; accounts are totals, with one for each
// way. For a single way it returns its own generator and receiver.
func Together(ways []Way) (Generator, Receiver) {
	if len(ways) == 1 {
		return ways[0].Generator, ways[0].Receiver
	}
	return generators(ways), receivers(ways)
}

type generators []Way

func (g generators) Close() error {
	return g.each(func(one Generator) error { return one.Close() })
}

func (g generators) Probe(ctx context.Context) error {
	return g.each(func(one Generator) error { return one.Probe(ctx) })
}

func (g generators) each(do func(Generator) error) (err error) {
	for _, w := range g {
		err = errors.Join(err, do(w.Generator))
	}
	return err
}

// Run ends all generators if one fails.
func (g generators) Run(ctx context.Context, o Offer) (Sent, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sent, failed := make([]Sent, len(g)), make([]error, len(g))
	var wg sync.WaitGroup
	for i, w := range g {
		wg.Go(func() {
			if sent[i], failed[i] = w.Generator.Run(ctx, o.share(w.Share)); failed[i] != nil {
				cancel()
			}
		})
	}
	wg.Wait()
	all := sent[0]
	for _, s := range sent[1:] {
		all = all.Alongside(s)
	}
	return all, errors.Join(failed...)
}

// share returns a part of an offer's rate: at least a frame per second, since 0
// means unlimited.
func (o Offer) share(part float64) Offer {
	of := func(rate uint64) uint64 {
		if rate == 0 {
			return 0
		}
		return max(1, uint64(math.Round(part*float64(rate))))
	}
	o.Rate = Rate{PPS: of(o.Rate.PPS), BPS: of(o.Rate.BPS)}
	return o
}

type receivers []Way

func (r receivers) Reset() error { return r.each(func(one Receiver) error { return one.Reset() }) }

func (r receivers) Close() error { return r.each(func(one Receiver) error { return one.Close() }) }

func (r receivers) each(do func(Receiver) error) (err error) {
	for _, w := range r {
		err = errors.Join(err, do(w.Receiver))
	}
	return err
}

func (r receivers) Snapshot() (Received, error) {
	return r.add(func(one Receiver) (Received, error) { return one.Snapshot() })
}

func (r receivers) Finish(ctx context.Context, patience time.Duration) (Received, error) {
	return r.add(func(one Receiver) (Received, error) { return one.Finish(ctx, patience) })
}

func (r receivers) add(account func(Receiver) (Received, error)) (all Received, err error) {
	for i, w := range r {
		got, failed := account(w.Receiver)
		err = errors.Join(err, failed)
		own := WayReceived{Way: w.Name, TxPackets: got.TxPackets, RxPackets: got.RxPackets, RxPPS: got.RxPPS, Lost: got.Lost, Latency: got.Latency, Delays: got.Delays}
		if i == 0 {
			all = got
		} else {
			all = all.Alongside(got)
		}
		all.Ways = append(all.Ways, own)
	}
	return all, err
}

// Alongside adds the account of a simultaneous transmission: the time is the
// longer one, the pacing error the larger one.
func (s Sent) Alongside(o Sent) Sent {
	seconds, worse := math.Max(s.Seconds, o.Seconds), s.PacingError
	if math.Abs(o.PacingError) > math.Abs(worse) {
		worse = o.PacingError
	}
	rate, target := s.TxPPS+o.TxPPS, s.TargetPPS+o.TargetPPS
	out := s.Plus(o)
	out.Seconds, out.TxPPS, out.TargetPPS, out.PacingError = seconds, rate, target, worse
	return out
}

// Alongside adds what arrived at another port at the same time. FlowsSeen is the
// sum.
func (r Received) Alongside(o Received) Received {
	seconds, flows := math.Max(r.Seconds, o.Seconds), r.FlowsSeen+o.FlowsSeen
	out := r.Plus(o)
	out.Seconds, out.FlowsSeen = seconds, flows
	if out.RxPPS = 0; seconds > 0 {
		out.RxPPS = float64(out.RxPackets) / seconds
	}
	return out
}
