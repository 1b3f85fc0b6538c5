package netbenches

import (
	"bytes"
	"strconv"
	"strings"
)

// Equilibrium is a log of the equilibrium tool, which searches for the
// throughput of a VPN gateway. Rates are in Mb/s of Ethernet frames.
type Equilibrium struct {
	File     *File
	Estimate float64
	Maximum  float64 // the highest rate seen during the search
	Done     bool    // the log contains an estimate
	Frame    int     // Ethernet frame size in bytes according to the log, 0 if unknown
}

// IsEquilibrium reports whether a log is by equilibrium rather than pkt-gen, from its start.
func IsEquilibrium(data []byte) bool {
	head := data[:min(len(data), 512)]
	first, _, _ := bytes.Cut(head, []byte("\n"))
	return bytes.Contains(head, []byte("equilibrium throughput method")) ||
		bytes.HasPrefix(head, []byte("CMD")) && bytes.Contains(first, []byte("equilibrium"))
}

// ParseEquilibrium parses such a log. Older versions of the tool write the
// same keys in different case.
func ParseEquilibrium(data []byte) Equilibrium {
	var e Equilibrium
	for line := range strings.Lines(string(data)) {
		low := strings.ToLower(line)
		switch {
		case strings.Contains(low, "ethernet frame size"):
			_, v, _ := strings.Cut(low, "ethernet frame size")
			e.Frame = int(leading(v))
		case strings.HasPrefix(low, "estimated equilibrium"):
			// Estimated Equilibrium Ethernet throughput= E Mb/s (maximum value seen: M Mb/s)
			head, tail, _ := strings.Cut(line, "(")
			e.Estimate, e.Done = megabits(head), strings.Contains(head, "=")
			_, v, _ := strings.Cut(tail, ":")
			e.Maximum = leading(v)
		}
	}
	return e
}

// megabits parses the number after the last "=".
func megabits(line string) float64 {
	i := strings.LastIndexByte(line, '=')
	if i < 0 {
		return 0
	}
	return leading(line[i+1:])
}

// leading parses the number at the start of a text, 0 if there is none.
func leading(s string) float64 {
	s = strings.TrimLeft(s, "= ")
	end := strings.IndexFunc(s, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if end < 0 {
		end = len(s)
	}
	v, err := strconv.ParseFloat(s[:end], 64)
	if err != nil {
		return 0
	}
	return v
}
