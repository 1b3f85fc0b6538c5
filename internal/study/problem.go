package study

import (
	"fmt"
	"slices"
	"strconv"

	"linerate/internal/hint"
)

// Problem is what is wrong with a study, at a path of its YAML.
type Problem struct {
	path, what, hint string
}

// Wrong is a problem at a path of the study's file.
func Wrong(path, format string, args ...any) *Problem {
	return &Problem{path: path, what: fmt.Sprintf(format, args...)}
}

// Advise adds what to do about it.
func (p *Problem) Advise(format string, args ...any) *Problem {
	p.hint = fmt.Sprintf(format, args...)
	return p
}

// Usage is the problem as an error of a command line's user, who knows nothing of the file.
func (p *Problem) Usage() error {
	err := hint.Usagef("%s", p.what)
	if p.hint != "" {
		err = hint.With(err, "%s", p.hint)
	}
	return hint.Usage(err)
}

// Within refuses a number beyond its bounds, or none; both bounds are allowed.
func Within[T int | float64](path string, v, least, most T) *Problem {
	if v >= least && v <= most {
		return nil
	}
	plain := func(v T) string { return strconv.FormatFloat(float64(v), 'f', -1, 64) }
	return Wrong(path, "%s: %v is not within %s and %s", path[lastDot(path)+1:], v, plain(least), plain(most))
}

// OneOf refuses a word that is none of the known ones.
func OneOf(path, value string, known ...string) *Problem {
	if slices.Contains(known, value) {
		return nil
	}
	key := path[lastDot(path)+1:]
	return Wrong(path, "%s: unknown %q", key, value).Advise("%s", hint.Of(hint.Unknown(key, value, known)))
}

func lastDot(s string) int {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == '.' {
			return i
		}
	}
	return -1
}
