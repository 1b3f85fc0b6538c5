package drop

import (
	"math/rand/v2"
	"testing"
)

func TestAttribute(t *testing.T) {
	for name, c := range map[string]struct {
		offered, delivered uint64
		counted            Counters
		want               map[Place]uint64
		excess             uint64
	}{
		"all arrived":   {offered: 10, delivered: 10, want: map[Place]uint64{Delivered: 10}},
		"nothing known": {offered: 10, delivered: 4, want: map[Place]uint64{Delivered: 4, Unknown: 6}},
		"overload": {offered: 100, delivered: 30, counted: Counters{"generator.output_drops": 70, "ip.received": 30},
			want: map[Place]uint64{Delivered: 30, IngressQueue: 70}},
		"a time to live is no checksum": {offered: 100, counted: Counters{"ip.header_errors": 100, "ip.checksum_errors": 40},
			want: map[Place]uint64{Checksum: 40, TTL: 60}},
		"the table is full": {offered: 100, delivered: 60, counted: Counters{"conntrack.drop": 30, "conntrack.insert_failed": 10},
			want: map[Place]uint64{Delivered: 60, Conntrack: 40}},
		"rules and the table": {offered: 100, delivered: 50, counted: Counters{"conntrack.drop": 30, "nft.drop": 20},
			want: map[Place]uint64{Delivered: 50, Conntrack: 30, Firewall: 20}},
		"the machine's own drops explain no more than is missing": {offered: 100, delivered: 90, counted: Counters{"softnet.dropped": 11},
			want: map[Place]uint64{Delivered: 90, Backlog: 10}},
		"the machine's own drops explain a part": {offered: 100, delivered: 60, counted: Counters{"softnet.dropped": 30},
			want: map[Place]uint64{Delivered: 60, Backlog: 30, Unknown: 10}},
		"another program's drops explain nothing": {offered: 100, delivered: 90, counted: Counters{"softnet.dropped": 5000},
			want: map[Place]uint64{Delivered: 90, Unknown: 10}},
		"nothing is missing, and another program drops": {offered: 100, delivered: 40, counted: Counters{"generator.output_drops": 60, "softnet.dropped": 1},
			want: map[Place]uint64{Delivered: 40, IngressQueue: 60}},
		"a star": {offered: 9, delivered: 2, counted: Counters{"qdisc.dut1.drops": 4, "qdisc.other.drops": 3, "qdisc.drops": 8},
			want: map[Place]uint64{Delivered: 2, Qdisc: 7}},
		"more than were offered": {offered: 10, delivered: 10, counted: Counters{"ip.header_errors": 3},
			want: map[Place]uint64{Delivered: 10, TTL: 3}, excess: 3},
	} {
		a := Attribute(c.offered, c.delivered, 0, c.counted)
		for _, p := range Places() {
			if a.At(p) != c.want[p] {
				t.Errorf("%s: %d frames ended at %q, want %d", name, a.At(p), p, c.want[p])
			}
		}
		if a.Excess != c.excess {
			t.Errorf("%s: excess %d, want %d", name, a.Excess, c.excess)
		}
	}
}

// TestClosed: whatever the counters say, the account is closed.
func TestClosed(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	total := Account{}
	var offered uint64
	for range 1000 {
		counted := Counters{}
		for _, s := range sources {
			counted[s.counter] = rng.Uint64N(20)
		}
		n := rng.Uint64N(1000)
		a := Attribute(n, rng.Uint64N(n+1), rng.Uint64N(5), counted)
		closed(t, a)
		total, offered = total.Plus(a), offered+n
	}
	closed(t, total)
	if total.Offered != offered {
		t.Errorf("%d offered in all, want %d", total.Offered, offered)
	}
}

func closed(t *testing.T, a Account) {
	t.Helper()
	var in uint64
	for _, b := range a.Buckets {
		in += b.Frames
		var causes uint64
		for _, c := range b.Causes {
			causes += c.Frames
		}
		if b.Place != Delivered && causes != b.Frames {
			t.Fatalf("%s holds %d frames, its causes %d", b.Place, b.Frames, causes)
		}
	}
	if in+a.Unknown != a.Offered+a.Excess {
		t.Fatalf("%d in buckets + %d unknown is not %d offered + %d in excess", in, a.Unknown, a.Offered, a.Excess)
	}
}

func TestSince(t *testing.T) {
	got := Counters{"a": 5, "b": 3, "c": 7}.Since(Counters{"a": 2, "b": 3, "c": 9})
	if len(got) != 1 || got["a"] != 3 {
		t.Errorf("%v", got)
	}
}

func TestEveryPlaceHasWords(t *testing.T) {
	for _, p := range Places() {
		if p.Words() == "" {
			t.Errorf("%q has no words", p)
		}
	}
}
