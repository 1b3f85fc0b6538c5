package redact

import (
	_ "embed" // the words
	"strings"
)

// The sets of words that are named here; rules.txt names others: boot, param, module of
// Linux, rc, loader, systemd, shell, and plain, which stay in any place.
const setWord = "word" // values: choices, algorithms, options

// catalogueWords are the names and choices of the catalogue, a set and a word
// a line. A test of the catalogue holds them to it, and its -update writes them.
//
//go:embed words.txt
var catalogueWords string

// ownWords are those that the catalogue does not have, a set and words of it a line.
//
//go:embed ownwords.txt
var ownWords string

// allWords are all sets, each word behind its set and a blank.
func allWords() []string {
	var all []string
	for line := range strings.Lines(catalogueWords + ownWords) {
		if set, words, _ := strings.Cut(line, " "); set != "#" {
			for w := range strings.FieldsSeq(words) {
				all = append(all, set+" "+w)
			}
		}
	}
	return all
}
