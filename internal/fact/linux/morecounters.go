package linux

import (
	"strings"

	"linerate/internal/fact"
)

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
