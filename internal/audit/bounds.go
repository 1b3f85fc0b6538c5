package audit

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bounds of a report. Files come from elsewhere: a line may be as long as a
// file, and a directory may hold a finding for each of its lines.
const (
	maxFindings = 2000 // of a report
	maxSame     = 20   // of one rule about one name
	maxUnread   = 200  // sources
	maxWord     = 160  // bytes of a word: a name, a value, a path
	maxText     = 2000 // bytes of a sentence or of a line of a file
)

// bound bounds what a report lists: of findings with one id the first ones,
// of all of them the worst. It counts the others by severity.
func bound(findings []Finding) (list []Finding, unlisted map[Severity]int) {
	same := map[string]int{}
	list = findings[:0]
	for _, f := range findings {
		id := sameID(f.ID)
		if same[id]++; same[id] > maxSame || len(list) >= maxFindings {
			if unlisted == nil {
				unlisted = map[Severity]int{}
			}
			unlisted[f.Severity]++
			continue
		}
		list = append(list, f)
	}
	return list, unlisted
}

// sameID is an id without what unique added to it.
func sameID(id string) string {
	id, _, _ = strings.Cut(id, "@/")
	id, _, _ = strings.Cut(id, "#")
	return id
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
		words[i] = shorten(w, maxWord)
	}
	return shorten(strings.Join(words, " "), maxText)
}

// shorten cuts the middle out of a text that is longer than most bytes, and
// says how long it was.
func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	head, tail := most/2, len(s)-most/8
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return fmt.Sprintf("%s…(%d bytes)…%s", s[:head], len(s), s[tail:])
}
