package drop

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCausesOfPlaces: largest first, the receiver's own loss beside the others, and a
// counter of the whole machine after those of the DUT.
func TestCausesOfPlaces(t *testing.T) {
	a := Attribute(100, 50, 3, Counters{"ip.reverse_path_drops": 5, "ip.input_no_route": 9, "neigh.arp.unresolved_discards": 4, "softnet.dropped": 30, "qdisc.eth0.drops": 0, "qdisc..drops": 7, "unknown.counter": 99})
	names := map[Place][]string{}
	for _, b := range a.Buckets {
		for _, c := range b.Causes {
			names[b.Place] = append(names[b.Place], c.Name)
		}
	}
	// 33 are missing beside what the DUT's own counters tell: 30 of the backlog, and of the
	// neighbours' 4, which is more than the 3 left by a third, none.
	want := map[Place][]string{Backlog: {"softnet.dropped"}, Route: {"ip.input_no_route", "ip.reverse_path_drops"}, Receiver: {"receiver_dropped"}}
	if d := cmp.Diff(want, names); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if a.At(Receiver) != 3 || a.At(Delivered) != 50 || a.At(Backlog) != 30 || a.At(Route) != 14 || a.Unknown != 3 || a.Excess != 0 {
		t.Errorf("%+v", a)
	}
	if a.Percent(Delivered) != 50 || a.UnknownPercent() != 3 || (Account{}).UnknownPercent() != 0 || (Account{}).At(Qdisc) != 0 {
		t.Errorf("%v %% delivered, %v %% unknown", a.Percent(Delivered), a.UnknownPercent())
	}
	closed(t, a)
}

// TestSumsOfAccounts: order and grouping change nothing; of nothing a sum is as it was.
func TestSumsOfAccounts(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var all []Account
	for range 6 {
		n := r.Uint64N(100)
		all = append(all, Attribute(n, r.Uint64N(n+1), r.Uint64N(9), Counters{"ip.input_no_route": r.Uint64N(30), "softnet.dropped": r.Uint64N(90), "qdisc.eth0.drops": r.Uint64N(20)}))
	}
	frames := func(a Account) map[Place]uint64 {
		m := map[Place]uint64{"excess": a.Excess, "offered": a.Offered}
		for _, p := range Places() {
			m[p] = a.At(p)
		}
		return m
	}
	left, right := Account{}, Account{}
	for i := range all {
		left, right = left.Plus(all[i]), all[len(all)-1-i].Plus(right)
	}
	halves := all[0].Plus(all[1]).Plus(all[2]).Plus(all[3].Plus(all[4]).Plus(all[5]))
	if d := cmp.Diff(frames(left), frames(right)) + cmp.Diff(frames(left), frames(halves)); d != "" {
		t.Errorf("grouping changes the sum:\n%s", d)
	}
	if d := cmp.Diff(frames(all[0]), frames(all[0].Plus(Account{}))); d != "" {
		t.Errorf("of nothing:\n%s", d)
	}
	before := frames(all[0])
	for _, b := range all[0].Plus(all[1]).Buckets {
		for i := range b.Causes {
			b.Causes[i].Frames = 0
		}
	}
	if d := cmp.Diff(before, frames(all[0])); d != "" {
		t.Errorf("a sum shares its causes:\n%s", d)
	}
	sum := Counters(nil).Plus(Counters{"a": 1})
	again := sum.Plus(Counters{"a": 2, "b": 3})
	if sum["a"] != 1 || len(sum) != 1 || again["a"] != 3 || again["b"] != 3 {
		t.Errorf("%v, %v", sum, again)
	}
}
