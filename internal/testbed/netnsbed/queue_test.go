package netnsbed

import (
	"math"
	"testing"
	"time"

	"linerate/internal/testbed"
)

const ms = int64(time.Millisecond)

func TestDelayKeepsOrder(t *testing.T) {
	q := newQueue(testbed.Link{Delay: 40 * time.Millisecond, Jitter: 5 * time.Millisecond}, 1, 0)
	for i := range 5000 {
		if q.arrive(int64(i)*ms/10, []byte{byte(i)}) != queued {
			t.Fatal("not queued")
		}
	}
	last := int64(0)
	var sum float64
	for i := range 5000 {
		p := q.pop()
		if p.data[0] != byte(i) || p.due < last {
			t.Fatalf("packet %d is out of order", i)
		}
		late := p.due - int64(i)*ms/10
		if late < 35*ms || late > 45*ms+ms/10 {
			t.Fatalf("packet %d is due after %v", i, time.Duration(late))
		}
		last, sum = p.due, sum+float64(late)
	}
	if _, ok := q.next(); ok {
		t.Error("the queue is not empty")
	}
}

func TestLossIsAsAsked(t *testing.T) {
	q := newQueue(testbed.Link{Loss: 0.02}, 7, 0)
	n := 0
	for range 100_000 {
		if q.arrive(0, q.buffer()) == lost {
			n++
		} else {
			q.giveBack(q.pop().data)
		}
	}
	if math.Abs(float64(n)-2000) > 200 { // 4.5 standard deviations
		t.Errorf("%d of 100,000 lost, want 2,000", n)
	}
}

func TestRateAndItsQueue(t *testing.T) {
	l := testbed.Link{Delay: 10 * time.Millisecond, Rate: 12e6} // a packet of 1500 bytes takes a millisecond
	q := newQueue(l, 1, 0)
	in, out := 0, 0
	for range 1000 {
		if q.arrive(0, make([]byte, 1500)) == queued {
			in++
		} else {
			out++
		}
	}
	if want := l.Queue()/1500 + 1; in != want || out != 1000-want {
		t.Errorf("%d of 1000 packets were queued, want %d", in, want)
	}
	for i := range in {
		if due, _ := q.next(); due != int64(i+1)*ms+10*ms {
			t.Fatalf("packet %d is due at %v", i, time.Duration(due))
		}
		q.pop()
	}
	// The link is idle again after them.
	q.arrive(int64(in+5)*ms, make([]byte, 1500))
	if due, _ := q.next(); due != int64(in+6)*ms+10*ms {
		t.Errorf("after a pause a packet is due at %v", time.Duration(due))
	}
}

func TestLateness(t *testing.T) {
	var k tally
	b := batch{packets: 1000}
	for i := range 1000 {
		b.late = append(b.late, int64(i+1)*1000) // 1 µs to 1 ms
	}
	k.add(&b)
	got := k.read()
	for _, c := range []struct{ got, want int64 }{{got.LateP50, 500_000}, {got.LateP99, 990_000}} {
		if math.Abs(float64(c.got-c.want)) > 0.01*float64(c.want) {
			t.Errorf("a quantile is %d, want %d to a hundredth", c.got, c.want)
		}
	}
	if got.LateMean != 500_500 || got.LateOver != 0 {
		t.Errorf("%+v", got)
	}
	k.add(&batch{packets: 1, late: []int64{3 * ms}})
	if got := k.read(); got.LateOver != 1 || got.LateMax != 3*ms || got.Packets != 1001 {
		t.Errorf("%+v", got)
	}
}

func TestAQueueGrowsAndWraps(t *testing.T) {
	q := newQueue(testbed.Link{}, 1, 0)
	in, out := 0, 0
	for round := range 50 {
		for range 100 + round {
			q.arrive(int64(in), []byte{byte(in)})
			in++
		}
		for range 80 {
			if p := q.pop(); p.data[0] != byte(out) {
				t.Fatalf("packet %d came out as %d", out, p.data[0])
			}
			out++
		}
	}
	if q.n != in-out {
		t.Errorf("%d left, want %d", q.n, in-out)
	}
}
