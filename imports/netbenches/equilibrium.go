package netbenches

import (
	"bytes"
	"strconv"
	"strings"
)

// Step is one iteration of the equilibrium search: the load it offered and
// the rate at which the gateway forwarded, in Mb/s of Ethernet frames.
type Step struct {
	Offered   float64
	Forwarded float64
}

// Equilibrium is one log of the equilibrium tool, which seeks the load that a
// VPN gateway forwards as it is offered.
type Equilibrium struct {
	Command  string
	Host     string
	Steps    []Step
	Estimate float64 // Mb/s
	Maximum  float64 // Mb/s, the highest rate seen on the way
	Done     bool    // the log reached its estimate
	Frame    int     // Ethernet frame size in bytes as the log says it, 0 if not
}

// IsEquilibrium tells an equilibrium log from a pkt-gen log by its first lines.
func IsEquilibrium(data []byte) bool {
	head := data[:min(len(data), 512)]
	return bytes.Contains(head, []byte("equilibrium throughput method")) ||
		bytes.HasPrefix(head, []byte("CMD")) && bytes.Contains(firstLine(head), []byte("equilibrium"))
}

func firstLine(b []byte) []byte {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return b[:i]
	}
	return b
}

// ParseEquilibrium reads such a log; older versions of the tool write the
// same keys in other cases.
func ParseEquilibrium(data []byte) Equilibrium {
	var e Equilibrium
	for i, line := range strings.Split(string(data), "\n") {
		low := strings.ToLower(line)
		switch {
		case i == 0 && strings.HasPrefix(line, "CMD"):
			e.Host, e.Command = commandLine(line)
		case strings.HasPrefix(low, "iteration "):
			e.Steps = append(e.Steps, Step{})
		case strings.Contains(low, "offering load"):
			e.last(func(s *Step) { s.Offered = megabits(line) })
		case strings.Contains(low, "measured forwarding rate"):
			e.last(func(s *Step) { s.Forwarded = megabits(line) })
		case strings.Contains(low, "ethernet frame size"):
			_, v, _ := strings.Cut(low, "ethernet frame size")
			e.Frame = int(leading(strings.TrimLeft(v, "= ")))
		case strings.HasPrefix(low, "estimated equilibrium"):
			e.estimate(line)
		}
	}
	return e
}

func (e *Equilibrium) last(set func(*Step)) {
	if n := len(e.Steps); n > 0 {
		set(&e.Steps[n-1])
	}
}

// estimate reads "Estimated Equilibrium Ethernet throughput= E Mb/s (maximum
// value seen: M Mb/s)".
func (e *Equilibrium) estimate(line string) {
	head, tail, _ := strings.Cut(line, "(")
	e.Estimate = megabits(head)
	e.Done = strings.Contains(head, "=")
	if _, v, ok := strings.Cut(tail, ":"); ok {
		e.Maximum = leading(strings.TrimSpace(v))
	}
}

// megabits reads the number after the last "=".
func megabits(line string) float64 {
	i := strings.LastIndexByte(line, '=')
	if i < 0 {
		return 0
	}
	return leading(strings.TrimSpace(line[i+1:]))
}

// leading reads the number a text begins with, 0 if none.
func leading(s string) float64 {
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
