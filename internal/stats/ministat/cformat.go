package ministat

import (
	"math"
	"strconv"
	"strings"
)

// general is C's %.*g: the shorter of fixed and exponent notation at a
// precision, without trailing zeros, NaNs with their sign.
func general(v float64, precision int) string {
	switch {
	case math.IsNaN(v):
		if math.Signbit(v) {
			return "-nan"
		}
		return "nan"
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	}
	return strconv.FormatFloat(v, 'g', precision, 64)
}

// padded is C's %13.8g.
func padded(v float64) string {
	s := general(v, 8)
	return strings.Repeat(" ", max(0, 13-len(s))) + s
}
