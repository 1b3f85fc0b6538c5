package netbenches

import (
	"bytes"
	"math/big"
	"net/netip"
	"strconv"
	"strings"
)

// Lab is a topology file (bench-lab-*.config): who sends, who receives.
type Lab struct {
	File   *File
	Values map[string]string // plain assignments; nothing is expanded
	Nodes  int
}

// ParseLab reads the plain NAME="value" and : ${NAME:="value"} lines of a
// topology file, which is a shell script and is never run. Values that hold
// expansions are left as text.
func ParseLab(data []byte) *Lab {
	l := &Lab{Values: map[string]string{}}
	for line := range bytes.Lines(data) {
		s := strings.TrimSpace(string(line))
		if d, ok := strings.CutPrefix(s, ": ${"); ok {
			name, value, ok := strings.Cut(strings.TrimSuffix(d, "}"), ":=")
			if ok {
				l.set(name, strings.Trim(value, `"'`))
			}
			continue
		}
		if name, value, ok := strings.Cut(s, "="); ok {
			l.set(name, unquote(value))
		}
	}
	sender, receiver := l.Values["SENDER_ADMIN"], l.Values["RECEIVER_ADMIN"]
	l.Nodes = 3
	if sender == receiver && sender != "" {
		l.Nodes = 2
	}
	return l
}

// maxLabValues bounds what is kept of a topology file: real ones set some forty.
const maxLabValues = 200

func (l *Lab) set(name, value string) {
	if isName(name) && len(l.Values) < maxLabValues {
		l.Values[name] = value
	}
}

// Workload is what a sender offers.
type Workload struct {
	Name      string  `json:"name"`
	Family    int     `json:"family"`               // 4 or 6
	Frame     int     `json:"frame_size,omitempty"` // Ethernet frame in bytes with FCS, as RFC 2544 counts
	Flows     int64   `json:"flows,omitempty"`
	RatePPS   float64 `json:"rate_pps,omitempty"` // offered, 0: as fast as it can
	Senders   int     `json:"senders,omitempty"`
	Protocol  string  `json:"protocol,omitempty"`
	Method    string  `json:"method"` // "maximum rate" or "equilibrium"
	Generator string  `json:"generator,omitempty"`
}

// ParseWorkload reads a file of pktgen.configs: plain assignments.
func ParseWorkload(data []byte) *Workload {
	l := ParseLab(data)
	w := &Workload{Family: 4, Method: "maximum rate", Protocol: "udp"}
	if l.Values["AF"] == "6" {
		w.Family = 6
	}
	if n, err := strconv.Atoi(l.Values["PKT_SIZE"]); err == nil {
		w.Frame = onWire(n)
	}
	clean := func(s string) string { return strings.NewReplacer(`\"`, "", `"`, "").Replace(s) }
	w.Flows = rangeSize(clean(l.Values["SENDER_LAB_NET"])) * rangeSize(clean(l.Values["RECEIVER_LAB_NET"]))
	return w
}

// WorkloadOf reads a workload off the command line of a sender. pkt-gen's -l
// does not count the FCS.
func WorkloadOf(command string) Workload {
	w := Workload{Family: 4, Method: "maximum rate", Protocol: "udp", Senders: 1}
	f := strings.Fields(strings.ReplaceAll(command, `"`, ""))
	for i, a := range f {
		next := ""
		if i+1 < len(f) {
			next = f[i+1]
		}
		switch a {
		case "pkt-gen", "equilibrium", "equilibrium-noref":
			w.Generator = a
		case "-6":
			w.Family = 6
		case "-l":
			if n, err := strconv.Atoi(next); err == nil && w.Generator == "pkt-gen" {
				w.Frame = onWire(n)
			}
		case "-R":
			w.RatePPS, _ = strconv.ParseFloat(next, 64)
		case "-s":
			w.Flows = max(w.Flows, 1) * rangeSize(next)
		case "-d":
			if strings.ContainsAny(next, "-[") { // equilibrium's -d is an address of layer 2
				w.Flows = max(w.Flows, 1) * rangeSize(next)
			}
		}
	}
	if strings.HasPrefix(w.Generator, "equilibrium") {
		w.Method = "equilibrium"
	}
	return w
}

// onWire is the frame of a pkt-gen length: with FCS, and padded to Ethernet's
// minimum of 64 bytes where the author left that to the card.
func onWire(length int) int { return max(64, length+4) }

// rangeSize counts the address and port pairs of A[:port]-B[:port].
func rangeSize(s string) int64 {
	from, to, ok := strings.Cut(s, "-")
	a, pa := addressPort(from)
	if !ok || !a.IsValid() {
		return 1
	}
	b, pb := addressPort(to)
	if !b.IsValid() || a.Is4() != b.Is4() || b.Less(a) {
		return 1
	}
	n := new(big.Int).Sub(new(big.Int).SetBytes(b.AsSlice()), new(big.Int).SetBytes(a.AsSlice()))
	if !n.IsInt64() || n.Int64() > 1<<32 {
		return 1
	}
	ports := int64(1)
	if pa > 0 && pb >= pa {
		ports = int64(pb-pa) + 1
	}
	return (n.Int64() + 1) * ports
}

func addressPort(s string) (netip.Addr, int) {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "[") {
		host, tail, _ := strings.Cut(s[1:], "]")
		port, _ := strconv.Atoi(strings.TrimPrefix(tail, ":"))
		a, _ := netip.ParseAddr(host)
		return a, port
	}
	host, p, _ := strings.Cut(s, ":")
	port, _ := strconv.Atoi(p)
	a, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Addr{}, 0
	}
	return a, port
}
