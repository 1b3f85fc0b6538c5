package accesslog

import (
	"bytes"
	"fmt"
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

// needs are the fields that the filter looks at.
func (f *Filter) needs() fields {
	var n fields
	if len(f.Statuses) > 0 {
		n = n.with(Status)
	}
	if f.Path != "" {
		n = n.with(Path)
	}
	if !f.Since.IsZero() || !f.Until.IsZero() {
		n = n.with(Time)
	}
	return n
}

// check refuses a filter on what the format's lines do not hold.
func (f *Filter) check(format *Format) error {
	for field := Time; field < numFields; field++ {
		if f.needs().has(field) && !format.Has(field) {
			return hint.With(fmt.Errorf("the log format %s has no %s to filter by", format.Name, field),
				"for no filter on status: %s", hint.Option("status", "all"))
		}
	}
	return nil
}

// statusSet is a filter's statuses as one look-up.
func (f *Filter) statusSet() *[1000]bool {
	if len(f.Statuses) == 0 {
		return nil
	}
	var set [1000]bool
	for _, r := range f.Statuses {
		for s := r.From; s <= r.To; s++ {
			set[s] = true
		}
	}
	return &set
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

// splitRequest finds the path in a request line ("GET /x HTTP/1.1").
func splitRequest(line []byte, at *spans) {
	r := at[Request]
	b := line[r.from:r.to]
	i, end := bytes.IndexByte(b, ' '), bytes.LastIndexByte(b, ' ')
	switch {
	case i <= 0: // no request line: it has no path
		at[Path] = span{}
	case end == i: // HTTP/0.9: no protocol
		at[Path] = span{r.from + i + 1, r.to}
	default:
		at[Path] = span{r.from + i + 1, r.from + end}
	}
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
