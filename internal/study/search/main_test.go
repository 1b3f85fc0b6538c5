package search

import (
	"linerate/internal/study"
	"linerate/internal/study/forward"
)

func init() { study.Register(forward.Kind{}, Kind{}) }
