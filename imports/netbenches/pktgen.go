package netbenches

import (
	"bytes"
	"strconv"
	"strings"
)

// Interval is one line of pkt-gen's periodic report.
type Interval struct {
	Line    int     // line of the log, from 1
	PPS     float64 // packets per second, as printed
	Packets uint64  // packets counted in the interval
	Micros  uint64  // length of the interval in µs
}

// Log is one pkt-gen log, of a receiver or of a sender.
type Log struct {
	Command   string     // the command line of the log's first line
	Lines     int        // lines in the file, counting an unfinished last one
	Intervals []Interval // every periodic report, those at 0 pps included
	Packets   uint64     // of the closing summary, 0 if there is none
	Seconds   float64    // of the closing summary
	Faults    []string   // errors that the tool itself reported
	Ended     bool       // it was not cut off
}

var (
	mainThread = []byte("main_thread [")
	pktsIn     = []byte(" pkts ")
)

// ParseLog reads a pkt-gen log in any of its forms: with or without the -N
// (raw units) and -A (averages) flags, with or without bits per second, one
// second or more per interval. Lines it does not know are counted and skipped.
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

// other reads a line that is not a periodic report.
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
		if _, tail, ok := strings.Cut(fault, "] "); ok { // clock, function and source line's number
			fault = tail
		}
		l.Faults = append(l.Faults, strings.TrimSpace(fault))
	}
}

// summary reads "Received N packets … in S seconds." and its sender's twin.
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

// parseInterval reads what follows "main_thread [": the number of a source
// line, "] ", the rate with its unit, and in parentheses packets and µs.
func parseInterval(b []byte) (iv Interval, ok bool) {
	end := bytes.IndexByte(b, ']')
	if end < 0 || end+2 > len(b) {
		return iv, false
	}
	pps, rest, ok := number(bytes.TrimLeft(b[end+1:], " \t"))
	if !ok {
		return iv, false
	}
	scale, rest := unit(bytes.TrimLeft(rest, " "))
	if !bytes.HasPrefix(rest, []byte("pps")) {
		return iv, false
	}
	iv.PPS = pps * scale
	open := bytes.IndexByte(rest, '(')
	if open < 0 {
		return iv, true
	}
	iv.Packets, iv.Micros = interval(rest[open+1:])
	return iv, true
}

// interval reads "N pkts [B bps ]in U usec)".
func interval(b []byte) (packets, micros uint64) {
	n, rest, ok := number(b)
	if !ok {
		return 0, 0
	}
	scale, rest := unit(bytes.TrimLeft(rest, " "))
	if !bytes.HasPrefix(rest, pktsIn[1:5]) {
		return 0, 0
	}
	i := bytes.Index(rest, []byte("in "))
	if i < 0 {
		return uint64(n * scale), 0
	}
	u, _, _ := number(rest[i+3:])
	return uint64(n * scale), uint64(u)
}

// unit reads the prefix that pkt-gen prints without -N.
func unit(b []byte) (scale float64, rest []byte) {
	if len(b) < 2 {
		return 1, b
	}
	switch b[0] {
	case 'K':
		return 1e3, b[1:]
	case 'M':
		return 1e6, b[1:]
	case 'G':
		return 1e9, b[1:]
	}
	return 1, b
}

// number reads an unsigned decimal without allocating; more than 18 digits
// are refused.
func number(b []byte) (v float64, rest []byte, ok bool) {
	var n, div uint64 = 0, 0
	i := 0
	for ; i < len(b) && i < 20; i++ {
		c := b[i]
		switch {
		case c >= '0' && c <= '9':
			if i >= 18 {
				return 0, b, false
			}
			n = n*10 + uint64(c-'0')
			div *= 10
		case c == '.' && div == 0 && i > 0:
			div = 1
		default:
			return finish(n, div, b, i)
		}
	}
	return finish(n, div, b, i)
}

func finish(n, div uint64, b []byte, i int) (float64, []byte, bool) {
	if i == 0 {
		return 0, b, false
	}
	if div > 1 {
		return float64(n) / float64(div), b[i:], true
	}
	return float64(n), b[i:], true
}
