package accesslog

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// tallied is a log in Apache's combined format with NGINX's request time.
func tallied(t *testing.T, o *Options, log string) *Tally {
	t.Helper()
	tally, _, err := Read(t.Context(), []string{"-"}, strings.NewReader(log), o)
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
