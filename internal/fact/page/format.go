package page

import (
	"fmt"
	"strings"
	"time"

	"linerate/internal/show"
)

// join puts the parts that are not empty together.
func join(sep string, parts ...string) string {
	var kept []string
	for _, s := range parts {
		if s != "" {
			kept = append(kept, s)
		}
	}
	return strings.Join(kept, sep)
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

// optional is plural, but nothing for zero: zero means not known.
func optional(n int, what string) string {
	if n == 0 {
		return ""
	}
	return show.Plural(n, what)
}

func number(v float64, format string) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf(format, v)
}

// size is bytes in binary units, nothing for zero.
func size(n uint64) string {
	if n == 0 {
		return ""
	}
	return show.Bytes(float64(n))
}

// rate is a link's speed in decimal units.
func rate(bits uint64) string {
	switch {
	case bits == 0:
		return ""
	case bits%1e9 == 0:
		return fmt.Sprintf("%d Gb/s", bits/1e9)
	case bits >= 1e9:
		return fmt.Sprintf("%.1f Gb/s", float64(bits)/1e9)
	}
	return fmt.Sprintf("%.4g Mb/s", float64(bits)/1e6)
}

func duration(seconds float64) string {
	d := time.Duration(seconds) * time.Second
	if days := d / (24 * time.Hour); days > 0 {
		return fmt.Sprintf("%s, %s", show.Plural(int(days), "day"), d%(24*time.Hour))
	}
	return d.String()
}

// ranges writes sorted numbers as "0-3,8".
func ranges(n []int) string {
	var parts []string
	for i := 0; i < len(n); {
		j := i
		for j+1 < len(n) && n[j+1] == n[j]+1 {
			j++
		}
		if i == j {
			parts = append(parts, fmt.Sprint(n[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", n[i], n[j]))
		}
		i = j + 1
	}
	return strings.Join(parts, ",")
}
