package redact

import (
	_ "embed" // the words
	"strings"
)

// The sets of words with a name in Go; rules.txt names others: boot, param, module of Linux, rc,
// loader, systemd, shell, and plain, whose words pass anywhere.
const setWord = "word" // values: choices, algorithms, options

// catalogueWords lists the names and choices of the catalogue, one set and word per line. A test of
// the catalogue keeps it up to date; its -update writes it.
//
//go:embed words.txt
var catalogueWords string

// ownWords lists the words that the catalogue lacks, a set and some of its words per line.
//
//go:embed ownwords.txt
var ownWords string

// allWords returns all sets, as "set word".
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
