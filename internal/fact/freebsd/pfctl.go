package freebsd

import (
	"strings"

	"linerate/internal/fact"
	"linerate/internal/lazy"
)

var (
	pfCounter = lazy.Regexp(`^\s+([a-z][a-zA-Z -]*?)\s+(\d+)(?:\s+[\d.]+/s)?\s*$`)
	pfLimit   = lazy.Regexp(`^(\S+)\s+hard limit\s+(\d+)`)
	pfTimeout = lazy.Regexp(`^([a-z.]+)\s+(\d+)(?:s| states)\s*$`)
)

// AddPFStatus parses `pfctl -si` or -vsi: whether pf runs, its states and its counters
// (sbin/pfctl/pfctl_parser.c, print_status).
func AddPFStatus(f *fact.Facts, pf *fact.PF, text string) {
	section := ""
	for _, line := range fact.Lines(text) {
		switch {
		case strings.HasPrefix(line, "Status: "):
			on := strings.HasPrefix(line, "Status: Enabled")
			pf.Enabled = &on
		case line != "" && !isSpace(line[0]):
			section = pfSection(line)
		}
		m := pfCounter().FindStringSubmatch(line)
		if m == nil || section == "" {
			continue
		}
		name := "pf." + section + strings.NewReplacer(" ", "_", "-", "_").Replace(m[1])
		f.AddCounter(name, fact.Number(m[2]), "pfctl -si")
		if name == "pf.states.current_entries" {
			n := fact.Number(m[2])
			pf.States = &n
		}
	}
}

// pfSection returns the prefix for the counters of a section; interface statistics are not pf's own
// counters.
func pfSection(line string) string {
	switch {
	case strings.HasPrefix(line, "State Table"):
		return "states."
	case strings.HasPrefix(line, "Source Tracking Table"):
		return "src_nodes."
	case strings.HasPrefix(line, "Limit Counters"):
		return "limit."
	case strings.HasPrefix(line, "Counters"):
		return "counter."
	case strings.HasPrefix(line, "Syncookies"):
		return "syncookies."
	case strings.HasPrefix(line, "Fragments"):
		return "fragments."
	}
	return ""
}

// AddPFLimits parses `pfctl -sm`.
func AddPFLimits(pf *fact.PF, text string) {
	for _, line := range fact.Lines(text) {
		if m := pfLimit().FindStringSubmatch(line); m != nil && len(pf.Limits) < 64 {
			pf.Limits = append(pf.Limits, fact.Limit{Name: m[1], Value: fact.Number(m[2]), Text: line})
		}
	}
}

// AddPFTimeouts parses `pfctl -st`.
func AddPFTimeouts(pf *fact.PF, text string) {
	for _, line := range fact.Lines(text) {
		if m := pfTimeout().FindStringSubmatch(line); m != nil && len(pf.Timeouts) < 64 {
			pf.Timeouts = append(pf.Timeouts, fact.Limit{Name: m[1], Value: fact.Number(m[2]), Text: line})
		}
	}
}

// AddPFRules counts the running rules (`pfctl -sr`) and translations (-sn).
func AddPFRules(pf *fact.PF, text string) {
	for _, line := range fact.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "@") {
			countPFRule(pf, line)
		}
	}
}

// AddIPFWList parses `ipfw list` or `ipfw -a list`: the running rules.
func AddIPFWList(fw *fact.IPFW, text string) {
	r := &ipfwReader{fw: fw}
	on := false
	for _, line := range fact.Lines(text) {
		w := strings.Fields(line)
		if len(w) < 2 || !fact.IsNumber(w[0]) {
			continue
		}
		on = true
		last := w[0] == "65535"                 // the built-in rule
		for len(w) > 1 && fact.IsNumber(w[0]) { // number, packets, bytes
			w = w[1:]
		}
		if !last {
			r.rule(fact.Line{Text: line, Stage: fact.Conf, Effective: true}, w)
		}
	}
	if on {
		fw.Enabled = &on
	}
}

// AddIPFWNAT parses `ipfw nat show config`: "ipfw nat 1 config if em0 …".
func AddIPFWNAT(fw *fact.IPFW, text string) {
	for _, line := range fact.Lines(text) {
		w := strings.Fields(line)
		if len(w) > 2 && w[0] == "ipfw" && w[1] == "nat" && len(fw.NATLines) < 4096 {
			fw.NATLines = append(fw.NATLines, fact.Line{Text: line, Name: "nat", Value: strings.Join(w[2:], " "), Stage: fact.Conf, Effective: true})
		}
	}
}
