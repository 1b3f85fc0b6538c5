package accesslog

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// served is a request as a server knows it, before it writes a line about it.
type served struct {
	at           time.Time
	method, path string
	host         string
	status       int
	bytes, us    int64
}

// visits returns n requests, half a second apart, some of them identical.
func visits(n int, seed uint64) []served {
	r := rand.New(rand.NewPCG(seed, 9))
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	all := make([]served, n)
	for i := range all {
		all[i] = served{
			at:     time.Date(2026, 3, 1, 12, 0, i/2, 0, time.UTC),
			method: one("GET", "GET", "GET", "POST", "HEAD"),
			path:   one("/", "/a", "/a/b.js", "/a/c.css", "/api/v1/users", "/api/v2/users?page=2", "/static/img/x.png", "/static/x.js?v=1"),
			host:   one("a.example", "b.example"),
			status: []int{200, 200, 204, 301, 404, 499, 500, 503}[r.IntN(8)],
			bytes:  int64(r.IntN(5_000_000)),
			us:     1000 * int64(r.ExpFloat64()*80),
		}
	}
	return all
}

// writers are formats, each with a function that writes lines as its servers do.
var writers = []struct {
	name, format string
	line         func(s served) string
}{
	{"combined and seconds, found", "", func(s served) string {
		return fmt.Sprintf(`192.0.2.1 - - [%s] "%s %s HTTP/1.1" %d %d "-" "x" %d.%03d`, s.at.Format("02/Jan/2006:15:04:05 -0700"), s.method, s.path, s.status, s.bytes, s.us/1e6, s.us/1e3%1e3)
	}},
	{"log_format", `$time_iso8601 $host $request_method $request_uri $status $body_bytes_sent $request_time`, func(s served) string {
		return fmt.Sprintf(`%s %s %s %s %d %d %d.%03d`, s.at.Format(time.RFC3339), s.host, s.method, s.path, s.status, s.bytes, s.us/1e6, s.us/1e3%1e3)
	}},
	{"LogFormat", `%t %v "%r" %>s %b %D`, func(s served) string {
		return fmt.Sprintf(`[%s] %s "%s %s HTTP/1.1" %d %d %d`, s.at.Format("02/Jan/2006:15:04:05 -0700"), s.host, s.method, s.path, s.status, s.bytes, s.us)
	}},
	{"JSON, found", "", func(s served) string {
		return fmt.Sprintf(`{"ts":%d.25,"host":%q,"request":{"method":%q,"uri":%q},"status":%d,"size":%d,"duration_us":%d}`, s.at.Unix(), s.host, s.method, s.path, s.status, s.bytes, s.us)
	}},
}

// selections are filters, each with the same condition on a request.
var selections = []struct {
	name   string
	filter func(t *testing.T) Filter
	takes  func(s served) bool
}{
	{"all", func(*testing.T) Filter { return Filter{} }, func(served) bool { return true }},
	{"errors", statuses("4xx,500-599"), func(s served) bool { return s.status >= 400 }},
	{"one status", statuses("204"), func(s served) bool { return s.status == 204 }},
	{"below a path", func(*testing.T) Filter { return Filter{Path: "/a"} }, func(s served) bool { return strings.HasPrefix(s.path, "/a") }},
	{"all at once", func(t *testing.T) Filter {
		f := statuses("2xx")(t)
		f.Path = "/a"
		return f
	}, func(s served) bool {
		return s.status/100 == 2 && strings.HasPrefix(s.path, "/a")
	}},
}

func statuses(text string) func(t *testing.T) Filter {
	return func(t *testing.T) Filter {
		t.Helper()
		s, err := ParseStatuses(text)
		if err != nil {
			t.Fatal(err)
		}
		return Filter{Statuses: s}
	}
}

// TestEveryFormatTellsTheSame: the counts of a log equal those of a plain walk through the
// requests, in every format and with every filter.
func TestEveryFormatTellsTheSame(t *testing.T) {
	all := visits(800, 5)
	asked := 0
	for _, w := range writers {
		var log strings.Builder
		for _, s := range all {
			log.WriteString(w.line(s) + "\n")
		}
		for _, sel := range selections {
			t.Run(w.name+"/"+sel.name, func(t *testing.T) {
				o := &Options{Filter: sel.filter(t), Under: []time.Duration{time.Millisecond, 50 * time.Millisecond}, Failed: true, Timeline: true}
				if w.format != "" {
					f, err := ParseFormat(w.format)
					if err != nil {
						t.Fatal(err)
					}
					o.Format = f
				}
				got, _, err := Read(context.Background(), []string{"-"}, strings.NewReader(log.String()), o)
				if err != nil {
					t.Fatal(err)
				}
				if got.Lines != int64(len(all)) || got.BadLines() != 0 {
					t.Fatalf("%d lines, %d bad", got.Lines, got.BadLines())
				}
				var kept []served
				for _, s := range all {
					if sel.takes(s) {
						kept = append(kept, s)
					}
				}
				asked++
				held(t, got, kept)
			})
		}
	}
	if asked < len(writers)*len(selections) {
		t.Errorf("%d of %d pairs were compared", asked, len(writers)*len(selections))
	}
}

