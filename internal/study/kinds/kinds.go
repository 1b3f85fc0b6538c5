// Package kinds makes all kinds of parts and of settings known to studies: what
// reads a study or a record imports it, for that alone. A new kind is one more here.
package kinds

import (
	"linerate/internal/study"
	"linerate/internal/study/forward"
	"linerate/internal/study/search"
	"linerate/internal/study/serve"
	"linerate/internal/study/switchback"
	"linerate/internal/study/ways"
)

func init() {
	study.Register(forward.Kind{}, search.Kind{}, serve.Kind{}, switchback.Kind{})
	study.RegisterWays(ways.All()...)
}
