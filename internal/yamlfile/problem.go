package yamlfile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/hint"
)

// Problem is what is wrong at a path of a file, with advice.
type Problem struct{ Path, What, Advice string }

// Wrong returns a problem at a path.
func Wrong(path, format string, args ...any) *Problem {
	return &Problem{Path: path, What: fmt.Sprintf(format, args...)}
}

// Advise adds advice.
func (p *Problem) Advise(format string, args ...any) *Problem {
	p.Advice = fmt.Sprintf(format, args...)
	return p
}

// Usage returns the problem as a usage error, for a command line, whose user knows nothing of the file.
func (p *Problem) Usage() error {
	err := hint.Usagef("%s", p.What)
	if p.Advice != "" {
		err = hint.With(err, "%s", p.Advice)
	}
	return hint.Usage(err)
}

// Within returns a problem for a number outside its limits, which are inclusive, or nil.
func Within[T int | float64](path string, v, least, most T) *Problem {
	if v >= least && v <= most {
		return nil
	}
	plain := func(v T) string { return strconv.FormatFloat(float64(v), 'f', -1, 64) }
	return Wrong(path, "%s: %v is not within %s and %s", Key(path), v, plain(least), plain(most))
}

// OneOf returns a problem for a word that is not among the known ones, or nil.
func OneOf(path, value string, known ...string) *Problem {
	if slices.Contains(known, value) {
		return nil
	}
	key := Key(path)
	return Wrong(path, "%s: unknown %q", key, value).Advise("%s", hint.Of(hint.Unknown(key, value, known)))
}

// Key returns the last key of a path.
func Key(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }
