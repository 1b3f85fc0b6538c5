package accesslog

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"linerate/internal/hint"
)

// Filter selects lines. The zero Filter selects all.
type Filter struct {
	Statuses []StatusRange // any of them; empty: every status
	Path     string        // prefix of the path; with a * anywhere, a pattern
	Since    time.Time     // zero: no limit
	Until    time.Time     // exclusive
}

// StatusRange is a span of status codes, both ends included.
type StatusRange struct{ From, To int }

// ParseStatuses reads 200, 2xx, 200-299, lists of them, or all.
func ParseStatuses(s string) ([]StatusRange, error) {
	if s == "all" || s == "" {
		return nil, nil
	}
	var out []StatusRange
	for part := range strings.SplitSeq(s, ",") {
		r, ok := parseStatusRange(strings.TrimSpace(part))
		if !ok {
			return nil, hint.With(hint.Usagef("status %q is not valid", part), "write 200, 2xx, 200-299, a list 200,304, or all")
		}
		out = append(out, r)
	}
	return out, nil
}

func parseStatusRange(s string) (StatusRange, bool) {
	if len(s) == 3 && strings.HasSuffix(strings.ToLower(s), "xx") && s[0] >= '1' && s[0] <= '5' {
		n := int(s[0]-'0') * 100
		return StatusRange{n, n + 99}, true
	}
	from, to, span := strings.Cut(s, "-")
	if !span {
		to = from
	}
	a, errA := strconv.Atoi(from)
	b, errB := strconv.Atoi(to)
	return StatusRange{a, b}, errA == nil && errB == nil && a >= 100 && b <= 999 && a <= b
}

// check refuses a filter on what the format's lines do not hold.
func (f *Filter) check(format *Format) error {
	for field, asked := range map[Field]bool{Status: len(f.Statuses) > 0, Path: f.Path != "", Time: f.timed()} {
		if asked && !format.Has(field) {
			return hint.With(fmt.Errorf("the log format %s has no %s to filter by", format.Name, field),
				"for no filter on status: %s", hint.Option("status", "all"))
		}
	}
	return nil
}

// timed reports that times matter.
func (f *Filter) timed() bool { return !f.Since.IsZero() || !f.Until.IsZero() }

// takesStatus reports whether a status is selected.
func (f *Filter) takesStatus(status int) bool {
	return len(f.Statuses) == 0 || slices.ContainsFunc(f.Statuses, func(r StatusRange) bool { return r.From <= status && status <= r.To })
}

// takesTime reports whether a time is selected.
func (f *Filter) takesTime(unix int64) bool {
	return (f.Since.IsZero() || unix >= f.Since.Unix()) && (f.Until.IsZero() || unix < f.Until.Unix())
}

// matchPath takes a pattern without * for a prefix.
func matchPath(pattern string, path []byte) bool {
	parts := strings.Split(pattern, "*")
	if !bytes.HasPrefix(path, []byte(parts[0])) {
		return false
	}
	path = path[len(parts[0]):]
	for i, p := range parts[1:] {
		if i == len(parts)-2 && p != "" {
			return bytes.HasSuffix(path, []byte(p))
		}
		k := bytes.Index(path, []byte(p))
		if k < 0 {
			return false
		}
		path = path[k+len(p):]
	}
	return true
}

// ParseTime reads a time of a filter: a date, a date and time, or a duration, which is that
// long ago. "" is the zero time.
func ParseTime(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(s); err == nil {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02", "02/Jan/2006:15:04:05 -0700"} {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, hint.With(hint.Usagef("time %q is not valid", s), "write 2026-03-01T12:00:00Z, 2026-03-01, or 1h for an hour ago")
}

// String is the filter in words, for headings.
func (f *Filter) String() string {
	var all []string
	for _, r := range f.Statuses {
		if r.From == r.To {
			all = append(all, fmt.Sprintf("status %d", r.From))
		} else {
			all = append(all, fmt.Sprintf("status %d–%d", r.From, r.To))
		}
	}
	if f.Path != "" {
		all = append(all, "path "+f.Path)
	}
	if !f.Since.IsZero() {
		all = append(all, "since "+f.Since.Format(time.RFC3339))
	}
	if !f.Until.IsZero() {
		all = append(all, "until "+f.Until.Format(time.RFC3339))
	}
	return cmp.Or(strings.Join(all, ", "), "every request")
}
