package linux

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/list"
)

// AddCounters parses a file of counters below /proc/net.
func AddCounters(f *fact.Facts, path, text string) {
	switch path {
	case "/proc/net/softnet_stat":
		AddSoftnet(f, text)
	case "/proc/net/snmp", "/proc/net/netstat":
		AddSNMP(f, path, text)
	case "/proc/net/snmp6":
		AddSNMP6(f, text)
	case "/proc/net/stat/nf_conntrack":
		AddConntrack(f, text)
	}
}

// AddSoftnet parses /proc/net/softnet_stat: one row of hexadecimal columns per CPU
// (net/core/net-procfs.c): processed, dropped, time_squeeze; since 5.10 the third from last is the
// CPU.
func AddSoftnet(f *fact.Facts, text string) {
	for i, line := range fact.Lines(text) {
		w := strings.Fields(line)
		if len(w) < 3 {
			continue
		}
		cpu := uint64(i)
		if len(w) >= 13 {
			cpu = hex(w[12])
		}
		for at, name := range map[int]string{0: "processed", 1: "dropped", 2: "time_squeeze", 10: "flow_limit"} {
			if at < len(w) {
				f.AddCounter(fmt.Sprintf("softnet.cpu%d.%s", cpu, name), hex(w[at]), "/proc/net/softnet_stat")
			}
		}
	}
}

func hex(s string) uint64 {
	n, err := strconv.ParseUint(s, 16, 64)
	if err != nil {
		return 0
	}
	return n
}

// AddSNMP parses /proc/net/snmp or /proc/net/netstat: pairs of lines, names then numbers.
func AddSNMP(f *fact.Facts, source, text string) {
	lines, kept := fact.Lines(text), countersOf("snmp")
	for i := 0; i+1 < len(lines); i += 2 {
		group, head, ok := strings.Cut(lines[i], ":")
		same, row, ok2 := strings.Cut(lines[i+1], ":")
		if !ok || !ok2 || group != same {
			continue
		}
		names, values := strings.Fields(head), strings.Fields(row)
		for j := range min(len(names), len(values)) {
			if name := kept[group+"."+names[j]]; name != "" {
				f.AddCounter(name, fact.Number(values[j]), source)
			}
		}
	}
}

// AddSNMP6 parses /proc/net/snmp6: a name and a number per line.
func AddSNMP6(f *fact.Facts, text string) {
	kept := countersOf("snmp")
	for _, line := range fact.Lines(text) {
		if w := strings.Fields(line); len(w) == 2 && kept[w[0]] != "" {
			f.AddCounter(kept[w[0]], fact.Number(w[1]), "/proc/net/snmp6")
		}
	}
}

// AddConntrack parses /proc/net/stat/nf_conntrack.
func AddConntrack(f *fact.Facts, text string) {
	addPerCPU(f, countersOf("conntrack"), "", "/proc/net/stat/nf_conntrack", text)
}

// AddNeighbours parses /proc/net/stat/arp_cache ("arp") or ndisc_cache ("ndisc").
func AddNeighbours(f *fact.Facts, table, text string) {
	addPerCPU(f, countersOf("neighbours"), "neigh."+table+".", "/proc/net/stat/"+table+"_cache", text)
}

// addPerCPU parses a table of /proc/net/stat: names, then one row of hexadecimal numbers per CPU.
// The column entries is for the whole table, the same in every row.
func addPerCPU(f *fact.Facts, kept map[string]string, prefix, source, text string) {
	lines := fact.Lines(text)
	if len(lines) < 2 {
		return
	}
	names := strings.Fields(lines[0])
	for i, line := range lines[1:] {
		for j, v := range strings.Fields(line) {
			if j < len(names) && kept[names[j]] != "" && (i == 0 || names[j] != "entries") {
				f.AddCounter(prefix+kept[names[j]], hex(v), source)
			}
		}
	}
}

// LinkCounters maps the files of /sys/class/net/*/statistics that are read to counter names.
func LinkCounters() map[string]string { return countersOf("link") }

// countersText holds counter names.
//
//go:embed counters.txt
var countersText string

// countersOf maps the kernel's counter names of a table to ours.
func countersOf(table string) map[string]string { return list.Pairs(countersText, table) }

// AddQdiscs parses `tc -s qdisc show`: packets sent and dropped, by device and kind of queueing
// discipline. Classful ones include their children's packets, so only classless ones are summed.
func AddQdiscs(f *fact.Facts, text string) {
	name := ""
	for _, line := range fact.Lines(text) {
		w := strings.Fields(line)
		switch {
		case len(w) >= 5 && w[0] == "qdisc" && w[3] == "dev":
			name = "qdisc." + w[4] + "." + w[1]
			if !validName(w[4]) || w[1] == "mq" || w[1] == "noqueue" || w[1] == "clsact" || w[1] == "ingress" {
				name = ""
			}
		case name != "" && len(w) >= 7 && w[0] == "Sent":
			f.AddCounter(name+".packets", fact.Number(w[3]), "tc -s qdisc")
			f.AddCounter(name+".drops", fact.Number(strings.TrimRight(w[6], ",")), "tc -s qdisc")
			name = ""
		}
	}
}
