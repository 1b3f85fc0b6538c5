package freebsd

import (
	"slices"
	"strings"

	"linerate/internal/fact"
)

// WordLines returns the lines of a daemon's configuration that contain one of the words as a whole
// word, once per word: nginx's "listen 80 accept_filter=httpready backlog=1024;" is found twice.
func WordLines(file, text string, words []string) []fact.Line {
	var lines []fact.Line
	for i, raw := range fact.Lines(text) {
		body := raw[:commentAt(raw)]
		split := strings.FieldsFunc(body, func(r rune) bool { return strings.ContainsRune(" \t;{}=", r) })
		for _, word := range words {
			at := slices.Index(split, word)
			if at < 0 || len(lines) >= 4096 {
				continue
			}
			lines = append(lines, fact.Line{File: file, Number: i + 1, Text: raw, Name: word,
				Value: strings.Join(split[at+1:], " "), Stage: fact.Conf, Order: len(lines) + 1, Effective: true})
		}
	}
	return lines
}
