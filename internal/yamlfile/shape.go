package yamlfile

import (
	"bytes"
	"cmp"

	"linerate/internal/hint"
)

// Limits on a text's shape: hand-written files stay far below, and beyond them the parser's time
// and stack grow faster than the text.
const (
	maxDepth  = 1000 // open brackets, or columns of indentation
	maxNested = 64   // sequences started on one line: "- - - -"
	maxBlank  = 1000 // consecutive empty lines
)

// CheckShape returns an error for texts that would overload the parser: too long, nested too
// deeply, blank for thousands of lines.
func CheckShape(file string, kind Kind, text []byte) error {
	if most := cmp.Or(kind.Most, maxBytes); len(text) > most {
		return hint.Usagef("%s: %s of %d bytes is too long (limit %d)", file, kind.Noun, len(text), most)
	}
	open, blank, at := 0, 0, 0
	for line := range bytes.Lines(text) {
		at++
		rest := bytes.TrimLeft(line, " ")
		if len(bytes.TrimSpace(rest)) == 0 {
			blank++
		} else {
			blank = 0
		}
		opened := bytes.Count(rest, []byte("[")) + bytes.Count(rest, []byte("{"))
		if open+opened > maxDepth || len(line)-len(rest) > maxDepth || nested(rest) > maxNested || blank > maxBlank {
			return hint.Usagef("%s:%d: %s is nested too deep, or blank for too long", file, at, kind.Noun)
		}
		open = max(0, open+opened-bytes.Count(rest, []byte("]"))-bytes.Count(rest, []byte("}")))
	}
	return nil
}

// nested counts the collections and properties that a line starts before its first value.
func nested(line []byte) int {
	n := 0
	for _, word := range bytes.Fields(line) {
		if len(word) > 1 && word[0] != '&' && word[0] != '!' && word[len(word)-1] != ':' {
			break
		}
		n++
	}
	return n
}
