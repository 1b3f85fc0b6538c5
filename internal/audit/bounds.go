package audit

import (
	"strings"

	"linerate/internal/fact"
)

// Bounds of a report. Files come from elsewhere: a line may be as long as a
// file, and a directory may hold a finding for each of its lines.
const (
	maxFindings = 2000 // of a report
	maxSame     = 20   // of one rule about one name
	maxUnread   = 200  // sources
	maxNames    = 500  // names that could not be judged, for one reason
	maxWord     = 160  // bytes of a word: a name, a value, a path
	maxText     = 2000 // bytes of a sentence or of a line of a file
)

// bound lists findings, sorted worst first, as far as the bounds go, and counts the others by severity.
func bound[T any](findings []T, of func(*T) *Finding) (list []T, unlisted map[Severity]int) {
	same := map[string]int{}
	list = findings[:0]
	for i := range findings {
		f := *of(&findings[i])
		id := f.PlainID()
		if same[id]++; same[id] <= maxSame && len(list) < maxFindings {
			list = append(list, findings[i])
			continue
		}
		unlisted = sum(unlisted, map[Severity]int{f.Severity: 1})
	}
	return list, unlisted
}

// bounded shortens what a finding quotes.
func bounded(f Finding) Finding {
	for _, s := range []*string{&f.ID, &f.Name, &f.File, &f.Text, &f.Message, &f.Why, &f.Fix} {
		*s = brevity(*s)
	}
	return f
}

// brevity shortens overlong words of a text, then the text; most texts it
// returns as they are.
func brevity(s string) string {
	if len(s) <= maxWord {
		return s
	}
	words := strings.Split(s, " ")
	for i, w := range words {
		words[i] = fact.Shorten(w, maxWord)
	}
	return fact.Shorten(strings.Join(words, " "), maxText)
}
