package forward

import (
	"linerate/internal/study"
	"linerate/internal/study/ways"
)

func init() {
	study.Register(Kind{})
	study.RegisterWays(ways.All()...)
}
