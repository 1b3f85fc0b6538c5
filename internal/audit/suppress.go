package audit

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"linerate/internal/hint"
	"linerate/internal/yamlfile"
)

// maxSuppressions bounds a file of suppressions.
const maxSuppressions = 10_000

// Suppression hides findings that somebody has decided to live with.
type Suppression struct {
	// ID and Name are globs (path.Match) on a finding's id and name; at
	// least one is needed, and both must match.
	ID   string `yaml:"id"`
	Name string `yaml:"name"`
	// Reason is required: why this is all right here.
	Reason string `yaml:"reason"`
	// Expires is the last day it holds, YYYY-MM-DD; "" for ever.
	Expires string `yaml:"expires"`

	last time.Time
}

// SuppressionFile is a file of suppressions.
type SuppressionFile struct {
	Suppressions []Suppression `yaml:"suppressions"`
}

// StaleSuppression is one that no longer does anything.
type StaleSuppression struct {
	Pattern string `json:"pattern"`
	Reason  string `json:"reason"`
	Expires string `json:"expires,omitempty"`
	// Why is "expired" or "unused".
	Why string `json:"why"`
}

// ParseSuppressions reads a file of suppressions: a YAML document with one
// key, suppressions. Unknown keys, patterns that are no globs, missing
// reasons and dates that are none are errors.
func ParseSuppressions(text []byte) ([]Suppression, error) {
	var doc SuppressionFile
	kind := yamlfile.Kind{Noun: "a file of suppressions", Content: "the key suppressions", Version: 1}
	if err := yamlfile.CheckShape("suppressions", kind, text); err != nil || nothing(text) {
		return nil, err
	}
	if _, err := yamlfile.Read("suppressions", text, kind, &doc); err != nil {
		return nil, err
	}
	if len(doc.Suppressions) > maxSuppressions {
		return nil, hint.Usagef("suppressions: more than %d entries", maxSuppressions)
	}
	for i := range doc.Suppressions {
		if err := doc.Suppressions[i].check(); err != nil {
			return nil, hint.Usage(fmt.Errorf("suppression %d: %w", i+1, err))
		}
	}
	return doc.Suppressions, nil
}

// nothing reports a text of comments alone.
func nothing(text []byte) bool {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' && string(line) != "---" {
			return false
		}
	}
	return true
}

func (s *Suppression) check() error {
	if s.ID == "" && s.Name == "" {
		return errors.New("needs an id or a name")
	}
	if s.Reason == "" {
		return errors.New("needs a reason")
	}
	for _, glob := range []string{s.ID, s.Name} {
		if _, err := path.Match(glob, ""); err != nil {
			return fmt.Errorf("%q is no pattern", glob)
		}
	}
	if s.Expires == "" {
		return nil
	}
	day, err := time.Parse(time.DateOnly, s.Expires)
	if err != nil {
		return fmt.Errorf("expires %q is no date (YYYY-MM-DD)", s.Expires)
	}
	s.last = day
	return nil
}

// expired reports whether the last day is over.
func (s *Suppression) expired(today time.Time) bool {
	return !s.last.IsZero() && !today.Before(s.last.AddDate(0, 0, 1))
}

func (s *Suppression) matches(f Finding) bool { return globs(s.ID, f.ID) && globs(s.Name, f.Name) }

// globs matches a pattern; "" matches all. Slashes are ordinary characters
// here, so they are hidden from path.Match.
func globs(pattern, s string) bool {
	if pattern == "" {
		return true
	}
	meta := strings.IndexAny(pattern, `*?[\`)
	if meta < 0 {
		return pattern == s
	}
	if !strings.HasPrefix(s, pattern[:meta]) {
		return false
	}
	ok, err := path.Match(noSlash(pattern), noSlash(s))
	return err == nil && ok
}

func noSlash(s string) string { return strings.ReplaceAll(s, "/", "\x01") }

func (s *Suppression) pattern() string {
	switch {
	case s.Name == "":
		return "id " + s.ID
	case s.ID == "":
		return "name " + s.Name
	}
	return "id " + s.ID + ", name " + s.Name
}

// suppress splits findings into those to show and those hidden, and lists
// the suppressions that expired or hid nothing.
func suppress(findings []Finding, with []Suppression, today time.Time) (shown []Finding, hidden []Suppressed, stale []StaleSuppression) {
	used := make([]bool, len(with))
	shown, hidden, stale = []Finding{}, []Suppressed{}, []StaleSuppression{}
	for _, f := range findings {
		by := -1
		for i := range with {
			if with[i].matches(f) {
				used[i] = true
				if by < 0 && !with[i].expired(today) {
					by = i
				}
			}
		}
		if by < 0 {
			shown = append(shown, f)
			continue
		}
		hidden = append(hidden, Suppressed{f, with[by].Reason, with[by].Expires})
	}
	for i := range with {
		s := &with[i]
		why := ""
		switch {
		case s.expired(today):
			why = "expired"
		case !used[i]:
			why = "unused"
		default:
			continue
		}
		stale = append(stale, StaleSuppression{s.pattern(), s.Reason, s.Expires, why})
	}
	return shown, hidden, stale
}
