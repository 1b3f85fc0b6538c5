package audit

import (
	_ "embed"
	"strings"

	"linerate/internal/list"
)

//go:embed words.txt
var wordsText string

// kindWords maps each kind of finding to its meaning, structural each built-in rule to its
// description.
var kindWords, structural = readWords()

func readWords() (kinds map[Kind]string, rules map[string]string) {
	kinds, rules = map[Kind]string{}, map[string]string{}
	for _, row := range list.Rows(wordsText) {
		if strings.HasPrefix(row[0], "LR-") {
			rules[row[0]] = row[1]
		} else {
			kinds[Kind(row[0])] = row[1]
		}
	}
	return kinds, rules
}

// Describe returns the heading of a kind.
func (k Kind) Describe() string { return kindWords[k] }

// Structural returns the description of a built-in rule of the audit; "" for rules of the catalogue.
func Structural(rule string) string { return structural[rule] }
