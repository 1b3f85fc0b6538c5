package page

import (
	"fmt"

	"linerate/internal/audit"
	"linerate/internal/fleet"
	"linerate/internal/show"
)

// AsFindings is a fleet for a SARIF log: one result per rule, with its hosts counted,
// because one per host and finding are more than any reader takes.
func AsFindings(counts []fleet.RuleCount, hosts int) fleet.Host {
	all := fleet.Host{Name: "fleet"}
	for _, r := range fleet.Total(counts) {
		all.Findings = append(all.Findings, fleet.Finding{ID: r.Rule, Rule: r.Rule, Severity: r.Severity,
			Text: fmt.Sprintf("on %s of %s", show.Count(r.Hosts), show.Plural(hosts, "host"))})
	}
	return all
}

// NewFindings are the hosts of changes with the findings that came.
func NewFindings(changes []fleet.Change) []fleet.Host {
	at := map[string]int{}
	var hosts []fleet.Host
	for _, c := range changes {
		if c.Kind != fleet.Came && c.Kind != fleet.Drift {
			continue
		}
		i, ok := at[c.Host]
		if !ok {
			i = len(hosts)
			at[c.Host] = i
			hosts = append(hosts, fleet.Host{ID: c.Host, Name: c.Name})
		}
		hosts[i].Findings = append(hosts[i].Findings, fleet.Finding{ID: c.Finding, Rule: c.Rule, Tunable: c.Tunable, Severity: c.Severity, Text: c.Text, Expected: c.Expected, Found: c.Found})
	}
	return hosts
}

// SARIF are findings of hosts as an audit by a version of linerate would report them.
func SARIF(version string, hosts ...fleet.Host) audit.SARIF {
	var all []audit.SARIFHost
	for _, h := range hosts {
		r := &audit.Report{Version: audit.Version, OS: h.OS, Release: h.Release, Host: h.Hostname, Role: h.Role, RoleReasons: []string{}}
		for _, f := range h.Findings {
			said := audit.Finding{ID: f.ID, Severity: f.Severity, Name: f.Tunable, Message: f.Text, Sources: []string{}}
			if f.Rule == fleet.DriftRule {
				said.Kind, said.Why = audit.Drift, fleet.DriftWords
			}
			r.Findings = append(r.Findings, said)
		}
		all = append(all, audit.SARIFHost{Report: r, Name: h.Name})
	}
	return audit.ToSARIFs(version, all...)
}
