package accesslog

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/hint"
)

// Filter selects lines; the zero Filter selects all of them.
type Filter struct {
	Statuses []StatusRange // a status in any of these; empty: every status
	Path     string        // prefix of the path
}

// StatusRange is a range of status codes, both ends included.
type StatusRange struct{ From, To int }

// ParseStatuses parses 200, 2xx, 200-299, a comma-separated list of these, or all.
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

// check returns an error if the filter needs a field that the format does not have.
func (f *Filter) check(format *Format) error {
	for field, asked := range map[Field]bool{Status: len(f.Statuses) > 0, Path: f.Path != ""} {
		if asked && !format.Has(field) {
			return hint.With(fmt.Errorf("the log format %s has no %s to filter by", format.Name, field),
				"for no filter on status: %s", hint.Option("status", "all"))
		}
	}
	return nil
}

// takesStatus reports whether the filter selects a status.
func (f *Filter) takesStatus(status int) bool {
	return len(f.Statuses) == 0 || slices.ContainsFunc(f.Statuses, func(r StatusRange) bool { return r.From <= status && status <= r.To })
}

// String describes the filter, for headings.
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
	return cmp.Or(strings.Join(all, ", "), "every request")
}
