package remoteload

import (
	"context"
	"testing"
	"time"

	"linerate/internal/load"
	"linerate/internal/port"
)

// delaying is an engine whose receivers saw one frame with the given delay.
type delaying struct {
	fake
	ns uint64
}

func (d delaying) NewReceiver(string, port.Place, load.Watch) (load.Receiver, error) {
	return delayed{fakeRecv(d.fake), d.ns}, nil
}

type delayed struct {
	fakeRecv
	ns uint64
}

func (d delayed) Finish(context.Context, time.Duration) (load.Received, error) {
	var h load.Histogram
	h.Count(d.ns)
	return load.Received{RxPackets: 1, Seconds: 1, Delays: h, Latency: h.Latency()}, nil
}

// TestDelaysOverTheLink: accounts of several ways, or of consecutive transmissions, have a latency if
// both ends share a clock, and none otherwise.
func TestDelaysOverTheLink(t *testing.T) {
	for boot, known := range map[string]bool{"boot-1": true, "boot-2": false} {
		near, _ := served(t, "boot-1", delaying{silent(), 1000})
		far, _ := served(t, boot, delaying{silent(), 3000})
		var ways []load.Way
		for _, l := range []*Link{near, far} {
			r, err := (&Engine{Generator: side(near), Receiver: side(far)}).NewReceiver("x", nil, load.Watch{})
			if l == near {
				r, err = (&Engine{Generator: side(far), Receiver: side(near)}).NewReceiver("x", nil, load.Watch{})
			}
			if err != nil {
				t.Fatal(err)
			}
			ways = append(ways, load.Way{Receiver: r})
		}
		_, both := load.Together(ways)
		got, err := both.Finish(t.Context(), time.Second)
		if err != nil || got.RxPackets != 2 || (got.Latency != nil) != known {
			t.Fatalf("clocks of boot-1 and %s: %+v, latency %+v, %v", boot, got, got.Latency, err)
		}
		twice := got.Plus(got)
		if known && (got.Latency.Min != 1000 || got.Latency.Max != 3000 || twice.Delays.Total() != 4) {
			t.Errorf("latency %+v", got.Latency)
		}
		if (twice.Latency != nil) != known {
			t.Errorf("one after the other: latency %+v", twice.Latency)
		}
	}
}

// TestHostileDelays: a histogram of another shape is not added.
func TestHostileDelays(t *testing.T) {
	var h load.Histogram
	h.Counts = make([]uint64, 3)
	l, _ := served(t, "boot-1", odd{silent(), h})
	r, err := (&Engine{Generator: side(l), Receiver: side(l)}).NewReceiver("x", nil, load.Watch{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Finish(t.Context(), time.Second)
	if err != nil || got.Delays.Counts != nil {
		t.Errorf("%+v, %v", got.Delays, err)
	}
	got.Plus(got) // must not panic
}

type odd struct {
	fake
	h load.Histogram
}

func (o odd) NewReceiver(string, port.Place, load.Watch) (load.Receiver, error) {
	return oddRecv{fakeRecv(o.fake), o.h}, nil
}

type oddRecv struct {
	fakeRecv
	h load.Histogram
}

func (o oddRecv) Finish(context.Context, time.Duration) (load.Received, error) {
	return load.Received{RxPackets: 1, Delays: o.h}, nil
}
