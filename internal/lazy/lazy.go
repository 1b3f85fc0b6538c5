// Package lazy defers what most runs of a command do not need: hundreds of expressions, compiled at each
// start, took a third of its time.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp returns a function that compiles an expression when it is first called.
func Regexp(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
