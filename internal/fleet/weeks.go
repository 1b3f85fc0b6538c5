package fleet

import "time"

// Week is what a fleet's hosts did themselves in seven days.
type Week struct {
	From        string `json:"from"` // its first day, 2026-11-23
	Came        int    `json:"came"` // findings
	Went        int    `json:"went"`
	Drift       int    `json:"drift"`
	DriftEnded  int    `json:"drift_ended"`
	Unreachable int    `json:"unreachable"`
	Reachable   int    `json:"reachable"`
}

// Weeks sums days, which are in order, by weeks of which the newest ends with a day: so each
// is a whole one. A week that began before the first day is left out, but for the newest.
func Weeks(days []Day, last time.Time) []Week {
	if len(days) == 0 {
		return []Week{}
	}
	number := func(t time.Time) int { return int(t.Unix() / 86400) }
	at := func(day string) int {
		t, _ := time.Parse(time.DateOnly, day)
		return number(t)
	}
	end := max(number(last), at(days[len(days)-1].Day)) + 1
	n := max(1, (end-at(days[0].Day))/7)
	from := end - 7*n
	weeks := make([]Week, n)
	for i := range weeks {
		weeks[i].From = time.Unix(int64(from+7*i)*86400, 0).UTC().Format(time.DateOnly)
	}
	for _, d := range days {
		if day := at(d.Day); day >= from && d.Cause == ByHost {
			weeks[(day-from)/7].add(d)
		}
	}
	return weeks
}

func (w *Week) add(d Day) {
	switch d.Kind {
	case Came:
		w.Came += d.Changes
	case Went:
		w.Went += d.Changes
	case Drift:
		w.Drift += d.Changes
	case DriftEnded:
		w.DriftEnded += d.Changes
	case Unreachable:
		w.Unreachable += d.Changes
	case Reachable:
		w.Reachable += d.Changes
	case FirstSeen, Facts, Gone: // neither good nor bad
	}
}
