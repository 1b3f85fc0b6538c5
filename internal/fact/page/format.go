package page

import (
	"fmt"
	"strings"
	"time"
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

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// optional is plural, but nothing for zero: zero means not known.
func optional(n int, what string) string {
	if n == 0 {
		return ""
	}
	return plural(n, what)
}

func number(v float64, format string) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf(format, v)
}

// bytes is a size in binary units, nothing for zero.
func bytes(n uint64) string {
	if n == 0 {
		return ""
	}
	v, unit := float64(n), "B"
	for _, u := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if v < 1024 {
			break
		}
		v, unit = v/1024, u
	}
	if v == float64(int64(v)) {
		return fmt.Sprintf("%d %s", int64(v), unit)
	}
	return fmt.Sprintf("%.1f %s", v, unit)
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
		return fmt.Sprintf("%s, %s", plural(int(days), "day"), d%(24*time.Hour))
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

// wrap breaks words into lines of at most width, further lines indented.
func wrap(words []string, width int, indent string) string {
	var out strings.Builder
	n := 0
	for i, w := range words {
		if i > 0 {
			if n+1+len(w) > width {
				out.WriteString("\n" + indent)
				n = 0
			} else {
				out.WriteByte(' ')
				n++
			}
		}
		out.WriteString(w)
		n += len(w)
	}
	return out.String()
}
