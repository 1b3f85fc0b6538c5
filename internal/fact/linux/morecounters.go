package linux

import (
	"strings"

	"linerate/internal/fact"
)

// neighbourNames are the columns kept of /proc/net/stat/arp_cache and
// ndisc_cache (net/core/neighbour.c). entries is the table's, the same in
// every row.
var neighbourNames = map[string]string{"table_fulls": "table_fulls", "unresolved_discards": "unresolved_discards", "res_failed": "failed"}

// AddNeighbours reads /proc/net/stat/arp_cache ("arp") or ndisc_cache
// ("ndisc"): hexadecimal, a row per CPU.
func AddNeighbours(f *fact.Facts, table, text string) {
	lines := splitLines(text)
	if len(lines) < 2 {
		return
	}
	names := strings.Fields(lines[0])
	for i, line := range lines[1:] {
		for j, v := range strings.Fields(line) {
			if j >= len(names) {
				break
			}
			if kept := neighbourNames[names[j]]; kept != "" {
				f.AddCounter("neigh."+table+"."+kept, hex(v), "/proc/net/stat/"+table+"_cache")
			}
			if i == 0 && names[j] == "entries" {
				f.AddCounter("neigh."+table+".entries", hex(v), "/proc/net/stat/"+table+"_cache")
			}
		}
	}
}

// AddQdiscs reads `tc -s qdisc show`: packets sent and dropped by each device
// and kind of queue discipline. Classful ones count their children's packets
// too: only those without are summed.
func AddQdiscs(f *fact.Facts, text string) {
	name := ""
	for _, line := range splitLines(text) {
		w := strings.Fields(line)
		switch {
		case len(w) >= 5 && w[0] == "qdisc" && w[3] == "dev":
			name = "qdisc." + w[4] + "." + w[1]
			if !validName(w[4]) || w[1] == "mq" || w[1] == "noqueue" || w[1] == "clsact" || w[1] == "ingress" {
				name = ""
			}
		case name != "" && len(w) >= 7 && w[0] == "Sent":
			f.AddCounter(name+".packets", number(w[3]), "tc -s qdisc")
			f.AddCounter(name+".drops", number(strings.TrimRight(w[6], ",")), "tc -s qdisc")
			name = ""
		}
	}
}
