package live

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
	_ "time/tzdata" // for a zone with daylight saving time

	"linerate/internal/host/localhost"
	"linerate/internal/study"
)

func berlin(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func TestHours(t *testing.T) {
	zone := berlin(t)
	at := func(text string) time.Time {
		moment, err := time.ParseInLocation("2006-01-02 15:04 -0700", text, zone)
		if err != nil {
			t.Fatal(err)
		}
		return moment
	}
	for _, c := range []struct {
		hours, now string
		need, wait time.Duration
	}{
		{"01:00-05:00", "2026-11-22 03:00 +0100", 0, 0}, {"01:00-05:00", "2026-11-22 05:00 +0100", 0, 20 * time.Hour}, {"01:00-05:00", "2026-11-22 00:30 +0100", 0, 30 * time.Minute},
		{"22:00-04:30", "2026-11-22 23:00 +0100", 0, 0}, {"22:00-04:30", "2026-11-22 04:29 +0100", 0, 0}, {"22:00-04:30", "2026-11-22 12:00 +0100", 0, 10 * time.Hour},
		{"22:00-24:00", "2026-11-22 23:59 +0100", 0, 0}, {"22:00-24:00", "2026-11-22 00:00 +0100", 0, 22 * time.Hour}, {"00:00-24:00", "2026-11-22 13:00 +0100", 0, 0},
		// What would last beyond the hours waits for the next night.
		{"01:00-05:00", "2026-11-22 04:55 +0100", 10 * time.Minute, 20*time.Hour + 5*time.Minute}, {"01:00-05:00", "2026-11-22 04:50 +0100", 10 * time.Minute, 0},
		{"22:00-04:30", "2026-11-22 04:25 +0100", 10 * time.Minute, 17*time.Hour + 35*time.Minute},
		// DST begins within the hours: they are shorter.
		{"01:00-05:00", "2026-03-29 00:30 +0100", 0, 30 * time.Minute}, {"01:00-05:00", "2026-03-29 05:00 +0200", 0, 20 * time.Hour},
		{"01:00-05:00", "2026-03-28 12:00 +0100", 3 * time.Hour, 13 * time.Hour}, {"01:00-05:00", "2026-03-28 12:00 +0100", 4 * time.Hour, 36 * time.Hour},
		{"02:30-04:00", "2026-03-29 01:30 +0100", 0, 30 * time.Minute}, // there is no 02:30; starts at 03:00
		{"02:00-03:00", "2026-03-29 01:30 +0100", 0, 23*time.Hour + 30*time.Minute},
		// DST ends within the hours: a repeated clock time is within them only where it always was, and the hours
		// around it are longer.
		{"01:00-05:00", "2026-10-25 01:00 +0200", 5 * time.Hour, 0},
		{"02:30-05:00", "2026-10-25 02:30 +0200", 0, time.Hour}, {"02:30-05:00", "2026-10-25 02:30 +0100", 0, 0},
		{"22:00-02:30", "2026-10-25 02:15 +0200", 15 * time.Minute, 0}, {"02:15-02:45", "2026-10-25 02:20 +0100", 25 * time.Minute, 0},
	} {
		h, err := ParseHours(c.hours)
		if err != nil {
			t.Fatal(err)
		}
		h.Zone = zone
		if got := h.Wait(at(c.now), c.need); got != c.wait {
			t.Errorf("%s at %s for %s: wait %s, want %s", c.hours, c.now, c.need, got, c.wait)
		}
	}
	for _, bad := range []string{"", "5", "25:00-26:00", "01:00-01:00", "01:60-02:00", "a-b", "01:00-05:00x", "24:00-05:00", "01:00-24:30", "+1:00-05:00", "01:00 - 05:00"} {
		if h, err := ParseHours(bad); err == nil {
			t.Errorf("%q is %+v", bad, h)
		}
	}
	h := Hours{From: time.Hour, To: 5 * time.Hour, Zone: zone}
	if got := h.Within(at("2026-11-22 03:00 +0100"), 48*time.Hour); got != 8*time.Hour {
		t.Errorf("%s of two days are within four hours", got)
	}
	if h.Fits(5*time.Minute) != nil || h.Fits(2*time.Hour) == nil {
		t.Error("four hours must have room for pairs of five minutes, but not of two hours")
	}
}

// obliging is a host whose hold is always granted.
type obliging struct {
	*localhost.Runner
	asked int
}

func (o *obliging) Run(context.Context, string, []string, []byte) ([]byte, error) {
	o.asked++
	return []byte("taken\n"), nil
}

// nights returns a run whose windows only take time, on a fake clock.
func nights(t *testing.T, p study.WindowPlan, zone *time.Location, done []Window, sink func(Window) error) (*run, *obliging) {
	host := &obliging{}
	r, err := (&Options{Conn: host, Plan: p, Seed: 3, Metrics: []string{"drops"}, Hours: &Hours{From: 23 * time.Hour, To: 4 * time.Hour, Zone: zone}, Done: done, Sink: sink,
		Treatments: []Treatment{{Name: "it"}}}).prepare()
	if err != nil {
		t.Fatal(err)
	}
	r.each = func(ctx context.Context, slot study.WindowSlot, length, _ time.Duration) (Window, error) {
		w := Window{Start: time.Now(), Arm: slot.Arm, Seconds: length.Seconds()}
		w.Pair, w.Half, w.Of = slot.Pair, slot.Half, slot.Of
		return w, pause(ctx, length)
	}
	return r, host
}

// TestNights: a study by night: over both DST changes no treated window is outside the hours, the treated
// share is kept, and an interrupted study resumes the next night where it stopped.
func TestNights(t *testing.T) {
	zone := berlin(t)
	for name, begin := range map[string]time.Time{
		"forward": time.Date(2000, 3, 24, 12, 0, 0, 0, zone), "back": time.Date(2000, 10, 27, 12, 0, 0, 0, zone),
	} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { nightly(t, zone, begin) }) })
	}
}

