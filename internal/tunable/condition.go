package tunable

import (
	"regexp"
	"strings"
)

// Condition is a condition of records in words.
type Condition struct {
	When string `yaml:"when"`
	// Says is the sentence: {this} stands for the value, {other} for the coupled tunable.
	Says string `yaml:"says"`
}

// names are the value and the coupled one's in a condition.
var names = regexp.MustCompile(`\b(this|other)(_text)?\b`)

// Words writes a condition for people: "it is above 500 and pf filters" for
// `this > 500 && pf`. this and other are what the value and the coupled one are called:
// "it" and a tunable, mostly. One that has no words stays as it is, with these names.
func (c *Catalogue) Words(code, this, other string) string {
	for _, k := range c.Conditions {
		if k.When == code {
			return strings.NewReplacer("{this}", this, "{other}", other).Replace(k.Says)
		}
	}
	return names.ReplaceAllStringFunc(code, func(s string) string {
		if strings.HasPrefix(s, "this") {
			return this
		}
		return other
	})
}
