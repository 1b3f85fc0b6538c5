package forward

import (
	"strings"

	"linerate/internal/study"
)

func checkFlood(p study.Part, path string) *study.Problem {
	if p.Flood == "" {
		return nil
	}
	switch {
	case p.Flood != study.FloodSYN:
		return study.OneOf(path+".flood", p.Flood, study.FloodSYN)
	case !p.Management:
		return study.Wrong(path+".flood", "a flood says nothing but whether the DUT still answers").Advise("add management: true")
	case p.Rate.IsShare() || strings.HasSuffix(string(p.Rate), "bps"):
		return study.Wrong(path+".rate", "a flood's rate is max, or segments per second").Advise("write 100kpps")
	}
	return nil
}
