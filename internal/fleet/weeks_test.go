package fleet

import (
	"slices"
	"testing"
	"time"
)

// TestWeeks: weeks end with the last day, are whole, and hold what hosts did themselves.
func TestWeeks(t *testing.T) {
	last := time.Date(2026, 3, 16, 23, 0, 0, 0, time.UTC)
	day := func(back int, k Kind, c Cause, n int) Day {
		return Day{Day: last.AddDate(0, 0, -back).Format(time.DateOnly), Kind: k, Cause: c, Changes: n}
	}
	days := []Day{day(15, Came, ByHost, 100), day(13, Came, ByHost, 1), day(13, Came, ByCatalogue, 50), day(7, Drift, ByHost, 2), day(6, Drift, ByHost, 3), day(6, DriftEnded, ByHost, 4), day(0, Unreachable, ByHost, 5), day(0, Facts, ByHost, 9)}
	want := []Week{{From: "2026-03-03", Came: 1, Drift: 2}, {From: "2026-03-10", Drift: 3, DriftEnded: 4, Unreachable: 5}}
	if got := Weeks(days, last); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	if got := Weeks(days[6:7], last); !slices.Equal(got, []Week{{From: "2026-03-10", Unreachable: 5}}) {
		t.Errorf("the first day of a fleet: %+v", got)
	}
	if got := Weeks(nil, last); len(got) != 0 {
		t.Errorf("no days: %+v", got)
	}
}
