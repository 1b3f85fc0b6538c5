// Package accesslog reads access logs of web servers and reports how long requests
// took: counts, distributions, percentiles, shares under thresholds, and differences
// between logs. It reads a log once, in constant memory.
package accesslog

import (
	"bytes"
	"math"
	"strconv"
	"time"

	"linerate/internal/hint"
)

// Field is a part of a log line that a tally may use.
type Field uint8

// The fields, with the servers' names for them.
const (
	None      Field = iota
	Time            // when the request ended, or began (Apache %t)
	Latency         // request time: NGINX $request_time, Apache %D, %T
	Status          // HTTP status code
	Path            // path of the request, with its query
	Request         // the request line: method, path, protocol
	numFields       //
)

var fieldNames = [numFields]string{"", "time", "latency", "status", "path", "request"}

func (f Field) String() string { return fieldNames[f] }

// parts holds the fields of a line.
type parts [numFields][]byte

// Unit is the unit of a number in a log, in microseconds.
type Unit float64

// Units of latency.
const (
	Nanoseconds  Unit = 1e-3
	Microseconds Unit = 1
	Milliseconds Unit = 1e3
	Seconds      Unit = 1e6
)

// ParseUnit parses s, ms, us or ns.
func ParseUnit(s string) (Unit, error) {
	units := map[string]Unit{"s": Seconds, "ms": Milliseconds, "us": Microseconds, "ns": Nanoseconds}
	if u, ok := units[s]; ok {
		return u, nil
	}
	return 0, hint.Unknown("unit", s, []string{"s", "ms", "us", "ns"})
}

// MaxLine is the length in bytes above which a line counts as bad.
const MaxLine = 1 << 20

// MaxLatency is one day, in microseconds: a longer request time means that
// the clock is wrong.
const MaxLatency = 24 * 3600 * 1000000

// parseLatency converts a decimal number of units to whole microseconds,
// rounding down. It sums a list, which NGINX writes for several upstreams
// (0.001, 0.002 or 0.001 : 0.002). ok is false for "-" and anything else that
// is not a number.
func parseLatency(b []byte, unit Unit) (us int64, ok bool) {
	if bytes.IndexByte(b, ',') < 0 && bytes.IndexByte(b, ':') < 0 {
		return parseDecimal(b, unit)
	}
	for _, part := range bytes.FieldsFunc(b, func(r rune) bool { return r == ',' || r == ':' || r == ' ' }) {
		if string(part) == "-" {
			continue
		}
		v, valid := parseDecimal(part, unit)
		if !valid {
			return 0, false
		}
		us, ok = us+v, true
	}
	return us, ok
}

// parseDecimal parses digits[.digits]. Signs and exponents are rejected: no
// server writes them, and a negative latency means that the clock is wrong.
func parseDecimal(b []byte, unit Unit) (us int64, ok bool) {
	for _, c := range b {
		if c-'0' > 9 && c != '.' {
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(string(b), 64)
	// A float may be slightly below the decimal number that it was parsed from.
	return int64(min(math.Floor(v*float64(unit)+1e-6), MaxLatency+1)), err == nil
}

// parseStatus parses a three-digit status, and returns 0 if it is not one.
func parseStatus(b []byte) int {
	if len(b) != 3 || b[0]-'0' > 9 || b[1]-'0' > 9 || b[2]-'0' > 9 {
		return 0
	}
	return int(b[0]-'0')*100 + int(b[1]-'0')*10 + int(b[2]-'0')
}

// clock parses timestamps. It caches the last one, because consecutive lines
// mostly have the same.
type clock struct {
	text []byte
	unix int64
}

// parse returns the Unix time of a timestamp in one of the servers' formats:
// 10/Oct/2000:13:55:36 -0700, 2000-10-10T13:55:36-07:00 or 971211336.123.
func (c *clock) parse(b []byte) (unix int64, ok bool) {
	if len(c.text) > 0 && bytes.Equal(b, c.text) {
		return c.unix, true
	}
	layout := "02/Jan/2006:15:04:05 -0700"
	switch {
	case len(b) > 10 && b[4] == '-':
		layout = time.RFC3339
	case bytes.IndexByte(b, '/') < 0:
		whole, _, _ := bytes.Cut(b, []byte("."))
		n, err := strconv.ParseUint(string(whole), 10, 40)
		return int64(n), err == nil
	}
	t, err := time.Parse(layout, string(b))
	if err != nil {
		return 0, false
	}
	c.text, c.unix = append(c.text[:0], b...), t.Unix()
	return c.unix, true
}
