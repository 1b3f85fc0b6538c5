package freebsd

import (
	"slices"
	"strconv"
	"strings"

	"linerate/internal/fact"
)

// AddListeners parses `netstat -Lan`: listening sockets with their ports.
func AddListeners(f *fact.Facts, text string) {
	for _, line := range fact.Lines(text) {
		w := strings.Fields(line)
		if len(w) < 3 || !strings.HasPrefix(w[0], "tcp") && !strings.HasPrefix(w[0], "sctp") {
			continue
		}
		dot := strings.LastIndexByte(w[2], '.')
		port, err := strconv.Atoi(w[2][dot+1:])
		if err != nil || dot < 0 || strings.Count(w[1], "/") != 2 || len(f.Listeners) >= 4096 {
			continue
		}
		l := fact.Listener{Protocol: w[0], Port: port, Local: isLoopback(w[2][:dot])}
		if !slices.Contains(f.Listeners, l) {
			f.Listeners = append(f.Listeners, l)
		}
	}
}

// isLoopback reports addresses that only this host can reach.
func isLoopback(address string) bool {
	return strings.HasPrefix(address, "127.") || address == "::1" || address == "localhost" || strings.HasSuffix(address, "%lo0")
}

// ParseCPUSet parses `cpuset -g -x IRQ`: "irq 265 mask: 0, 1, 2".
func ParseCPUSet(text string) ([]int, bool) {
	_, rest, ok := strings.Cut(firstLine(text), "mask:")
	if !ok {
		return nil, false
	}
	var cpus []int
	for _, w := range strings.Split(rest, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(w))
		if err != nil || len(cpus) >= 4096 {
			return nil, false
		}
		cpus = append(cpus, n)
	}
	return cpus, true
}
