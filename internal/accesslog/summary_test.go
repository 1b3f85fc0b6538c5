package accesslog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/show"
)

// tallied is a log in Apache's combined format with NGINX's request time.
func tallied(t *testing.T, o *Options, log string) *Tally {
	t.Helper()
	tally, _, err := Read(t.Context(), []string{"-"}, strings.NewReader(log), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tally
}

// requests are lines of one status with these times in ms.
func requests(status int, ms ...int) string {
	var b strings.Builder
	for i, v := range ms {
		fmt.Fprintf(&b, "h - - [10/Oct/2025:12:%02d:%02d +0000] \"GET /p%d?x=1 HTTP/1.1\" %d %d \"-\" \"ua\" %d.%03d\n", i/60%60, i%60, i%3, status, 600*i, v/1000, v%1000)
	}
	return b.String()
}

// TestMergedSummariesSayWhatWasSelected: what the parts have in common is said
// above and below the picture, and what differs is called mixed.
func TestMergedSummariesSayWhatWasSelected(t *testing.T) {
	summary := func(f Filter, log string) *Summary {
		return tallied(t, &Options{Filter: f, Under: []time.Duration{100 * time.Millisecond}}, log).Summary([]string{"x"})
	}
	ok := only200(t)
	for name, c := range map[string]struct {
		parts []*Summary
		want  string
	}{
		"alike":     {[]*Summary{summary(ok, requests(200, 1, 2)), summary(ok, requests(200, 3))}, "status 200"},
		"unlike":    {[]*Summary{summary(ok, requests(200, 1, 2)), summary(Filter{}, requests(404, 3))}, "mixed"},
		"no filter": {[]*Summary{summary(Filter{}, requests(200, 1, 2)), summary(Filter{}, requests(404, 3))}, "every request"},
	} {
		s, tally, err := MergeSummaries(c.parts)
		if err != nil {
			t.Fatal(err)
		}
		var picture, numbers bytes.Buffer
		if err := tally.WritePicture(&picture, show.Style{Width: 100}, false); err != nil {
			t.Fatal(err)
		}
		if err := s.WriteNumbers(&numbers, show.Style{Width: 100}); err != nil {
			t.Fatal(err)
		}
		if s.Filter != c.want || tally.Filter() != c.want || !strings.Contains(picture.String(), "requests: 3 ("+c.want+")") || !strings.Contains(numbers.String(), "3 requests selected ("+c.want+")") {
			t.Errorf("%s: %q, %q\n%s\n%s", name, s.Filter, tally.Filter(), &picture, &numbers)
		}
		if s.Selected != 3 || s.UnderCounts["100ms"] != 3 || s.Percentiles["max"] != 0.003 || s.Percentiles["min"] != 0.001 || !(math.Abs(s.Mean-0.002) <= 1e-9) {
			t.Errorf("%s: %+v", name, s)
		}
	}
	other := summary(ok, requests(200, 1))
	other.BinSeconds = 0.2
	if _, _, err := MergeSummaries([]*Summary{summary(ok, requests(200, 1)), other}); err == nil || !strings.Contains(err.Error(), "bins of 0.1 s and 0.2 s") {
		t.Errorf("bins of two widths are added: %v", err)
	}
}

// TestSummaryIsReadBack: a document is a whole log's account, to the request.
func TestSummaryIsReadBack(t *testing.T) {
	log, _, _ := synthetic(5000, 3)
	tally := tallied(t, &Options{Filter: only200(t), Under: []time.Duration{100 * time.Millisecond, time.Second}, Slow: 3, By: Status}, string(log)+"no line of a log\n")
	want := tally.Summary([]string{"a.log"})
	doc, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadSummary("a.json", bytes.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	merged, back, err := MergeSummaries([]*Summary{got})
	if err != nil {
		t.Fatal(err)
	}
	if back.Selected != tally.Selected || back.Min != tally.Min || back.Max != tally.Max || back.Quantile(.5) != tally.Quantile(.5) || back.Quantile(.999) != tally.Quantile(.999) {
		t.Errorf("read back: %d requests, %d to %d µs", back.Selected, back.Min, back.Max)
	}
	if merged.BadLines != 1 || merged.Lines != 5001 || merged.UnderCounts["1s"] != want.UnderCounts["1s"] || merged.Under["100ms"] != want.Under["100ms"] || len(merged.Slowest) != 3 {
		t.Errorf("merged: %+v", merged)
	}
}

// TestSummaryRefused: a document may come from anywhere.
func TestSummaryRefused(t *testing.T) {
	good, err := json.Marshal(tallied(t, &Options{Under: []time.Duration{time.Second}, Slow: 1}, requests(200, 5, 7)).Summary([]string{"x"}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSummary("x", bytes.NewReader(good)); err != nil {
		t.Fatal(err)
	}
	for old, c := range map[string]struct{ new, says string }{
		`"version":1`:            {`"version":2`, "version 2"},
		`"bin_seconds":0.1`:      {`"bin_seconds":0`, "out of bounds"},
		`"lines":2`:              {`"lines":1`, "contradict"},
		`"selected":2`:           {`"selected":1`, `2 of its 1 requests were under "1s"`},
		`"mean":0.006`:           {`"mean":1e300`, "its mean is"},
		`"max":0.007`:            {`"max":1e300`, `its "max" is`},
		`"min":0.005`:            {`"min":-1`, `its "min" is`},
		`"under_counts":{"1s":2`: {`"under_counts":{"1s":9`, `9 of its 2 requests were under "1s"`},
		`"latency_us":7000`:      {`"latency_us":-7`, "slowest requests took -7"},
		`[5000,1]`:               {`[-5,1]`, "its histogram holds 1 × -5"},
		`[7000,1]`:               {`[7000,2]`, "holds 3 requests"},
		`"from":0,`:              {`"from":-9,`, "its bin at -9 s"},
		`{"version"`:             {`["version"`, "read x"},
	} {
		bad := strings.Replace(string(good), old, c.new, 1)
		if bad == string(good) {
			t.Fatalf("%s is not in %s", old, good)
		}
		if _, err := ReadSummary("x", strings.NewReader(bad)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s instead of %s: %v, want %q", c.new, old, err, c.says)
		}
	}
	if _, err := ReadSummary("x", strings.NewReader(`{"lines":`+strings.Repeat(" ", maxSummary)+`1}`)); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("a document without end: %v", err)
	}
}

// TestOneGroupHasTheLogsPercentiles: where all requests have one status, its row
// says what the line above says, and no request took longer than the longest.
func TestOneGroupHasTheLogsPercentiles(t *testing.T) {
	var ms []int
	for i := range 400 {
		ms = append(ms, 1+i*i%997)
	}
	for _, by := range []Field{Status, Method, Bytes} {
		tally := tallied(t, &Options{By: by}, requests(200, ms...))
		if by == Bytes {
			if n := len(tally.Groups()); n < 4 {
				t.Errorf("%d classes of sizes", n)
			}
			continue
		}
		g := tally.Groups()
		if len(g) != 1 || g[0].Requests != 400 || g[0].P50 != tally.Quantile(.5) || g[0].P99 != tally.Quantile(.99) || g[0].Max != tally.Max || !(math.Abs(g[0].Share-1) <= 0.01) {
			t.Errorf("by %s: %+v, of all %d, %d, %d", by, g, tally.Quantile(.5), tally.Quantile(.99), tally.Max)
		}
		var numbers, table bytes.Buffer
		if err := tally.WriteNumbers(&numbers, show.Style{Width: 100}); err != nil {
			t.Fatal(err)
		}
		if err := tally.WriteGroups(&table, show.Style{Width: 100}, 30); err != nil {
			t.Fatal(err)
		}
		for _, v := range []string{tally.took(tally.Quantile(.99)), tally.took(tally.Max)} {
			if !strings.Contains(numbers.String(), v) || !strings.Contains(table.String(), v) {
				t.Errorf("by %s: %s is not in both\n%s\n%s", by, v, &numbers, &table)
			}
		}
	}
}

// TestGroups: paths without their queries, the slowest sum first, and no more
// groups than the bound, however many paths there are.
func TestGroups(t *testing.T) {
	tally := tallied(t, &Options{By: Path}, requests(200, 1, 900, 2, 1, 800, 2))
	g := tally.Groups()
	if len(g) != 3 || g[0].Key != "/p1" || g[0].Requests != 2 || g[0].Max != 900_000 || g[0].Share < 0.98 {
		t.Errorf("%+v", g)
	}
	var many strings.Builder
	for i := range maxGroups + 50 {
		fmt.Fprintf(&many, "h - - [10/Oct/2025:12:00:00 +0000] \"GET /n%d HTTP/1.1\" 200 1 \"-\" \"ua\" 0.001\n", i)
	}
	g = tallied(t, &Options{By: Path}, many.String()).Groups()
	other := slices.IndexFunc(g, func(g Group) bool { return g.Key == OtherGroup })
	if len(g) > maxGroups+1 || other < 0 {
		t.Errorf("%d groups, the others at %d", len(g), other)
	}
	var n int64
	for _, group := range g {
		n += group.Requests
	}
	if n != maxGroups+50 {
		t.Errorf("the groups hold %d requests", n)
	}
	if got := tallied(t, &Options{}, requests(200, 1)).Groups(); got != nil {
		t.Errorf("nobody asked for groups: %+v", got)
	}
}

func TestSizeClasses(t *testing.T) {
	for n, want := range map[int64]string{0: "under 1 KiB", 1023: "under 1 KiB", 1024: "1–4 KiB", 4095: "1–4 KiB", 4096: "4–16 KiB", 1 << 20: "1–4 MiB", 5 << 20: "4–16 MiB", 1 << 30: "1024–4096 MiB"} {
		if got := string(sizeClass(n)); got != want {
			t.Errorf("%d bytes: %q, want %q", n, got, want)
		}
	}
}

// TestSlowest: the list is the same in whatever order lines were read.
func TestSlowest(t *testing.T) {
	all := []SlowRequest{{Latency: 9, Path: "/b"}, {Latency: 9, Path: "/a"}, {Latency: 5}, {Latency: 7, Unix: 2}, {Latency: 7, Unix: 1}, {Latency: 1}}
	want := []SlowRequest{{Latency: 9, Path: "/a"}, {Latency: 9, Path: "/b"}, {Latency: 7, Unix: 1}, {Latency: 7, Unix: 2}}
	for turn := range len(all) {
		a, b := slowest{most: 4}, slowest{most: 4}
		for i, r := range slices.Concat(all[turn:], all[:turn]) {
			into := &a
			if i%2 == 1 {
				into = &b
			}
			if into.wants(r.Latency) {
				into.add(r)
			}
		}
		a.merge(b)
		if !slices.Equal(a.list, want) {
			t.Errorf("turn %d: %+v", turn, a.list)
		}
	}
	none := slowest{}
	if none.wants(1 << 40) {
		t.Error("a list of nothing wants something")
	}
}

// TestTimelineStaysSmall: however long a log is, its slots are few, hold every
// request, and join those of another log.
func TestTimelineStaysSmall(t *testing.T) {
	a, b := newTimeline(), newTimeline()
	for i := range int64(5000) {
		a.add(1_700_000_000+37*i, 1000)
		b.add(1_690_000_000+i, 2000)
	}
	b.add(-5, 3000) // a clock that was never set
	a.merge(b)
	tally := &Tally{timeline: a}
	var n, last int64
	slots := tally.Slots()
	for i, s := range slots {
		if n += s.Hist.TotalCount(); i > 0 && s.Unix <= last || s.Unix%s.Seconds != 0 {
			t.Errorf("slot at %d after %d, of %d s", s.Unix, last, s.Seconds)
		}
		last = s.Unix
	}
	if n != 10_001 || len(slots) > maxSlots {
		t.Errorf("%d requests in %d slots", n, len(slots))
	}
	for _, c := range [][3]int64{{7, 5, 5}, {-1, 5, -5}, {-5, 5, -5}, {0, 5, 0}} {
		if got := floorTo(c[0], c[1]); got != c[2] {
			t.Errorf("%d down to a multiple of %d is %d", c[0], c[1], got)
		}
	}
}

// TestRotatedNames: sets are put in order of time, by number or by date,
// whatever they are compressed with; others keep their places.
func TestRotatedNames(t *testing.T) {
	for given, want := range map[string]string{
		"access.log access.log.1 access.log.10.gz access.log.2.gz":  "access.log.10.gz access.log.2.gz access.log.1 access.log",
		"access.log access.log-20260228.gz access.log-20260301.zst": "access.log-20260228.gz access.log-20260301.zst access.log",
		"access.log access.log-2026030113 access.log-2026030101":    "access.log-2026030101 access.log-2026030113 access.log",
		"b.log a.log b.log.1":            "b.log.1 b.log a.log",
		"www-1.log www-2.log":            "www-1.log www-2.log",
		"x-12345678 x":                   "x-12345678 x",
		"access.log.99999999 access.log": "access.log.99999999 access.log",
		"/var/log/a/access.log.1 /var/log/b/access.log /var/log/a/access.log": "/var/log/a/access.log.1 /var/log/a/access.log /var/log/b/access.log",
	} {
		if got := strings.Join(OrderRotated(strings.Fields(given)), " "); got != want {
			t.Errorf("%s\n got %s\nwant %s", given, got, want)
		}
	}
}

// TestClock: times in every layout, neighbours of the same second among them.
func TestClock(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Unix()
	for _, c := range []struct {
		layout timeLayout
		text   string
		ok     bool
	}{
		{layoutCLF, "01/Mar/2026:12:00:00 +0000", true}, {layoutCLF, "01/Mar/2026:13:00:00 +0100", true}, {layoutCLF, "2026-03-01T12:00:00Z", false}, {layoutCLF, "", false},
		{layoutISO, "2026-03-01T12:00:00Z", true}, {layoutISO, "2026-03-01T14:00:00+02:00", true}, {layoutISO, "2026-03-01 12:00:00", false}, {layoutISO, strings.Repeat("2", 99), false},
		{layoutEpoch, fmt.Sprintf("%d.999", at), true}, {layoutEpoch, fmt.Sprint(at), true}, {layoutEpoch, "", false}, {layoutEpoch, "12a", false}, {layoutEpoch, ".5", false}, {layoutEpoch, "1234567890123", false},
	} {
		clock := clock{layout: c.layout}
		for range 2 { // the second time it remembers
			if got, ok := clock.parse([]byte(c.text)); ok != c.ok || ok && got != at {
				t.Errorf("layout %d, %q: %d, %v", c.layout, c.text, got, ok)
			}
		}
	}
}
