package freebsd

import (
	"slices"
	"strconv"
	"strings"

	"linerate/internal/fact"
)

// listenServices names the daemons behind well-known ports, as far as a role
// can be guessed from them.
var listenServices = map[int]string{22: "sshd", 25: "smtp", 53: "dns", 80: "http", 110: "pop3", 111: "rpcbind", 143: "imap",
	179: "bgp", 443: "https", 445: "smb", 465: "smtp", 587: "smtp", 853: "dns", 993: "imap", 995: "pop3", 1935: "rtmp", 2049: "nfs",
	3128: "proxy", 3260: "iscsi", 3306: "mysql", 5201: "iperf3", 5432: "postgresql", 6379: "redis", 8080: "http", 8443: "https"}

// AddListeners reads `netstat -Lan`: listening sockets, their ports and how
// long their queues may be (unaccepted, incomplete, maximum).
func AddListeners(f *fact.Facts, text string) {
	for _, line := range splitLines(text) {
		w := strings.Fields(line)
		if len(w) < 3 || !strings.HasPrefix(w[0], "tcp") && !strings.HasPrefix(w[0], "sctp") {
			continue
		}
		queues, dot := strings.Split(w[1], "/"), strings.LastIndexByte(w[2], '.')
		port, err := strconv.Atoi(w[2][dot+1:])
		if err != nil || dot < 0 || len(queues) != 3 || len(f.Listeners) >= 4096 {
			continue
		}
		address := w[2][:dot]
		l := fact.Listener{Protocol: w[0], Port: port, Service: listenServices[port], Local: isLoopback(address),
			Waiting: atoi(queues[0]), Backlog: atoi(queues[2])}
		if !slices.Contains(f.Listeners, l) {
			f.Listeners = append(f.Listeners, l)
		}
	}
}

// isLoopback tells addresses that only this host reaches.
func isLoopback(address string) bool {
	return strings.HasPrefix(address, "127.") || address == "::1" || address == "localhost" || strings.HasSuffix(address, "%lo0")
}

// ParseCPUSet reads `cpuset -g -x IRQ`: "irq 265 mask: 0, 1, 2".
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
