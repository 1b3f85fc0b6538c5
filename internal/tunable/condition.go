package tunable

import (
	"strings"

	"linerate/internal/lazy"
)

// Condition gives a condition of records in words.
type Condition struct {
	When string `yaml:"when" cbor:",omitzero"`
	// Says is the sentence; {this} stands for the value, {other} for the coupled tunable.
	Says string `yaml:"says" cbor:",omitzero"`
}

// names matches the variables of the value and the coupled one.
var names = lazy.Regexp(`\b(this|other)(_text)?\b`)

// Words describes a condition: "it is above 500 and pf filters" for `this > 500 && pf`. this and
// other are the words for the value and the coupled one, usually "it" and a tunable. A condition
// without a description stays an expression, with these words in it.
func (c *Catalogue) Words(code, this, other string) string {
	for _, k := range c.Conditions {
		if k.When == code {
			return strings.NewReplacer("{this}", this, "{other}", other).Replace(k.Says)
		}
	}
	return names().ReplaceAllStringFunc(code, func(s string) string {
		if strings.HasPrefix(s, "this") {
			return this
		}
		return other
	})
}
