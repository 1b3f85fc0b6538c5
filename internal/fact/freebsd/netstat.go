package freebsd

import (
	_ "embed" // counters.txt
	"strconv"
	"strings"
	"sync"

	"linerate/internal/fact"
	"linerate/internal/lazy"
	"linerate/internal/list"
)

// AddNetstatM parses `netstat -m`.
func AddNetstatM(f *fact.Facts, text string) {
	mbufLines := list.Pairs(countersText, "mbuf")
	for _, line := range fact.Lines(text) {
		numbers, tail, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			continue
		}
		names := strings.Fields(mbufLines[tail])
		for i, s := range strings.Split(numbers, "/") {
			if n, err := strconv.ParseUint(s, 10, 64); err == nil && i < len(names) {
				f.AddCounter(names[i], n, "netstat -m")
			}
		}
	}
}

// AddNetstatQ parses `netstat -Q`: threads, and for each protocol the queue's limit, its high-water
// mark, and the packets dispatched, queued and dropped.
func AddNetstatQ(f *fact.Facts, text string) {
	section := ""
	for _, line := range fact.Lines(text) {
		w := strings.Fields(line)
		switch {
		case len(w) == 1 && strings.HasSuffix(w[0], ":"):
			section = w[0]
		case section == "Configuration:" && strings.HasPrefix(line, "Thread count") && len(w) >= 4:
			f.AddCounter("netisr.threads", fact.Number(w[2]), "netstat -Q")
		case section == "Configuration:" && strings.HasPrefix(line, "Threads bound to CPUs") && len(w) >= 5:
			if w[4] == "enabled" {
				f.AddCounter("netisr.bound", 1, "netstat -Q")
			}
		case section == "Protocols:" && len(w) >= 5 && fact.IsNumber(w[1]) && fact.IsNumber(w[2]):
			f.AddCounter("netisr."+w[0]+".queue_limit", fact.Number(w[2]), "netstat -Q")
		case section == "Workstreams:" && len(w) == 10 && fact.IsNumber(w[0]) && fact.IsNumber(w[9]):
			netisrRow(f, w)
		}
	}
}

// netisrRow parses WSID CPU Name Len WMark Disp'd HDisp'd QDrops Queued Handled.
func netisrRow(f *fact.Facts, w []string) {
	base := "netisr." + w[2] + "."
	const source = "netstat -Q"
	f.MaxCounter(base+"high_water", fact.Number(w[4]), source)
	f.AddCounter(base+"dispatched", fact.Number(w[5])+fact.Number(w[6]), source)
	f.AddCounter(base+"queue_drops", fact.Number(w[7]), source)
	f.AddCounter(base+"queued", fact.Number(w[8]), source)
	f.AddCounter("netisr.cpu"+w[1]+".handled", fact.Number(w[9]), source)
}

// AddNetstatI parses `netstat -i`, with or without -b and -d; it counts one row, the link layer's,
// per interface.
func AddNetstatI(f *fact.Facts, text string) {
	var header []string
	counters := list.Pairs(countersText, "interface")
	for _, line := range fact.Lines(text) {
		w := strings.Fields(line)
		if len(w) > 4 && w[0] == "Name" {
			header = w
			continue
		}
		if len(w) < 5 || header == nil || !strings.HasPrefix(w[2], "<Link") {
			continue
		}
		name := strings.TrimSuffix(w[0], "*") // * means down
		// The address may be missing, so columns count from the right.
		for i, column := range header {
			counter := counters[column]
			at := len(w) - (len(header) - i)
			if counter == "" || at < 3 || !fact.IsNumber(w[at]) {
				continue
			}
			f.AddCounter("nic."+name+"."+counter, fact.Number(w[at]), "netstat -i")
		}
	}
}

// countersText holds counter names.
//
//go:embed counters.txt
var countersText string

// protocolLine identifies a line of `netstat -s`: its section, the line above ("" for none) and its
// end, both with nouns in the singular, and the counter's name.
type protocolLine struct{ section, parent, tail, name string }

var protocolLines = sync.OnceValue(func() []protocolLine {
	return list.Map(list.Table(countersText, "protocol"), func(row []string) protocolLine {
		return protocolLine{row[0], singular(strings.TrimPrefix(row[1], "-")), singular(row[2]), row[3]}
	})
})

var (
	countedLine = lazy.Regexp(`^(\s*)(\d+) (.*)$`)
	// remark matches the bracketed part of a line about its count.
	remark = lazy.Regexp(` \([^()]*\)`)
)

// AddNetstatS parses `netstat -s`.
func AddNetstatS(f *fact.Facts, text string) {
	section, parent := "", ""
	depth := 0
	for _, line := range fact.Lines(text) {
		if s, ok := strings.CutSuffix(line, ":"); ok && s != "" && !isSpace(s[0]) {
			section, parent = s, ""
			continue
		}
		m := countedLine().FindStringSubmatch(line)
		if m == nil {
			continue
		}
		tail := singular(m[3])
		if parent == "" || len(m[1]) <= depth {
			parent, depth = tail, len(m[1])
		}
		for _, p := range protocolLines() {
			if p.section == section && (p.parent == "" || p.parent == parent) && protocolTail(tail, p.tail) {
				f.AddCounter(p.name, fact.Number(m[2]), "netstat -s")
				break
			}
		}
	}
}

// protocolTail compares a line with a known one, both with nouns in the singular, ignoring
// bracketed numbers.
func protocolTail(tail, known string) bool {
	if tail == known {
		return true
	}
	bare := remark().ReplaceAllString(tail, "")
	return bare == known || bare == "data packet "+known
}

// singular converts netstat's plurals ("2 packets forwarded"): it prints "packet" for one.
var singular = strings.NewReplacer("packets", "packet", "datagrams", "datagram", "fragments", "fragment", "connections", "connection", "cookies", "cookie", "redirects", "redirect",
	"entries", "entry", "overflows", "overflow", "timeouts", "timeout", "requests", "request", "accepts", "accept", "failures", "failure").Replace
