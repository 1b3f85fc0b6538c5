package hosts

import (
	"strings"

	"linerate/internal/fact"
	"linerate/internal/role"
	"linerate/internal/show"
)

// Inspected is the document of inspect --json: the facts, and what was made
// of them. docs/reference/facts.md describes it.
type Inspected struct {
	*fact.Facts
	role.Guess
	Drops []fact.Drop `json:"drops"`
}

// About is an error in words that follow the host's name.
func About(source string, err error) string {
	text := strings.TrimPrefix(err.Error(), source+": ")
	return show.Clean(strings.Replace(text, " on "+source+": ", ": ", 1))
}
