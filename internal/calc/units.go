package calc

import (
	"math"
	"strconv"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/show"
)

// Unit is the base unit of a quantity. Values are always stored in it.
type Unit string

// The units. Frames and segments are counts.
const (
	Count            Unit = "1"   // things: frames, CPUs, buckets
	BitsPerSecond    Unit = "b/s" // link rates
	Bytes            Unit = "B"   // sizes
	BytesPerSecond   Unit = "B/s" // drive and memory bandwidth
	Seconds          Unit = "s"
	PacketsPerSecond Unit = "pps"
	PerSecond        Unit = "1/s" // any other rate
	Percent          Unit = "%"
)

// suffixes maps each unit to the suffixes that Parse accepts, with their factor to the base unit.
var suffixes = map[Unit]map[string]float64{
	Count:            {"": 1},
	BitsPerSecond:    {"": 1, "b/s": 1, "bit/s": 1, "bps": 1, "bit": 1, "b": 1, "B/s": 8},
	Bytes:            {"": 1, "B": 1, "byte": 1, "bytes": 1},
	BytesPerSecond:   {"": 1, "B/s": 1, "Bps": 1, "b/s": 0.125, "bit/s": 0.125, "bps": 0.125},
	Seconds:          {"": 1, "s": 1, "sec": 1, "min": 60, "h": 3600},
	PacketsPerSecond: {"": 1, "pps": 1, "p/s": 1, "fps": 1},
	PerSecond:        {"": 1, "/s": 1, "1/s": 1, "Hz": 1},
	Percent:          {"": 1, "%": 1},
}

var prefixes = []struct {
	text   string
	factor float64
}{
	{"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30}, {"Ti", 1 << 40},
	{"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12},
	{"m", 1e-3}, {"u", 1e-6}, {"µ", 1e-6}, {"n", 1e-9},
}

// binaryAlone lists prefixes that, without a unit after a size, mean powers of 1024, as in
// sysctl(8), truncate(1) and dd(1).
var binaryAlone = map[string]float64{
	"k": 1 << 10, "K": 1 << 10, "m": 1 << 20, "M": 1 << 20,
	"g": 1 << 30, "G": 1 << 30, "t": 1 << 40, "T": 1 << 40,
}

// Parse parses a number with an optional prefix and unit ("10G", "10 Gb/s", "1.25GB/s", "64K",
// "16MiB", "13ms", "1.488Mpps") as a quantity of unit, in base units. A bare prefix after a size is
// binary (64K = 65536 bytes); everywhere else, and with a unit (64 kB), prefixes are decimal and
// Ki, Mi, Gi binary. It also accepts link names such as 25GbE. Seconds with a prefix require the s:
// 5m may mean minutes.
func Parse(s string, unit Unit) (float64, error) {
	text := strings.TrimSpace(s)
	end := numberLen(text)
	v, err := strconv.ParseFloat(strings.ReplaceAll(text[:end], "_", ""), 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		return 0, hint.With(hint.Usagef("%q is not a quantity", clip(s)), "write it like %s", example[unit])
	}
	rest := strings.TrimSpace(text[end:])
	factor, ok := factorOf(rest, unit)
	if !ok {
		return 0, hint.With(hint.Usagef("%q is not in %s", clip(s), unitName[unit]), "write it like %s", example[unit])
	}
	if v *= factor; math.IsInf(v, 0) {
		return 0, hint.Usagef("%q is more than a number holds", clip(s))
	}
	return v, nil
}

// ParseWithUnit is Parse for places where a bare number is more likely a mistake: 10 for a link of
// 10 Gb/s. Counts need no unit.
func ParseWithUnit(s string, unit Unit) (float64, error) {
	if text := strings.TrimSpace(s); unit != Count && text != "" && numberLen(text) == len(text) {
		return 0, hint.With(hint.Usagef("%q has no unit", clip(s)), "write it like %s", example[unit])
	}
	return Parse(s, unit)
}

// ParseRange parses two values of a unit, "500B-10kB", or one for both ends. It is an error if the
// second is less.
func ParseRange(s string, unit Unit) (least, most float64, err error) {
	from, to, ranged := strings.Cut(s, "-")
	if least, err = Parse(from, unit); err != nil || !ranged {
		return least, least, err
	}
	if most, err = Parse(to, unit); err == nil && most < least {
		err = hint.Usagef("%q ends below where it begins", clip(s))
	}
	return least, most, err
}

func factorOf(rest string, unit Unit) (float64, bool) {
	if unit == BitsPerSecond {
		rest = strings.TrimSuffix(rest, "bE") // 10GbE
	}
	if unit == Bytes {
		if f, ok := binaryAlone[rest]; ok {
			return f, true
		}
	}
	if f, ok := suffixes[unit][rest]; ok {
		return f, true
	}
	for _, p := range prefixes {
		tail, found := strings.CutPrefix(rest, p.text)
		if !found || p.factor < 1 && unit != Seconds || tail == "" && unit == Seconds { // 5m may mean minutes
			continue
		}
		if f, ok := suffixes[unit][tail]; ok {
			return f * p.factor, true
		}
	}
	return 0, false
}

// numberLen returns the length of the number at the beginning of text.
func numberLen(text string) int {
	for i, r := range text {
		switch {
		case r >= '0' && r <= '9', r == '.', r == '_', i == 0 && (r == '-' || r == '+'):
		case (r == 'e' || r == 'E') && i > 0 && i+1 < len(text) && strings.ContainsRune("0123456789+-", rune(text[i+1])):
		case (r == '-' || r == '+') && i > 0 && (text[i-1] == 'e' || text[i-1] == 'E'):
		default:
			return i
		}
	}
	return len(text)
}

func clip(s string) string {
	if len(s) > 60 {
		return s[:60] + "…"
	}
	return s
}

var example = map[Unit]string{
	Count: "4", BitsPerSecond: "10Gb/s", Bytes: "1500, 64K or 16MiB", BytesPerSecond: "2.6GB/s",
	Seconds: "13ms", PacketsPerSecond: "1.5Mpps", PerSecond: "100/s", Percent: "25%",
}

var unitName = map[Unit]string{
	Count: "a plain number", BitsPerSecond: "bits per second", Bytes: "bytes", BytesPerSecond: "bytes per second",
	Seconds: "seconds", PacketsPerSecond: "packets per second", PerSecond: "per second", Percent: "per cent",
}

// Format formats v, in the base unit, as is usual in the field: sizes in bytes and in binary
// multiples, rates in decimal ones.
func Format(v float64, unit Unit) string {
	switch unit {
	case Bytes:
		return show.ExactBytes(v)
	case Seconds:
		return show.ExactSeconds(v)
	case Percent:
		return show.Trimmed(v, 2) + " %"
	case Count:
		return show.Trimmed(v, 3)
	case PerSecond:
		return show.Exact(v, "/s")
	}
	return show.Exact(v, string(unit))
}
