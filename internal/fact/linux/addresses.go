package linux

import (
	"strconv"
	"strings"

	"linerate/internal/fact"
)

// AddAddresses counts the addresses of interfaces: for IPv6 the global ones (scope 00) in
// /proc/net/if_inet6, for IPv4, which has no such file, the networks without a gateway in
// /proc/net/route.
func AddAddresses(f *fact.Facts, inet6, route string) {
	index := map[string]int{}
	for i, n := range f.NICs {
		index[n.Name] = i
	}
	for _, line := range fact.Lines(inet6) {
		w := strings.Fields(line)
		if len(w) != 6 || w[3] != "00" {
			continue
		}
		if i, ok := index[w[5]]; ok {
			f.NICs[i].IPv6++
		}
	}
	for _, line := range fact.Lines(route) {
		w := strings.Fields(line)
		if len(w) < 8 || w[2] != "00000000" || w[1] == "00000000" {
			continue
		}
		flags, err := strconv.ParseUint(w[3], 16, 16)
		const up, reject = 1, 0x200
		if i, ok := index[w[0]]; ok && err == nil && flags&up != 0 && flags&reject == 0 {
			f.NICs[i].IPv4++
		}
	}
}
