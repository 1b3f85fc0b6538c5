package fact

import (
	"strconv"
	"strings"
)

// MaxLines bounds one text.
const MaxLines = 200_000

// Lines cuts a text into lines without their ends, at most MaxLines.
func Lines(text string) []string {
	lines := strings.SplitN(text, "\n", MaxLines+1)
	if len(lines) > MaxLines {
		lines = lines[:MaxLines]
	}
	if n := len(lines); n > 0 && lines[n-1] == "" {
		lines = lines[:n-1]
	}
	for i, l := range lines {
		lines[i] = strings.TrimSuffix(l, "\r")
	}
	return lines
}

// IsNumber reports digits alone.
func IsNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// Number reads a count; 0 when it is none or beyond 64 bits.
func Number(s string) uint64 {
	n, err := strconv.ParseUint(strings.TrimSpace(s), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Int is a count as an int; 0 when it is none.
func Int(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 0 {
		return 0
	}
	return n
}
