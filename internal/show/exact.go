package show

import (
	"math"
	"strconv"
	"strings"
)

// Computed values, unlike measured ones, are formatted with all their digits: they are needed to
// set a buffer.

// prefix is a unit prefix with its factor.
type prefix struct {
	name   string
	factor float64
}

// The prefixes, largest first.
var (
	decimal = []prefix{{"T", 1e12}, {"G", 1e9}, {"M", 1e6}, {"k", 1e3}}
	binary  = []prefix{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}
)

// Trimmed formats at most the given decimals, without trailing zeros.
func Trimmed(v float64, decimals int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Unknown
	}
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if s == "-0" {
		return "0"
	}
	return minus(s)
}

// Exact formats a computed or nominal rate with its decimal prefix: "10 Gb/s", "14.881 Mpps".
func Exact(v float64, unit string) string {
	for _, p := range decimal {
		if math.Abs(v) >= p.factor {
			return Trimmed(v/p.factor, 4) + " " + p.name + unit
		}
	}
	return strings.TrimSpace(Trimmed(v, 3) + " " + unit)
}

// ExactBytes formats a computed size in bytes, then in binary units: "16777216 B (16 MiB)".
func ExactBytes(v float64) string {
	whole := Trimmed(v, 1) + " B"
	for _, p := range binary {
		if math.Abs(v) >= p.factor {
			return whole + " (" + Trimmed(v/p.factor, 2) + " " + p.name + ")"
		}
	}
	return whole
}

// ExactSeconds formats a computed time: "67.2 ns", "1.5 ms".
func ExactSeconds(v float64) string {
	a := math.Abs(v)
	switch {
	case a == 0 || a >= 1:
		return Trimmed(v, 3) + " s"
	case a >= 1e-3:
		return Trimmed(v*1e3, 3) + " ms"
	case a >= 1e-6:
		return Trimmed(v*1e6, 3) + " µs"
	}
	return Trimmed(v*1e9, 2) + " ns"
}