// held compares a tally with its requests.
func held(t *testing.T, got *Tally, kept []served) {
	t.Helper()
	if len(kept) == 0 {
		t.Fatal("nothing is selected: the test shows nothing")
	}
	var sum int64
	under := make([]int64, 2)
	latencies := make([]float64, len(kept))
	var failed int64
	for i, s := range kept {
		sum += s.us
		latencies[i] = float64(s.us)
		for j, limit := range []int64{1000, 50_000} {
			if s.us < limit {
				under[j]++
			}
		}
		if s.status >= 500 {
			failed++
		}
	}
	slices.Sort(latencies)
	if got.Selected != int64(len(kept)) || got.Sum != sum || !slices.Equal(got.Under, under) || float64(got.Min) != latencies[0] || float64(got.Max) != latencies[len(kept)-1] {
		t.Errorf("%d selected, %d µs in all, %v below, %d to %d; want %d, %d, %v, %g to %g", got.Selected, got.Sum, got.Under, got.Min, got.Max,
			len(kept), sum, under, latencies[0], latencies[len(kept)-1])
	}
	for _, q := range []float64{0.5, 0.9, 0.99} {
		at := latencies[max(1, int(q*float64(len(kept))+0.5))-1] // the nearest rank
		if v := float64(got.Quantile(q)); !(math.Abs(v-at) <= 0.001*at+1000) {
			t.Errorf("quantile %g: %g µs, want %g", q, v, at)
		}
	}
	if got.Failed != failed {
		t.Errorf("%d failed, want %d", got.Failed, failed)
	}
	var inSlots int64
	for _, h := range got.timeline {
		inSlots += h.TotalCount()
	}
	if inSlots != got.Selected {
		t.Errorf("%d requests in the timeline, %d selected", inSlots, got.Selected)
	}
}

// TestLatenciesAgainstRationals: a latency is its decimal number times the unit, truncated to whole
// microseconds, in every unit and with any number of decimals.
func TestLatenciesAgainstRationals(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, unit := range []Unit{Seconds, Milliseconds, Microseconds} {
		for range 5000 {
			text := fmt.Sprintf("%d", r.IntN(3000))
			if n := r.IntN(10); n > 0 {
				text += "." + fmt.Sprintf("%010d", r.Int64N(1e10))[:n]
			}
			exact, _ := new(big.Rat).SetString(text)
			exact.Mul(exact, big.NewRat(int64(unit), 1))
			want := new(big.Int).Quo(exact.Num(), exact.Denom()).Int64()
			if got, ok := parseLatency([]byte(text), unit); !ok || got != want {
				t.Fatalf("%s of %g µs: %d, %v, want %d", text, unit, got, ok, want)
			}
			if got, ok := parseLatency([]byte(text+", "+text+" : -"), unit); !ok || got != 2*want {
				t.Fatalf("twice %s: %d, %v, want %d", text, got, ok, 2*want)
			}
		}
	}
	for _, bad := range []string{"", "-", "+1", "-1", "1e3", ".", "1.2.3", "0x10", "1,,x", "NaN"} {
		if got, ok := parseLatency([]byte(bad), Seconds); ok {
			t.Errorf("%q is %d µs", bad, got)
		}
	}
}

// TestPartsOfALogAddUp: the halves of a log, wherever it is cut, merge into exactly the tally of
// the whole, bin by bin.
func TestPartsOfALogAddUp(t *testing.T) {
	all := visits(600, 8)
	tally := func(part []served) *Tally {
		var log strings.Builder
		for _, s := range part {
			log.WriteString(writers[3].line(s) + "\n")
		}
		got, _, err := Read(context.Background(), []string{"-"}, strings.NewReader(log.String()), &Options{Failed: true, Under: []time.Duration{20 * time.Millisecond}})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	whole := tally(all)
	for _, cut := range []int{1, 17, 300, 599} {
		parts := tally(all[cut:])
		parts.Merge(tally(all[:cut]))
		if parts.Selected != whole.Selected || parts.Sum != whole.Sum || parts.Min != whole.Min || parts.Max != whole.Max ||
			!slices.Equal(parts.Under, whole.Under) || parts.Failed != whole.Failed {
			t.Errorf("cut at %d: %+v\nwant %+v", cut, parts, whole)
		}
		for q := 0.0; q <= 1; q += 0.05 {
			if parts.Quantile(q) != whole.Quantile(q) {
				t.Errorf("cut at %d: quantile %.2f is %d, want %d", cut, q, parts.Quantile(q), whole.Quantile(q))
			}
		}
	}
}

// TestTimelinesWiden: however long a log is, its timeline has few slots, which start at
// multiples of their width and hold every request.
func TestTimelinesWiden(t *testing.T) {
	for _, span := range []int64{10, 359, 361, 5000, 86_400 * 30} {
		line := NewTally(&Options{Timeline: true})
		r := rand.New(rand.NewPCG(uint64(span), 1))
		const n = 2000
		for range n {
			line.add(1+r.Int64N(1e6), 1_772_366_400+r.Int64N(span), false)
		}
		var total int64
		for at, h := range line.timeline {
			total += h.TotalCount()
			if at%line.width != 0 {
				t.Errorf("%d s: a slot of %d s starts at %d", span, line.width, at)
			}
		}
		if total != n || len(line.timeline) > maxSlots || line.width&(line.width-1) != 0 || line.width > 1 && span/line.width < maxSlots/4 {
			t.Errorf("%d s: %d requests in %d slots of %d s", span, total, len(line.timeline), line.width)
		}
		blocks := line.blocks(wantBlocks)
		var inBlocks int64
		for _, h := range blocks {
			inBlocks += h.TotalCount()
		}
		if inBlocks != n || len(blocks) > wantBlocks || span > 100 && len(blocks) < wantBlocks/2 {
			t.Errorf("%d s: %d requests in %d blocks", span, inBlocks, len(blocks))
		}
		line.add(1000, -5, false) // a clock that was never set
		if len(line.timeline) > maxSlots {
			t.Errorf("%d slots", len(line.timeline))
		}
	}
}
