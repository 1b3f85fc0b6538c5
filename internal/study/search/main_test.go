package search

import (
	"linerate/internal/study"
	"linerate/internal/study/forward"
	"linerate/internal/study/ways"
)

func init() {
	study.Register(forward.Kind{}, Kind{})
	study.RegisterWays(ways.All()...)
}
