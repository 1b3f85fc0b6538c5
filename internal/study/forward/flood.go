package forward

import (
	"strings"

	"linerate/internal/study"
)

// Part are the keys of parts that offer packets.
type Part struct {
	// Usable asks the DUT during the load whether it is still usable.
	Usable bool `yaml:"management,omitempty"`
	// Flood, where given, is what is offered instead of the workload: FloodSYN.
	Flood string `yaml:"flood,omitempty"`
}

// FloodSYN opens TCP connections to the DUT's own service at the part's rate,
// from addresses that nobody has, and never goes on with one.
const FloodSYN = "syn"

// Of are a part's own keys; never nil.
func Of(p study.Part) *Part { return study.OwnOf[Part](p.Own) }

func checkFlood(p study.Part, path string) *study.Problem {
	switch own := Of(p); {
	case own.Flood == "":
		return nil
	case own.Flood != FloodSYN:
		return study.OneOf(path+".flood", own.Flood, FloodSYN)
	case !own.Usable:
		return study.Wrong(path+".flood", "a flood says nothing but whether the DUT still answers").Advise("add management: true")
	case p.Rate.IsShare() || strings.HasSuffix(string(p.Rate), "bps"):
		return study.Wrong(path+".rate", "a flood's rate is max, or segments per second").Advise("write 100kpps")
	}
	return nil
}
