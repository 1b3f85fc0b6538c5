package load

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"
)

// BothWays sends with two generators at the same time: an offer is each one's,
// the account both together.
func BothWays(there, back Generator) Generator { return bothWays{there, back} }

type bothWays struct{ there, back Generator }

func (g bothWays) Close() error { return errors.Join(g.there.Close(), g.back.Close()) }

func (g bothWays) Probe(ctx context.Context) error {
	return errors.Join(g.there.Probe(ctx), g.back.Probe(ctx))
}

// Run ends both when one fails. Progress is the first one's.
func (g bothWays) Run(ctx context.Context, o Offer, progress func(Sent)) (Sent, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var sent [2]Sent
	var failed [2]error
	var wg sync.WaitGroup
	for i, one := range []Generator{g.there, g.back} {
		wg.Go(func() {
			tell := progress
			if i > 0 {
				tell = nil
			}
			if sent[i], failed[i] = one.Run(ctx, o, tell); failed[i] != nil {
				cancel()
			}
		})
	}
	wg.Wait()
	return sent[0].Beside(sent[1]), errors.Join(failed[:]...)
}

// BothEnds receives with two receivers, whose accounts it adds up.
func BothEnds(there, back Receiver) Receiver { return bothEnds{there, back} }

type bothEnds struct{ there, back Receiver }

func (r bothEnds) Reset() error { return errors.Join(r.there.Reset(), r.back.Reset()) }
func (r bothEnds) Close() error { return errors.Join(r.there.Close(), r.back.Close()) }

func (r bothEnds) Snapshot() (Received, error) {
	a, err := r.there.Snapshot()
	b, also := r.back.Snapshot()
	return a.Beside(b), errors.Join(err, also)
}

func (r bothEnds) Finish(ctx context.Context, patience time.Duration) (Received, error) {
	a, err := r.there.Finish(ctx, patience)
	b, also := r.back.Finish(ctx, patience)
	return a.Beside(b), errors.Join(err, also)
}

// Beside adds the account of a transmission that went on at the same time: the
// time is that of the longer one, the pacing error that of the worse.
func (s Sent) Beside(o Sent) Sent {
	seconds, worse := math.Max(s.Seconds, o.Seconds), math.Max(s.PacingError, o.PacingError)
	rate, target := s.TxPPS+o.TxPPS, s.TargetPPS+o.TargetPPS
	out := s.Plus(o)
	out.Seconds, out.TxPPS, out.TargetPPS, out.PacingError = seconds, rate, target, worse
	out.Warnings = append(append([]string(nil), s.Warnings...), o.Warnings...)
	return out
}

// Beside adds what arrived at another port at the same time. Flows are counted
// at both.
func (r Received) Beside(o Received) Received {
	seconds, flows := math.Max(r.Seconds, o.Seconds), r.FlowsSeen+o.FlowsSeen
	out := r.Plus(o)
	out.Seconds, out.FlowsSeen = seconds, flows
	if out.RxPPS = 0; seconds > 0 {
		out.RxPPS = float64(out.RxPackets) / seconds
	}
	out.Warnings = append(append([]string(nil), r.Warnings...), o.Warnings...)
	return out
}
