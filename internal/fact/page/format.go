package page

import (
	"fmt"
	"strings"
	"time"

	"linerate/internal/list"
	"linerate/internal/show"
)

// join joins the non-empty parts.
func join(sep string, parts ...string) string {
	kept := list.Filter(parts, func(s string) bool { return s != "" })
	return strings.Join(kept, sep)
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

// optional is like plural, but empty for zero, which means unknown.
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

// size formats bytes in binary units; zero is empty.
func size(n uint64) string {
	if n == 0 {
		return ""
	}
	return show.Bytes(float64(n))
}

// rate formats a link's speed in decimal units; zero is empty.
func rate(bits uint64) string {
	if bits == 0 {
		return ""
	}
	return show.Exact(float64(bits), "b/s")
}

func duration(seconds float64) string {
	d := time.Duration(seconds) * time.Second
	if days := d / (24 * time.Hour); days > 0 {
		return fmt.Sprintf("%s, %s", show.Plural(int(days), "day"), d%(24*time.Hour))
	}
	return d.String()
}
