package inspect

import (
	_ "embed" // services.txt
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/freebsd"
	"linerate/internal/list"
)

// servicesText lists daemons.
//
//go:embed services.txt
var servicesText string

// servicesOf are the daemons of a system.
func servicesOf(system string) [][]string {
	return list.Filter(list.Rows(servicesText), func(row []string) bool { return row[0] == system })
}

// freebsdServices lists the daemons that rc.conf or a configuration file mentions.
func (in *inspection) freebsdServices() {
	for _, row := range servicesOf(fact.FreeBSD) {
		enabled := in.f.RCYes(row[2])
		svc := fact.Service{Name: row[1], Enabled: &enabled}
		if len(row) > 4 {
			if text, err := in.Read(row[3]); err == nil {
				svc.Details = freebsd.WordLines(row[3], text, strings.Fields(row[4]))
			}
		}
		if enabled || len(svc.Details) > 0 {
			in.f.Services = append(in.f.Services, svc)
		}
	}
}
