// Package sqltext writes SQL as a database's dialect has it.
package sqltext

import (
	"strconv"
	"strings"
)

// Numbered writes a statement's placeholders ? as $1, $2 …, which PostgreSQL wants.
// Every ? counts: statements keep theirs out of quotes and comments.
func Numbered(query string) string {
	var b strings.Builder
	for i, part := range strings.Split(query, "?") {
		if i > 0 {
			b.WriteString("$" + strconv.Itoa(i))
		}
		b.WriteString(part)
	}
	return b.String()
}
