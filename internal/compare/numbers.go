package compare

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"linerate/internal/stats"
)

// value prints a number of any magnitude in at most 12 columns.
func value(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v):
		return "–"
	case v == math.Trunc(v) && a < 1e9:
		return groupDigits(strconv.FormatFloat(v, 'f', 0, 64))
	case a >= 1e9 || a < 1e-3:
		return strconv.FormatFloat(v, 'g', 5, 64)
	case a >= 10_000:
		return groupDigits(strconv.FormatFloat(v, 'f', 0, 64))
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

func signed(v float64) string {
	if v > 0 {
		return "+" + value(v)
	}
	return value(v)
}

// signedPercent keeps three significant digits but no more than two decimals.
func signedPercent(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v):
		return "–"
	case math.IsInf(v, 0) || a >= 1e6:
		return fmt.Sprintf("%+.3g %%", v)
	case a >= 100:
		return fmt.Sprintf("%+.0f %%", v)
	case a >= 10:
		return fmt.Sprintf("%+.1f %%", v)
	case a >= 0.1 || a == 0:
		return fmt.Sprintf("%+.2f %%", v)
	}
	return fmt.Sprintf("%+.2g %%", v)
}

// detectable prints a percentage to two digits, without an exponent when it is
// large.
func detectable(v float64) string {
	if v >= 100 {
		return fmt.Sprintf("%.0f %%", v)
	}
	return fmt.Sprintf("%.2g %%", v)
}

func percentOf(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	return strings.TrimPrefix(signedPercent(100*v), "+")
}

func pValue(p float64) string {
	switch {
	case math.IsNaN(p):
		return "–"
	case p < 0.0001:
		return "< 0.0001"
	case p < 0.001:
		return fmt.Sprintf("%.4f", p)
	}
	return fmt.Sprintf("%.3f", p)
}

func grouped(n int) string { return groupDigits(strconv.Itoa(n)) }

// groupDigits puts commas between thousands.
func groupDigits(s string) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// nameWidth bounds the names' column.
func nameWidth(arms []stats.Arm) int {
	w := 4
	for _, a := range arms {
		w = max(w, min(24, utf8.RuneCountInString(a.Name)))
	}
	return w
}

// pad cuts or fills a name to the column; a cut name keeps its end, which
// tells paths apart.
func pad(s string, width int) string {
	n := utf8.RuneCountInString(s)
	if n > width {
		runes := []rune(s)
		return "…" + string(runes[n-width+1:])
	}
	return s + strings.Repeat(" ", width-n)
}
