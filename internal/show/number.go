package show

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Digits formats three significant digits without an exponent, grouping thousands. Its minus is
// U+2212.
func Digits(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Unknown
	}
	a := math.Abs(v)
	switch {
	case a >= 99.95:
		return Grouped(v, 0)
	case a >= 9.995:
		return Grouped(v, 1)
	}
	return Grouped(v, 2)
}

// Grouped formats a number with the given decimals, grouping thousands.
func Grouped(v float64, decimals int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Unknown
	}
	text := strconv.FormatFloat(math.Abs(v), 'f', decimals, 64)
	whole, frac, fraction := strings.Cut(text, ".")
	whole = thousands(whole)
	if fraction {
		whole += "." + frac
	}
	if v < 0 && !zero(text) {
		return "−" + whole
	}
	return whole
}

// Signed is Grouped with a sign; what rounds to zero is ±0.
func Signed(v float64, decimals int) string {
	text := Grouped(v, decimals)
	switch {
	case text == Unknown:
		return text
	case zero(text):
		return "±" + text
	case v > 0:
		return "+" + text
	}
	return text
}

// zero reports whether a formatted number has no digit but 0.
func zero(text string) bool { return strings.Trim(text, "0.,") == "" }

// thousands inserts commas between the thousands of an integer.
func thousands(s string) string {
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Value formats a measurement of any magnitude and unit in at most 12 columns, with its measured
// digits, up to six.
func Value(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return Unknown
	case v == math.Trunc(v) && a < 1e9, a >= 10_000 && a < 1e9:
		return Grouped(v, 0)
	case a >= 1e9 || a < 1e-3:
		return minus(strconv.FormatFloat(v, 'g', 5, 64))
	}
	text := strconv.FormatFloat(math.Abs(v), 'g', 6, 64)
	_, frac, _ := strings.Cut(text, ".")
	return Grouped(v, len(frac))
}

// SignedValue is Value with a sign.
func SignedValue(v float64) string {
	if v > 0 && !math.IsInf(v, 0) {
		return "+" + Value(v)
	}
	return Value(v)
}

// Count formats a number of things.
func Count[T ~int | ~int64 | ~uint64](n T) string {
	text := fmt.Sprint(n)
	if text[0] == '-' {
		return "−" + thousands(text[1:])
	}
	return thousands(text)
}

// SI formats three digits with the unit and its decimal prefix: "2.67 Mpps".
func SI(v float64, unit string) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Unknown
	}
	for _, p := range decimal {
		if math.Abs(v) >= 0.9995*p.factor { // rounded to three digits it reaches the prefix
			return Digits(v/p.factor) + " " + p.name + unit
		}
	}
	return Digits(v) + " " + unit
}

// Tick formats an axis label: values are round, so it keeps their digits and adds only the prefix,
// "1.5M".
func Tick(v float64) string {
	for _, p := range decimal {
		if math.Abs(v) >= p.factor {
			return minus(strconv.FormatFloat(math.Round(v/p.factor*100)/100, 'g', -1, 64)) + p.name
		}
	}
	return minus(strconv.FormatFloat(v, 'g', -1, 64))
}

// minus replaces the leading hyphen by U+2212, but not an exponent's.
func minus(text string) string {
	if number, negative := strings.CutPrefix(text, "-"); negative {
		return "−" + number
	}
	return text
}

// Rate formats frames or packets per second.
func Rate(pps float64) string { return SI(pps, "pps") }

// Bits formats bits per second: "9.41 Gb/s".
func Bits(perSecond float64) string { return SI(perSecond, "b/s") }

// Bytes formats a size in binary units: "1.50 MiB"; integers have no decimals.
func Bytes(n float64) string {
	unit := "B"
	for _, p := range binary {
		if math.Abs(n) >= p.factor {
			n, unit = n/p.factor, p.name
			break
		}
	}
	if n == math.Trunc(n) {
		return Grouped(n, 0) + " " + unit
	}
	return Digits(n) + " " + unit
}

// Percent formats an unsigned percentage: "0.45 %", "12.3 %", "1,234 %".
func Percent(v float64) string { return percent(math.Abs(v), Grouped) }

// WholePercent formats a percentage without decimals.
func WholePercent(v float64) string { return Grouped(v, 0) + " %" }

// SignedPercent formats an effect: "+0.45 %", "−12.3 %".
func SignedPercent(v float64) string { return percent(v, Signed) }

// Points formats an unsigned difference between proportions, given in percentage points: "1.73
// points".
func Points(v float64) string { return inPoints(Percent(v)) }

// SignedPoints formats a difference between proportions: "+1.73 points".
func SignedPoints(v float64) string { return inPoints(SignedPercent(v)) }

func inPoints(percent string) string { return strings.Replace(percent, " %", " points", 1) }

// enormous is the limit above which a percentage results from very few, very different values; its
// digits are meaningless.
const enormous = 99_999.5

func percent(v float64, print func(float64, int) string) string {
	a := math.Abs(v)
	switch {
	case math.IsNaN(v):
		return Unknown
	case a >= enormous:
		return "> " + print(math.Copysign(99_999, v), 0) + " %"
	case a >= 99.95:
		return print(v, 0) + " %"
	case a >= 0.995:
		return print(v, 1) + " %"
	}
	return print(v, 2) + " %"
}

// Loss formats a loss ratio with three significant digits however small it is, because zero and
// almost zero differ: "0 %", "0.00012 %", "12.3 %".
func Loss(ratio float64) string {
	v := 100 * ratio
	switch a := math.Abs(v); {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return Unknown
	case a == 0:
		return "0 %"
	case a < 0.995:
		return minus(strconv.FormatFloat(v, 'f', min(12, 2-int(math.Floor(math.Log10(a)))), 64)) + " %"
	}
	return Digits(v) + " %"
}

// Interval formats the bounds of an effect in percent: "[−0.10, +0.45]".
func Interval(low, high float64) string {
	if math.IsNaN(low) || math.IsNaN(high) {
		return Unknown
	}
	return "[" + strings.TrimSuffix(SignedPercent(low), " %") + ", " + strings.TrimSuffix(SignedPercent(high), " %") + "]"
}

// P formats a p-value like papers do.
func P(p float64) string {
	switch {
	case math.IsNaN(p):
		return Unknown
	case p < 0.001:
		return "< 0.001"
	}
	return strconv.FormatFloat(p, 'f', 3, 64)
}

// PIs formats a p-value in a sentence: "p = 0.031", "p < 0.001".
func PIs(p float64) string {
	if s := P(p); strings.HasPrefix(s, "<") {
		return "p " + s
	}
	return "p = " + P(p)
}

// Maybe is a number that may be unknown, such as a stats.Number.
type Maybe interface {
	Get() (v float64, known bool)
}

// Optional formats a number that may be unknown.
func Optional(n Maybe, print func(float64) string) string {
	v, known := n.Get()
	if !known {
		return Unknown
	}
	return print(v)
}

// OptionalInterval is Interval for bounds that may be unknown.
func OptionalInterval(low, high Maybe) string { return Interval(orNaN(low), orNaN(high)) }

func orNaN(n Maybe) float64 {
	if v, known := n.Get(); known {
		return v
	}
	return math.NaN()
}

// Plural returns "1 line", "2 lines"; the plural has an s.
func Plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return Count(n) + " " + word + "s"
}

// List joins words as in a sentence: "a, b and c".
func List(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
