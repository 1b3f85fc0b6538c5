package ministat

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// lineLimit is how much of a line the C library hands over at once; longer
// lines arrive in pieces, each read as a line.
const lineLimit = 8191

// spaces are those of C's isspace.
const spaces = " \t\n\v\f\r"

// Read reads a data set as ministat does: one value a line from a column,
// empty lines and what follows a # ignored. The error's text is what ministat
// says.
func Read(r io.Reader, name string, column int, delimiters string) (Set, error) {
	s := Set{Name: name}
	// A buffer of lineLimit bytes ends lines where the C library does.
	in := bufio.NewReaderSize(struct{ io.Reader }{r}, lineLimit)
	cut := bytesOf(delimiters)
	for line := 1; ; line++ {
		text, _ := in.ReadSlice('\n')
		if len(text) == 0 {
			break // what ends a file early is its end
		}
		if i := bytes.IndexByte(text, 0); i >= 0 {
			text = text[:i]
		}
		field := pick(text, column, cut)
		if len(field) == 0 {
			continue
		}
		v, ok := parseDouble(field)
		if !ok {
			return s, fmt.Errorf("ministat: Invalid data on line %d in %s", line, name)
		}
		s.Points = append(s.Points, v)
	}
	if len(s.Points) < 3 {
		return s, &tooFew{name}
	}
	return s, nil
}

// ErrTooFew is what the error of a set with fewer than three values is.
var ErrTooFew = errors.New("fewer than 3 data points")

type tooFew struct{ name string }

func (e *tooFew) Error() string {
	return "Dataset " + e.name + " must contain at least 3 data points"
}
func (e *tooFew) Is(target error) bool { return target == ErrTooFew }

// byteSet says of every byte whether it is in the set.
type byteSet [256]bool

func bytesOf(chars string) *byteSet {
	var b byteSet
	for i := range len(chars) {
		b[chars[i]] = true
	}
	return &b
}

// pick returns the column of a line, or nothing when there is none before a
// field that starts with #. It works on bytes, as C's strtok does.
func pick(line []byte, column int, delimiters *byteSet) []byte {
	rest := bytes.TrimRight(line, spaces)
	for i := 1; ; i++ {
		for len(rest) > 0 && delimiters[rest[0]] {
			rest = rest[1:]
		}
		if len(rest) == 0 || rest[0] == '#' {
			return nil
		}
		end := 0
		for end < len(rest) && !delimiters[rest[end]] {
			end++
		}
		if i == column {
			return rest[:end]
		}
		rest = rest[end:]
	}
}

// parseDouble is C's strtod of a whole field: leading blanks, decimal or
// hexadecimal, infinities and NaNs by name; out of range saturates.
func parseDouble(field []byte) (float64, bool) {
	if plain(field) {
		if v, err := strconv.ParseFloat(string(field), 64); err == nil {
			return v, true
		}
	}
	s := strings.TrimLeft(string(field), spaces)
	body := strings.ToLower(strings.TrimLeft(s, "+-"))
	if len(s)-len(body) > 1 || strings.Contains(body, "_") {
		return 0, false
	}
	if strings.HasPrefix(body, "nan(") && strings.HasSuffix(body, ")") {
		body = "nan"
	}
	if strings.HasPrefix(body, "0x") && !strings.Contains(body, "p") {
		body += "p0"
	}
	v, err := strconv.ParseFloat(body, 64)
	if err != nil && !isRange(err) {
		return 0, false
	}
	if strings.HasPrefix(s, "-") {
		v = math.Copysign(v, -1)
	}
	return v, true
}

// plain reports whether a field is made of a decimal number's characters, as
// nearly all are: what strconv makes of those is what C does.
func plain(field []byte) bool {
	return !slices.ContainsFunc(field, func(c byte) bool { return (c < '0' || c > '9') && c != '.' && c != '-' && c != 'e' })
}

func isRange(err error) bool { return errors.Is(err, strconv.ErrRange) }
