package request

import (
	"math"
	"slices"
	"testing"
	"time"
)

func TestConstantArrivalsDoNotDrift(t *testing.T) {
	a := NewArrivals(Constant, 3, 1)
	var at time.Duration
	for range 3_000_001 {
		at = a.Next()
	}
	if want := 1_000_000 * time.Second; (at - want).Abs() > time.Microsecond {
		t.Errorf("request 3,000,001 of 3 per second is due at %v, want %v", at, want)
	}
}

func TestPoissonArrivals(t *testing.T) {
	const n, rate = 200_000, 1000.0
	a, b, c := NewArrivals(Poisson, rate, 7), NewArrivals(Poisson, rate, 7), NewArrivals(Poisson, rate, 8)
	var last time.Duration
	var sum, squares float64
	same := true
	for range n {
		at := a.Next()
		if at != b.Next() {
			t.Fatal("two schedules of one seed differ")
		}
		same = same && at == c.Next()
		gap := (at - last).Seconds() * rate
		last = at
		sum += gap
		squares += gap * gap
	}
	mean := sum / n
	sd := math.Sqrt(squares/n - mean*mean)
	// The mean of n exponential gaps has a standard error of 1/√n, 0.22 %.
	if math.Abs(mean-1) > 0.01 || math.Abs(sd-1) > 0.02 {
		t.Errorf("gaps have a mean of %.4f and a standard deviation of %.4f of the interval, want 1 and 1", mean, sd)
	}
	if same {
		t.Error("two seeds give the same schedule")
	}
}

func TestMixesOfOneSeedAreOne(t *testing.T) {
	m, again, other := NewMix(3, 5, 0), NewMix(3, 5, 0), NewMix(3, 5, 1)
	same := true
	for range 100 {
		i := m.Next()
		if i != again.Next() {
			t.Fatal("two mixes of one seed differ")
		}
		same = same && i == other.Next()
	}
	if same {
		t.Error("two streams of one seed are equal")
	}
}

// TestMixOfFewIsTheMixOfMany: an object that is the third of five is the same one when only a few
// requests are made.
func TestMixOfFewIsTheMixOfMany(t *testing.T) {
	for seed := range uint64(200) {
		m := NewMix(5, seed, 0)
		var counts [5]int
		var order []int
		for range 2 * perPass * 5 {
			i := m.Next()
			counts[i]++
			order = append(order, i)
		}
		if counts != [5]int{4, 4, 4, 4, 4} {
			t.Fatalf("seed %d: of 20 requests the five objects had %v", seed, counts)
		}
		if half := len(order) / 2; slices.Equal(order[:half], order[half:]) {
			t.Fatalf("seed %d: all passes have the same order", seed)
		}
	}
}

const ms = time.Millisecond

func TestAccount(t *testing.T) {
	a, b := NewAccount(2), NewAccount(2)
	a.Add(Outcome{Due: 0, Start: 1 * ms, End: 11 * ms, Code: 200, Body: 100})
	a.Add(Outcome{Due: 10 * ms, Free: 50 * ms, Start: 53 * ms, End: 60 * ms, Code: 503, Kind: Status, Target: 1})
	b.Add(Outcome{Due: 20 * ms, Start: 20 * ms, End: 1020 * ms, Kind: Late, Detail: "first"})
	b.Add(Outcome{Due: 30 * ms, Start: 30 * ms, End: 31 * ms, Kind: Refused, Detail: "no"})
	b.Unsent(2 * time.Second)
	b.Connected(3 * ms)
	a.Merge(b)
	r := a.Result(Meter{Elapsed: 2 * time.Second, CPU: ms, CPUs: 2, Rate: 2})
	if r.Requests != 4 || r.Answered != 1 || r.Failed != 3 || r.Unsent != 1 || r.Waited != 1 || r.Connections != 1 {
		t.Errorf("counts: %+v", r)
	}
	// Latency includes answered, late and unsent requests.
	if l := r.Latency; l.N != 4 || !near(l.Max, 2*time.Second) || !near(l.P50, 50*ms) {
		t.Errorf("latency %+v", *l)
	}
	if s := r.Service; s.N != 3 || !near(s.P50, 10*ms) {
		t.Errorf("service time %+v", *s)
	}
	// Of a request that waited for a connection, only the time after it got one is the generator's lag.
	if l := r.Generator.Lag; !near(l.Max, 3*ms) {
		t.Errorf("lag %+v", *l)
	}
	if len(r.Errors) != 3 || r.Errors[0].Kind != "connect_refused" || r.Errors[1].First != "first" || r.Codes["503"] != 1 {
		t.Errorf("errors %+v, codes %v", r.Errors, r.Codes)
	}
	if r.Targets[0].Answered != 1 || r.Targets[1].Failed != 1 {
		t.Errorf("targets %+v", r.Targets)
	}
}

func near(got int64, want time.Duration) bool { return math.Abs(float64(got)/float64(want)-1) < 0.002 }

func TestKindsHaveNames(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Kinds() {
		if k.String() == "" || k.Text() == "" || seen[k.String()] {
			t.Errorf("kind %d is named %q, %q", k, k.String(), k.Text())
		}
		seen[k.String()] = true
	}
}
