package evidence

import (
	"linerate/internal/list"
	"linerate/internal/stats"
)

// ConflictText says what a conflict means to its reader.
const ConflictText = "The evidence conflicts: it depends on the machine, the release or what else was set."

// Conflict reports whether verdicts about a tunable contradict each other: of
// one change, whichever way round it was measured, some found better and some
// worse. Other values of the same tunable may differ without a conflict. What
// is excluded or invalid does not count, nor, beside verdicts by their
// studies' primary metrics, those by others: a gain in one and a loss in
// another is a price.
func Conflict(rows []Row) bool {
	counted := list.Filter(list.Map(Primary(rows), Row.Standing), func(r Row) bool { return r.Excluded == "" && r.Verdict.Differs() })
	for i, a := range counted {
		for _, b := range counted[i+1:] {
			if a.contradicts(b) || a.contradicts(b.Reversed()) {
				return true
			}
		}
	}
	return false
}

func (r Row) contradicts(o Row) bool { return r.Verdict != o.Verdict && r.sameChange(o.Subject) }

// Primary are the verdicts by their studies' primary metrics, or all where
// there are none: of one comparison a study has several, a cost and the rate
// that follows from it.
func Primary(rows []Row) []Row {
	out := list.Filter(rows, func(r Row) bool { return r.Primary })
	if len(out) == 0 {
		return rows
	}
	return out
}

// ClearestGain is the gain by a primary metric that the most blocks show; nil without
// one. Excluded verdicts show none.
func ClearestGain(rows []Row) *Row {
	var gain *Row
	for _, r := range Primary(rows) {
		r = r.Standing()
		if r.Excluded == "" && r.Verdict == stats.Better && (gain == nil || r.N > gain.N) {
			gain = &r
		}
	}
	return gain
}

// Merge adds what ships with the program to one's own evidence, each verdict
// once.
func Merge(own, shipped []Row) []Row {
	type key struct{ tunable, id string }
	seen := map[key]bool{}
	for _, r := range own {
		seen[key{r.Tunable, r.ID}] = true
	}
	for _, r := range shipped {
		if !seen[key{r.Tunable, r.ID}] {
			own = append(own, r)
		}
	}
	return own
}
