package forward

import (
	"linerate/internal/study"
)

func init() { study.Register(Kind{}) }
