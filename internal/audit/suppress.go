package audit

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"linerate/internal/hint"
	"linerate/internal/yamlfile"
)

// maxSuppressions is the maximum number of suppressions in a file.
const maxSuppressions = 10_000

// Suppression hides findings that someone has accepted.
type Suppression struct {
	// ID, Name and File are globs (path.Match) for a finding's id, name and file; an id or a name is required, and all that are
	// given must match.
	ID   string `yaml:"id,omitempty"`
	Name string `yaml:"name,omitempty"`
	File string `yaml:"file,omitempty"`
	// Reason is required: why the findings are acceptable here.
	Reason string `yaml:"reason"`
	// Expires is the last day of validity, YYYY-MM-DD; "" never expires.
	Expires string `yaml:"expires,omitempty"`

	last time.Time
}

// SuppressionFile is a file of suppressions.
type SuppressionFile struct {
	Suppressions []Suppression `yaml:"suppressions"`
}

// StaleSuppression is a suppression that no longer has an effect.
type StaleSuppression struct {
	Pattern string `json:"pattern"`
	Reason  string `json:"reason"`
	Expires string `json:"expires,omitempty"`
	// Why is "expired" or "unused".
	Why string `json:"why"`
}

// ParseSuppressions parses a file of suppressions: a YAML document with the one key suppressions. Unknown keys, invalid globs,
// missing reasons and invalid dates are errors.
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

// nothing reports whether a text has only comments.
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
	for _, glob := range []string{s.ID, s.Name, s.File} {
		if _, err := path.Match(glob, ""); err != nil {
			return fmt.Errorf("%q is not a pattern", glob)
		}
	}
	if s.Expires == "" {
		return nil
	}
	day, err := time.Parse(time.DateOnly, s.Expires)
	if err != nil {
		return fmt.Errorf("expires %q is not a date (YYYY-MM-DD)", s.Expires)
	}
	s.last = day
	return nil
}

// expired reports whether the last day of validity has passed.
func (s *Suppression) expired(today time.Time) bool {
	return !s.last.IsZero() && !today.Before(s.last.AddDate(0, 0, 1))
}

func (s *Suppression) matches(f Finding, file string) bool {
	return globs(s.ID, f.ID) && globs(s.Name, f.Name) && globs(s.File, file)
}

// globs matches a pattern; "" matches everything. It hides slashes from path.Match, because they are ordinary characters here.
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

// globbed reports whether any pattern matches a name.
func globbed(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return globs(p, name) })
}

func noSlash(s string) string { return strings.ReplaceAll(s, "/", "\x01") }

func (s *Suppression) pattern() string {
	var all []string
	for _, p := range [][2]string{{"id ", s.ID}, {"name ", s.Name}, {"file ", s.File}} {
		if p[1] != "" {
			all = append(all, p[0]+p[1])
		}
	}
	return strings.Join(all, ", ")
}

// literal escapes a text to be used as a glob.
var literal = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)

// Accept returns a file of suppressions for all findings of a report, with the given reason; it does not hide later findings.
func (r *Report) Accept(reason string) ([]byte, error) {
	var doc SuppressionFile
	seen := map[Suppression]bool{}
	for _, f := range r.Findings {
		s := Suppression{ID: literal.Replace(f.Rule()) + ":*", Name: literal.Replace(f.Name), File: literal.Replace(f.File), Reason: reason}
		if f.Name == "" {
			id, _, _ := strings.Cut(f.ID, "@")
			s.ID = literal.Replace(id) + "*"
		}
		if !seen[s] {
			seen[s] = true
			doc.Suppressions = append(doc.Suppressions, s)
		}
	}
	return yaml.Marshal(doc)
}

// suppress splits findings into shown and hidden ones, and returns the suppressions that have expired or hid nothing.
func (in *Input) suppress(findings []Finding) (shown []Finding, hidden []Suppressed, stale []StaleSuppression) {
	with, today := in.Suppressions, in.Today
	used := make([]bool, len(with))
	shown, hidden, stale = []Finding{}, []Suppressed{}, []StaleSuppression{}
	for _, f := range findings {
		by, file := -1, f.File
		if in.Named != nil {
			file = in.Named(file)
		}
		for i := range with {
			if with[i].matches(f, file) {
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
