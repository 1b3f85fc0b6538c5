package request

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"
)

// chance returns a random outcome of any kind.
func chance(r *rand.Rand) Outcome {
	o := Outcome{Due: time.Duration(r.IntN(1000)) * ms, Kind: Kind(r.IntN(int(kinds))), Code: r.IntN(700), Body: r.Int64N(1e6), Target: r.IntN(3)}
	o.Free = time.Duration(r.IntN(1000)) * ms
	o.Start = max(o.Due, o.Free) + time.Duration(r.IntN(3000))*time.Microsecond
	o.End = o.Start + time.Duration(1+r.IntN(5e6))*time.Microsecond
	return o
}

// TestShardsAddUp: the sum of many lanes' accounts is that of one lane that saw everything, in
// whatever order they are added.
func TestShardsAddUp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	whole, forth, back := NewAccount(3), NewAccount(3), NewAccount(3)
	var parts []*Account
	for range 7 {
		part := NewAccount(3)
		for range r.IntN(60) {
			o := chance(r)
			part.Add(o)
			whole.Add(o)
		}
		for _, a := range []*Account{part, whole} {
			a.Unsent(7 * time.Second)
			a.Unfinished()
			a.Reopened()
			a.Connected(3 * ms)
		}
		parts = append(parts, part)
	}
	for i := range parts {
		forth.Merge(parts[i])
		back.Merge(parts[len(parts)-1-i])
	}
	m := Meter{Elapsed: 3 * time.Second, CPU: time.Second, CPUs: 2, Rate: 4}
	want := whole.Result(m)
	for _, a := range []*Account{forth, back} {
		if got := a.Result(m); !reflect.DeepEqual(got, want) {
			t.Errorf("added up\n%+v\nwant\n%+v", got, want)
		}
	}
	var answered, failed, body uint64
	for _, c := range want.Targets {
		answered, failed, body = answered+c.Answered, failed+c.Failed, body+c.Body
	}
	if answered != want.Answered || failed != want.Failed || body != want.BodyBytes || want.Requests != want.Answered+want.Failed {
		t.Errorf("targets have %d answered, %d failed and %d bytes of %+v", answered, failed, body, want)
	}
	sum := uint64(0)
	for _, e := range want.Errors {
		sum += e.Count
	}
	if sum != want.Failed {
		t.Errorf("%d errors of %d failures", sum, want.Failed)
	}
}

// TestWithin: the share within a time grows with the time up to all answered and late requests;
// failed and unsent ones are never within.
func TestWithin(t *testing.T) {
	a := NewAccount(1)
	if a.Within(time.Hour) != 0 {
		t.Error("an empty account has requests in time")
	}
	for i := range 8 {
		a.Add(Outcome{End: time.Duration(i+1) * 10 * ms})
	}
	a.Add(Outcome{Kind: Refused, End: ms})
	a.Unsent(time.Second)
	for d, want := range map[time.Duration]float64{0: 0, 9 * ms: 0, 10100 * time.Microsecond: 0.1, 45 * ms: 0.4, 81 * ms: 0.8, 900 * ms: 0.8} {
		if got := a.Within(d); math.Abs(got-want) > 1e-9 {
			t.Errorf("within %s: %g, want %g", d, got, want)
		}
	}
}

// TestBins: every latency is in one bin, long ones in the last.
func TestBins(t *testing.T) {
	a := NewAccount(1)
	for _, at := range []time.Duration{1, 5 * ms, 15 * ms, 15 * ms, 29 * ms, 31 * ms, time.Hour, 3 * time.Hour} {
		a.Add(Outcome{End: at})
	}
	if got := a.Bins(10*ms, 4); !slices.Equal(got, []uint64{2, 2, 1, 3}) {
		t.Errorf("%v", got)
	}
	if l := a.Result(Meter{}).Latency; l.Max < int64(time.Hour)-int64(time.Hour)/500 || l.N != 8 {
		t.Errorf("beyond an hour: %+v", *l)
	}
}

// TestMeters: meters of consecutive loads add their times.
func TestMeters(t *testing.T) {
	a := Meter{Elapsed: time.Second, CPU: 2, CPUs: 1, Rate: 5, Early: 6, Settle: 7, Negotiated: "TLS 1.2"}
	b := Meter{Elapsed: time.Second, CPU: 20, CPUs: 2, Rate: 50, Early: 60, Settle: 70}
	want := Meter{Elapsed: 2 * time.Second, CPU: 22, CPUs: 2, Rate: 50, Early: 66, Settle: 77, Negotiated: "TLS 1.2"}
	if got := a.Plus(b); got != want {
		t.Errorf("%+v", got)
	}
	if got := b.Plus(a); got.Negotiated != "TLS 1.2" {
		t.Errorf("spoken %q", got.Negotiated)
	}
}

// TestSettled: for a server that continues working after the last answer, the settled rate covers both times.
func TestSettled(t *testing.T) {
	a := NewAccount(1)
	for range 300 {
		a.Add(Outcome{})
	}
	r := a.Result(Meter{Elapsed: 2 * time.Second, Settle: time.Second})
	if r.RequestRate != 150 || r.SettledRate != 100 || r.SettleSeconds != 1 {
		t.Errorf("%+v", r)
	}
	if r = a.Result(Meter{Elapsed: 2 * time.Second}); r.SettledRate != 0 {
		t.Errorf("a server that settles at once has a settled rate of %g", r.SettledRate)
	}
}

// TestFirstMessage: the first message of each kind of failure is kept, whichever lane counted it, and
// connections are counted one by one.
func TestFirstMessage(t *testing.T) {
	a, b := NewAccount(1), NewAccount(1)
	for _, detail := range []string{"first", "first", "second", "second", "second"} {
		a.Add(Outcome{Kind: Closed, Detail: detail})
	}
	b.Add(Outcome{Kind: Closed, Detail: "another lane's"})
	b.Add(Outcome{Kind: Reset, Detail: "only here"})
	a.Merge(b)
	for range 3 {
		a.Reopened()
		a.Connected(ms)
	}
	r := a.Result(Meter{Elapsed: time.Second})
	if len(r.Errors) != 2 || r.Errors[0].First != "only here" || r.Errors[1].First != "first" || r.Errors[1].Count != 6 || r.Connections != 3 || r.Reopened != 3 {
		t.Errorf("%+v, %d connections, %d made again", r.Errors, r.Connections, r.Reopened)
	}
}
