package netbenches

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// Interval is a line of pkt-gen's periodic report.
type Interval struct {
	Line    int     // line number in the log, from 1
	PPS     float64 // packets per second, as printed
	Packets uint64  // packets counted in the interval
	Micros  uint64  // length of the interval in µs
}

// Log is a pkt-gen log of a receiver or a sender.
type Log struct {
	Command   string     // from the first line of the log
	Lines     int        // number of lines, including an unfinished last one
	Intervals []Interval // all periodic reports, including those at 0 pps
	Packets   uint64     // from the final summary, 0 if there is none
	Seconds   float64    // from the final summary
	Faults    []string   // errors that pkt-gen reported
	Ended     bool       // the log is not truncated
}

var mainThread = []byte("main_thread [")

// ParseLog parses a pkt-gen log in any of its forms: with or without -N (raw
// units) and -A (averages), with or without bits per second, with intervals of
// one second or more. Unknown lines are counted and skipped.
func ParseLog(data []byte) Log {
	var l Log
	l.Intervals = make([]Interval, 0, 96)
	for len(data) > 0 {
		line := data
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			line, data = data[:i], data[i+1:]
		} else {
			data = nil
		}
		l.Lines++
		if i := bytes.Index(line, mainThread); i >= 0 {
			if iv, ok := parseInterval(line[i+len(mainThread):]); ok {
				iv.Line = l.Lines
				l.Intervals = append(l.Intervals, iv)
				continue
			}
		}
		l.other(line)
	}
	return l
}

// other parses a line that is not a periodic report.
func (l *Log) other(line []byte) {
	if len(line) == 0 {
		return
	}
	switch {
	case l.Lines == 1 && bytes.HasPrefix(line, []byte("CMD")):
		_, command, _ := strings.Cut(string(line), ":")
		l.Command = strings.TrimSpace(command)
	case bytes.HasPrefix(line, []byte("Received ")), bytes.HasPrefix(line, []byte("Sent ")):
		l.summary(string(line))
	case bytes.HasPrefix(line, []byte("Terminated")):
		l.Ended = true
	case bytes.Contains(line, []byte("ouch, thread")):
		fault := string(line)
		if _, tail, ok := strings.Cut(fault, "] "); ok { // clock, function and source line number
			fault = tail
		}
		l.Faults = append(l.Faults, strings.TrimSpace(fault))
	}
}

// summary parses "Received N packets … in S seconds." and the sender's equivalent.
func (l *Log) summary(line string) {
	f := strings.Fields(line)
	if len(f) < 3 || f[2] != "packets" && f[2] != "packets," {
		return
	}
	n, err := strconv.ParseUint(f[1], 10, 64)
	if err != nil {
		return
	}
	l.Packets, l.Ended = n, true
	if _, tail, ok := strings.Cut(line, " in "); ok {
		if s, err := strconv.ParseFloat(strings.Fields(tail + " x")[0], 64); err == nil {
			l.Seconds = s
		}
	}
}

// parseInterval parses what follows "main_thread [": a source line number, "] ", the rate
// with its unit, and in parentheses packets, bits if present, and µs.
func parseInterval(b []byte) (iv Interval, ok bool) {
	_, after, _ := bytes.Cut(b, []byte("]"))
	f := strings.Fields(string(after))
	if len(f) < 2 || strings.TrimLeft(f[1], "KMG") != "pps" {
		return iv, false
	}
	if iv.PPS, ok = scaled(f[0], f[1]); !ok {
		return iv, false
	}
	_, counted, _ := strings.Cut(string(after), "(")
	if f = strings.Fields(counted); len(f) < 2 || strings.TrimLeft(f[1], "KMG") != "pkts" {
		return iv, true
	}
	packets, known := scaled(f[0], f[1])
	iv.Packets = uint64(packets)
	if i := slices.Index(f, "in"); known && i > 0 && i+1 < len(f) {
		iv.Micros, _ = strconv.ParseUint(f[i+1], 10, 64) // 0 in a truncated line
	}
	return iv, true
}

// scaled parses an unsigned decimal of at most 18 digits, and multiplies it by its
// unit's prefix, which pkt-gen uses without -N.
func scaled(number, unit string) (float64, bool) {
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || len(number) > 19 || strings.Trim(number, "0123456789.") != "" {
		return 0, false
	}
	return v * map[byte]float64{'K': 1e3, 'M': 1e6, 'G': 1e9, 'p': 1}[unit[0]], true
}

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
