package fact

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
)

// Files is the access to a machine that parsers of configuration need. An fs.ErrNotExist error
// means that the file does not exist, which is normal.
type Files interface {
	// Read returns the text of a file by its path on the machine.
	Read(path string) (string, error)
	// List returns the names in a directory, sorted.
	List(dir string) ([]string, error)
}

// Texts iterates over the readable files.
func Texts(files Files, paths ...string) iter.Seq2[string, string] {
	return func(yield func(path, text string) bool) {
		for _, p := range paths {
			if text, err := files.Read(p); err == nil && !yield(p, text) {
				return
			}
		}
	}
}

// FirstText returns the first readable file.
func FirstText(files Files, paths ...string) (path, text string, ok bool) {
	for path, text = range Texts(files, paths...) {
		return path, text, true
	}
	return "", "", false
}

// InOrder numbers lines in reading order.
func InOrder(lines []Line) []Line {
	for i := range lines {
		lines[i].Order = i + 1
	}
	return lines
}

// MaxLines is the maximum number of lines of a text.
const MaxLines = 200_000

// Lines splits a text into lines without their ends, at most MaxLines.
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

// IsNumber reports whether s consists of digits.
func IsNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// Number parses a count; it returns 0 if s is not a number or exceeds 64 bits.
func Number(s string) uint64 {
	n, err := strconv.ParseUint(strings.TrimSpace(s), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Int parses a count as an int; it returns 0 if s is not one.
func Int(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// Ranges formats sorted numbers like the kernels do: 0-3,8.
func Ranges(n []int) string {
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
