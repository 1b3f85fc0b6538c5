package ministat

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
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
	in := bufio.NewReaderSize(r, 64<<10)
	for line := 1; ; line++ {
		text, err := nextLine(in)
		if err != nil {
			break
		}
		field := pick(text, column, delimiters)
		if field == "" {
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

// nextLine reads up to a newline, lineLimit bytes or the end.
func nextLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for len(line) < lineLimit {
		b, err := in.ReadByte()
		if err != nil {
			if len(line) > 0 {
				break
			}
			return nil, io.EOF
		}
		line = append(line, b)
		if b == '\n' {
			break
		}
	}
	if i := bytes.IndexByte(line, 0); i >= 0 {
		line = line[:i]
	}
	return line, nil
}

// pick returns the column of a line, or "" when there is none before a
// field that starts with #.
func pick(line []byte, column int, delimiters string) string {
	rest := strings.TrimRight(string(line), spaces)
	for i := 1; ; i++ {
		rest = trimLeftBytes(rest, delimiters)
		if rest == "" || rest[0] == '#' {
			return ""
		}
		end := indexAnyByte(rest, delimiters)
		if i == column {
			return rest[:end]
		}
		rest = rest[end:]
	}
}

// trimLeftBytes and indexAnyByte work on bytes, as C's strtok does.
func trimLeftBytes(s, cut string) string {
	for s != "" && strings.IndexByte(cut, s[0]) >= 0 {
		s = s[1:]
	}
	return s
}

func indexAnyByte(s, chars string) int {
	for i := range len(s) {
		if strings.IndexByte(chars, s[i]) >= 0 {
			return i
		}
	}
	return len(s)
}

// parseDouble is C's strtod of a whole field: leading blanks, decimal or
// hexadecimal, infinities and NaNs by name; out of range saturates.
func parseDouble(s string) (float64, bool) {
	s = strings.TrimLeft(s, spaces)
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

func isRange(err error) bool { return errors.Is(err, strconv.ErrRange) }
