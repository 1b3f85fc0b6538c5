package audit

import (
	"strings"

	"linerate/internal/fact"
)

// Limits of a report. Files are untrusted: a line may be as long as a file, and a directory may
// yield a finding for every line.
const (
	maxFindings = 2000 // per report
	maxSame     = 20   // per rule and name
	maxUnread   = 200  // sources
	maxNames    = 500  // names that could not be judged, per reason
	maxWord     = 160  // bytes of a word: a name, a value, a path
	maxText     = 2000 // bytes of a sentence or of a line of a file
)

// bound returns the findings within the limits, worst first, and counts the others by severity. The input must be sorted.
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

// bounded shortens the texts that a finding quotes.
func bounded(f Finding) Finding {
	for _, s := range []*string{&f.ID, &f.Name, &f.File, &f.Text, &f.Message, &f.Why, &f.Fix} {
		*s = brevity(*s)
	}
	return f
}

// brevity shortens overlong words of a text, then the text; it returns most texts unchanged.
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
