package appliance

import (
	"strings"

	"linerate/internal/fact"
)

// truenasStages maps types of tunables to stages.
var truenasStages = map[string]fact.Stage{"sysctl": fact.Sysctl, "loader": fact.Loader, "rc": fact.RCConf, "zfs": fact.Modprobe}

// readTrueNAS parses the tunables of TrueNAS' database, one per line: name, value, type and whether
// it is enabled, tab-separated, as sqlite3 prints the table system_tunable. A line's number is the
// tunable's position in the table.
func readTrueNAS(p *Product, files []File) Config {
	var c Config
	for _, f := range files {
		for i, raw := range strings.SplitN(f.Text, "\n", maxItems) {
			col := strings.Split(raw, "\t")
			if len(col) < 4 || col[3] == "0" {
				continue
			}
			kind := strings.ToLower(col[2])
			stage, ok := truenasStages[kind]
			if !ok {
				continue
			}
			name := col[0]
			if kind == "zfs" {
				name = "module.zfs." + name
			}
			c.Lines = append(c.Lines, fact.Line{File: f.Path, Number: i + 1, Text: col[0] + "=" + col[1] + " (" + kind + ")", Name: name, Value: col[1], Stage: stage, Effective: true, Place: p.Tunables + ": " + col[0]})
		}
	}
	return c
}