func nightly(t *testing.T, zone *time.Location, begin time.Time) {
	time.Sleep(time.Until(begin))
	plan := study.WindowPlan{Window: 20 * time.Minute, BurnIn: time.Minute, Treatments: []string{"it"}, Pairs: 12, MaxShare: 0.25}
	var windows []Window
	ctx, cancel := context.WithCancel(t.Context())
	r, host := nights(t, plan, zone, nil, func(w Window) error {
		if windows = append(windows, w); w.Pair == 5 && w.Half == 1 {
			cancel()
		}
		return nil
	})
	if _, err := r.ramp(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := r.pairs(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: %v", err)
	}
	if host.asked == 0 {
		t.Error("the study did not renew its hold while it waited for the night")
	}
	time.Sleep(20 * time.Hour)
	r, _ = nights(t, plan, zone, windows, func(w Window) error { windows = append(windows, w); return nil })
	if _, err := r.pairs(t.Context()); err != nil {
		t.Fatal(err)
	}
	inHours(t, windows, zone)
	pairs, treated, all := map[int]int{}, 0.0, 0.0
	for _, w := range windows {
		if w.Pair > 0 {
			pairs[w.Pair]++
		}
		if all += w.Seconds; (study.WindowSlot{Arm: w.Arm}).Treated() {
			treated += w.Seconds
		}
		// Apart from the ramp, the treated time exceeds the share by one pair's window at most.
		if over := treated - 0.25*all; over > 1.1*plan.Window.Seconds() {
			t.Errorf("at %s the host had the setting for %.0f of %.0f s", w.Start, treated, all)
		}
	}
	if pairs[5] != 3 || len(pairs) != plan.BlocksFor(12) {
		t.Errorf("%d pairs, the one that broke off in %d windows", len(pairs), pairs[5])
	}
}

// inHours checks that pairs and ramp were within the hours, over several nights.
func inHours(t *testing.T, windows []Window, zone *time.Location) {
	t.Helper()
	days := map[int]bool{}
	for _, w := range windows {
		if w.Arm == study.Rest {
			continue
		}
		for _, at := range []time.Time{w.Start, w.Start.Add(time.Duration(w.Seconds * float64(time.Second)))} {
			if h := at.In(zone).Hour(); h >= 4 && h < 23 && !(h == 4 && at.In(zone).Minute() == 0) {
				t.Errorf("pair %d %s at %s", w.Pair, w.Arm, at.In(zone))
			}
		}
		days[w.Start.In(zone).Add(-12*time.Hour).YearDay()] = true
	}
	if len(days) < 3 {
		t.Errorf("in %d nights", len(days))
	}
}
