package audit

import (
	_ "embed"
	"strings"

	"linerate/internal/list"
)

//go:embed words.txt
var wordsText string

// kindWords say what each kind of finding means, structural what the rules of the audit
// itself do.
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

// Describe is the heading of a kind.
func (k Kind) Describe() string { return kindWords[k] }

// Structural is what a rule of the audit itself says; "" of one of the catalogue.
func Structural(rule string) string { return structural[rule] }
