package netbenches

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/lazy"
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

// summaryLine is "Received N packets … in S seconds." or the sender's equivalent.
var summaryLine = lazy.Regexp(`^(?:Received|Sent) (\d+) packets,?(?:.*? in ([\d.]+))?`)

// other parses a line that is not a periodic report.
func (l *Log) other(line []byte) {
	summary := summaryLine().FindSubmatch(line)
	switch {
	case l.Lines == 1 && bytes.HasPrefix(line, []byte("CMD")):
		_, command, _ := strings.Cut(string(line), ":")
		l.Command = strings.TrimSpace(command)
	case summary != nil:
		if n, err := strconv.ParseUint(string(summary[1]), 10, 64); err == nil {
			l.Packets, l.Ended, l.Seconds = n, true, number(string(summary[2]))
		}
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

// The lines of an equilibrium log that are read; older versions of the tool write them in different case.
var (
	frameLine    = lazy.Regexp(`(?i)ethernet frame size[= ]*(\d+)`)
	estimateLine = lazy.Regexp(`(?i)^estimated equilibrium([^(]*)(?:\([^:]*:[= ]*([\d.]*))?`)
	afterEquals  = lazy.Regexp(`=[= ]*([\d.]*)[^=]*$`)
)

// ParseEquilibrium parses such a log.
func ParseEquilibrium(data []byte) Equilibrium {
	var e Equilibrium
	for line := range strings.Lines(string(data)) {
		if m := frameLine().FindStringSubmatch(line); m != nil {
			e.Frame, _ = strconv.Atoi(m[1])
		}
		// Estimated Equilibrium Ethernet throughput= E Mb/s (maximum value seen: M Mb/s)
		if m := estimateLine().FindStringSubmatch(line); m != nil {
			e.Maximum = number(m[2])
			e.Estimate, e.Done = 0, strings.Contains(m[1], "=")
			if v := afterEquals().FindStringSubmatch(m[1]); v != nil {
				e.Estimate = number(v[1])
			}
		}
	}
	return e
}

// number parses a decimal, 0 if it is not one.
func number(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0
	}
	return v
}
