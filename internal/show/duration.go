package show

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Nanos formats a measured time in nanoseconds, with three digits and a unit: "512 ns", "1.24 ms".
func Nanos(ns float64) string {
	a := math.Abs(ns)
	switch {
	case math.IsNaN(ns) || math.IsInf(ns, 0):
		return Unknown
	case a < 999.5:
		if ns == math.Trunc(ns) {
			return Grouped(ns, 0) + " ns"
		}
		return Digits(ns) + " ns"
	case a < 999.5e3:
		return Digits(ns/1e3) + " µs"
	case a < 999.5e6:
		return Digits(ns/1e6) + " ms"
	}
	return Digits(ns/1e9) + " s"
}

// Clock formats a duration as minutes and seconds, like a countdown, preceded by hours if there are
// any.
func Clock(d time.Duration) string {
	s := int(math.Round(math.Abs(d.Seconds())))
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// Brief formats a time known to about a millisecond, or set by a user: "0.4 ms", "12 ms", "1.24 s",
// without zeros that suggest precision.
func Brief(d time.Duration) string {
	us := d.Microseconds()
	switch {
	case us < 10_000:
		return strconv.FormatFloat(float64(us)/1e3, 'g', 3, 64) + " ms"
	case us < 1_000_000:
		return Count((us+500)/1000) + " ms"
	}
	return strconv.FormatFloat(float64(us)/1e6, 'g', 4, 64) + " s"
}

// Long formats a duration in its two largest units: "12 days 11 hours", "3 minutes 20 seconds", "4
// seconds".
func Long(d time.Duration) string {
	units := []struct {
		name string
		of   time.Duration
	}{{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}, {"second", time.Second}}
	d = d.Round(time.Second)
	for i, u := range units[:len(units)-1] {
		if d < u.of {
			continue
		}
		next := units[i+1]
		out, rest := Plural(int(d/u.of), u.name), int(d%u.of/next.of)
		if rest > 0 {
			out += " " + Plural(rest, next.name)
		}
		return out
	}
	return Plural(int(d/time.Second), "second")
}
