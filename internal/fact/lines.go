package fact

import (
	"iter"
	"strconv"
	"strings"
)

// Files is what the readers of configuration need of a machine. An error
// that is fs.ErrNotExist means that the file is not there, which is normal.
type Files interface {
	// Read returns the text of a file by its path on the machine.
	Read(path string) (string, error)
	// List returns the names in a directory, sorted.
	List(dir string) ([]string, error)
}

// Texts are those of the files that can be read.
func Texts(files Files, paths ...string) iter.Seq2[string, string] {
	return func(yield func(path, text string) bool) {
		for _, p := range paths {
			if text, err := files.Read(p); err == nil && !yield(p, text) {
				return
			}
		}
	}
}

// FirstText is the first of the files that can be read.
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
