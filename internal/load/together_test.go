package load

import (
	"context"
	"errors"
	"testing"
	"time"
)

// fakeEnd is an end that records what it was asked for.
type fakeEnd struct {
	offer  *Offer
	fail   error
	closed *int
}

func (p fakeEnd) Probe(context.Context) error { return p.fail }
func (p fakeEnd) Close() error                { *p.closed++; return nil }
func (p fakeEnd) Reset() error                { return p.fail }

func (p fakeEnd) Run(ctx context.Context, o Offer) (Sent, error) {
	*p.offer = o
	if p.fail != nil {
		return Sent{}, p.fail
	}
	if o.Limit.Packets == 0 { // only another's failure ends it
		<-ctx.Done()
		return Sent{}, ctx.Err()
	}
	return Sent{TxPackets: o.Limit.Packets, TargetPPS: float64(o.Rate.PPS)}, nil
}

// arrived is a receiver of a fixed number of frames.
type arrived struct {
	fakeEnd
	packets uint64
}

func (a arrived) Snapshot() (Received, error) {
	var d Histogram
	d.Count(a.packets)
	return Received{RxPackets: a.packets, Seconds: 1, TxPackets: &a.packets, Delays: d, Latency: d.Latency(), Warnings: []string{"generic"}}, a.fail
}
func (a arrived) Finish(context.Context, time.Duration) (Received, error) { return a.Snapshot() }

func TestTogether(t *testing.T) {
	var offers [2]Offer
	closed := 0
	ways := []Way{
		{"a → b", 0.25, fakeEnd{&offers[0], nil, &closed}, arrived{fakeEnd{nil, nil, &closed}, 90}},
		{"b → a", 0.75, fakeEnd{&offers[1], nil, &closed}, arrived{fakeEnd{nil, nil, &closed}, 80}},
	}
	gen, rx := Together(ways)
	ctx := context.Background()
	sent, err := gen.Run(ctx, Offer{Rate: Rate{PPS: 1001}, Limit: Limit{Packets: 100}})
	if err != nil || sent.TxPackets != 200 || offers[0].Rate.PPS != 250 || offers[1].Rate.PPS != 751 || sent.TargetPPS != 1001 {
		t.Errorf("%+v of %+v, %v", sent, offers, err)
	}
	if _, err := gen.Run(ctx, Offer{Rate: Rate{BPS: 1}, Limit: Limit{Packets: 1}}); err != nil || offers[0].Rate.BPS != 1 {
		t.Errorf("a tiny share of a rate became an unlimited rate: %+v, %v", offers[0], err)
	}
	if _, err := gen.Run(ctx, Offer{Limit: Limit{Packets: 1}}); err != nil || offers[1].Rate != (Rate{}) {
		t.Errorf("the maximum rate became %+v, %v", offers[1], err)
	}
	got, err := rx.Finish(ctx, 0)
	if err != nil || got.RxPackets != 170 || len(got.Ways) != 2 || got.Ways[1].Way != "b → a" || got.Ways[1].RxPackets != 80 || got.RxPPS != 170 {
		t.Errorf("%+v, %v", got, err)
	}
	if both := got.Plus(got).Ways[1].Latency; both == nil || both.Min != 80 || both.Max != 80 || len(got.Warnings) != 1 {
		t.Errorf("another transmission's added: %+v, %q", both, got.Warnings)
	}
	if err := errors.Join(gen.Close(), rx.Close()); err != nil || closed != 4 {
		t.Errorf("%d of 4 ends closed, %v", closed, err)
	}
	// If one end fails, the other is stopped.
	failed := errors.New("no carrier")
	ways[0].Generator = fakeEnd{&offers[0], failed, &closed}
	gen, _ = Together(ways)
	if _, err := gen.Run(ctx, Offer{}); !errors.Is(err, failed) {
		t.Error(err)
	}
	if one, _ := Together(ways[1:]); one != ways[1].Generator {
		t.Error("a single way must not be wrapped")
	}
}
