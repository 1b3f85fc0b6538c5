package study

import (
	"linerate/internal/yamlfile"
	"strings"
)

// FloodSYN opens TCP connections to the DUT's own service at the part's rate,
// from unused addresses, and never completes a handshake.
const FloodSYN = "syn"

func checkFlood(p Part, path string) *yamlfile.Problem {
	switch {
	case p.Flood == "":
		return nil
	case p.Flood != FloodSYN:
		return yamlfile.OneOf(path+".flood", p.Flood, FloodSYN)
	case !p.Usable:
		return yamlfile.Wrong(path+".flood", "a flood says nothing but whether the DUT still answers").Advise("add management: true")
	case p.Rate.IsShare() || strings.HasSuffix(string(p.Rate), "bps"):
		return yamlfile.Wrong(path+".rate", "a flood's rate is max, or segments per second").Advise("write 100kpps")
	}
	return nil
}
