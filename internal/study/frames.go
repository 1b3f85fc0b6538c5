package study

import "linerate/internal/load"

// vethMTU is what the testbed's wires have: the letter z of a genome.
const vethMTU = 1500

// FrameSizes are the workload's repeating sequence of frame sizes.
func (w Workload) FrameSizes() ([]int, error) {
	if w.IMIX == "" {
		return w.Sizes, nil
	}
	return load.ParseIMIX(w.IMIX, vethMTU)
}

// Smallest is the least frame that holds a stamp: 64 bytes for IPv4 (RFC
// 2544's smallest), 84 for IPv6, whose headers alone are 62.
func Smallest(family string) int {
	if family == "ipv6" {
		return 84
	}
	return minFrameSize
}
