// Package page prints a fleet's status, a host, a rule, or a wave on a terminal.
package page

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"linerate/internal/fleet"
	"linerate/internal/list"
	"linerate/internal/show"
)

// MostChanges and MostHosts limit what is printed; the JSON has everything.
const (
	MostChanges = 200
	MostHosts   = 20
)

// few prints a line for each of n things, up to a limit, and the number of the rest.
func few(p *show.Page, n, most int, thing string, line func(i int)) {
	for i := range min(n, most) {
		line(i)
	}
	if n > most {
		p.Line("… and " + show.Plural(n-most, thing) + " more, in the JSON")
	}
}

// Some lists a few of many names.
func Some(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %s more", show.Count(len(names)-most))
}

// Changes lists changes, the newest first.
func Changes(p *show.Page, changes []fleet.Change) {
	if len(changes) == 0 {
		return
	}
	table := show.Table{Header: []string{"TIME", "HOST", "WHAT", "SEVERITY", "CAUSE", ""}}
	for _, c := range changes[:min(len(changes), MostChanges)] {
		text := c.Text
		if c.Rule != "" {
			text = c.Rule + ": " + text
		}
		table.Add(c.Time.Local().Format(time.DateTime), show.Clean(c.Name), string(c.Kind), cmp.Or(string(c.Severity), "–"), string(c.Cause), show.Clean(text))
	}
	p.Line("")
	p.Table(table)
	few(p, len(changes)-len(table.Rows), 0, "change", nil)
}

// Host shows one host, its state in its last wave, if any, and its changes.
func Host(p *show.Page, h *fleet.Host, last *fleet.WaveEvent, changes []fleet.Change) {
	p.Line(p.Bold(show.Clean(h.Name)))
	line := func(name, value string) {
		if value != "" {
			p.Line(fmt.Sprintf("  %-14s %s", name, show.Clean(value)))
		}
	}
	at := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.Local().Format(time.DateTime)
	}
	line("host name", h.Hostname)
	line("also", strings.Join(h.Aliases, ", "))
	line("known by", h.ID)
	line("system", strings.TrimSpace(h.OS+" "+h.Release))
	line("role", h.Role)
	line("first seen", at(h.FirstSeen))
	line("last audited", cmp.Or(at(h.LastSuccess), "never"))
	line("applied", h.Applied())
	if last != nil {
		line("last wave", fmt.Sprintf("%s: %s %s", last.Wave, last.State, at(last.Time)))
	}
	if !h.UnreachableSince.IsZero() {
		line("unreachable", "since "+at(h.UnreachableSince)+": "+h.Reason)
	}
	p.Line("")
	if len(h.Findings) == 0 && h.Reached() {
		p.Line("No findings.")
	}
	for _, f := range h.Findings {
		since := ""
		if f.Rule == fleet.DriftRule {
			since = ", since " + at(f.Since)
		}
		p.Paragraph(fmt.Sprintf("%-8s", strings.ToUpper(string(f.Severity))), "        ", show.Clean(f.Rule+": "+f.Text+since))
	}
	Changes(p, changes)
}

// Rule shows the hosts with findings of a rule, by role and release, out of how many.
func Rule(p *show.Page, rule string, counts []fleet.RuleCount, hosts []fleet.Host, of int) {
	on := 0
	for _, c := range counts {
		on += c.Hosts
	}
	p.Line(fmt.Sprintf("%s on %s of %s hosts:", show.Clean(rule), show.Count(on), show.Count(of)))
	table := show.Table{Header: []string{"ROLE", "SYSTEM", "SEVERITY", "HOSTS"}, Right: []bool{false, false, false, true}}
	for _, c := range counts {
		table.Add(cmp.Or(show.Clean(c.Role), "–"), show.Clean(c.OS+" "+c.Release), string(c.Severity), show.Count(c.Hosts))
	}
	p.Table(table)
	p.Line("")
	names := list.Map(hosts[:min(len(hosts), MostChanges)], func(h fleet.Host) string { return show.Clean(h.Name) })
	if more := len(hosts) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %s more, in the JSON", show.Count(more)))
	}
	p.Paragraph("", "", strings.Join(names, ", "))
}

// Status shows a fleet's status, and the hosts that are unreachable or drifted.
func Status(p *show.Page, st *fleet.Status, counts []fleet.RuleCount, unreachable, drifted []fleet.Host) {
	p.Paragraph("", "", fmt.Sprintf("%s, %s unreachable (%s never reached). Findings: %s, %s, %s for information.", show.Plural(st.Hosts, "host"), show.Count(st.Unreachable), show.Count(st.Never),
		show.Plural(st.Errors, "error"), show.Plural(st.Warnings, "warning"), show.Count(st.Infos)))
	if line := appliedLine(st); line != "" {
		p.Paragraph("", "", line)
	}
	table := show.Table{Header: []string{"ROLE", "SYSTEM", "HOSTS", "UNREACHABLE", "DRIFTED", "ERRORS", "WARNINGS", "INFO"}, Right: show.NumbersAfter(2)}
	for _, g := range st.Groups {
		table.Add(cmp.Or(show.Clean(g.Role), "–"), cmp.Or(show.Clean(strings.TrimSpace(g.OS+" "+g.Release)), "–"), show.Count(g.Hosts), show.Count(g.Unreachable), show.Count(g.Drifted), show.Count(g.Errors), show.Count(g.Warnings), show.Count(g.Infos))
	}
	p.Line("")
	p.Table(table)
	rules := fleet.Total(counts)
	if len(rules) > 0 {
		p.Line("")
	}
	few(p, len(rules), MostHosts, "rule", func(i int) {
		r := rules[i]
		p.Line(fmt.Sprintf("%s on %s of %s hosts (%s)", show.Clean(r.Rule), show.Count(r.Hosts), show.Count(st.Hosts), r.Severity))
	})
	listed(p, unreachable, func(h *fleet.Host) string {
		return "unreachable since " + h.UnreachableSince.Local().Format(time.DateTime) + ": " + show.Clean(h.Reason)
	})
	listed(p, drifted, func(h *fleet.Host) string {
		return fmt.Sprintf("drifted from what linerate applied (%s) in %s", h.Record, show.Plural(h.Drifts, "place"))
	})
	sweeps := show.Table{Header: []string{"SWEEP", "BEGAN", "TOOK", "REACHED", "UNREACHABLE", "CHANGES", "WORSE"}, Right: show.NumbersAfter(2)}
	for _, w := range st.Sweeps {
		took := "not ended"
		if !w.End.IsZero() {
			took = show.Clock(w.End.Sub(w.Start))
		}
		sweeps.Add(w.ID, w.Start.Local().Format(time.DateTime), took, show.Count(w.Reached), show.Count(w.Unreachable), show.Count(w.Changes), show.Count(w.Alerts))
	}
	p.Line("")
	p.Table(sweeps)
}

// appliedLine describes the hosts on which linerate applied something; "" if there are none.
func appliedLine(st *fleet.Status) string {
	var line string
	if st.Applied > 0 {
		line = fmt.Sprintf("linerate applied something on %s, %s drifted from it.", show.Plural(st.Applied, "host"), show.Count(st.Drifted))
	}
	if st.Unread > 0 {
		line += fmt.Sprintf(" On %s the last sweep could not tell (fleet status NAME says why; become=sudo in the list reads root's record).", show.Plural(st.Unread, "host"))
	}
	return strings.TrimSpace(line)
}

func listed(p *show.Page, hosts []fleet.Host, say func(*fleet.Host) string) {
	if len(hosts) > 0 {
		p.Line("")
	}
	few(p, len(hosts), MostHosts, "host", func(i int) { p.Paragraph("", "  ", show.Clean(hosts[i].Name)+" "+say(&hosts[i])) })
}

// Sweep shows the result of a sweep, and the changes for the worse.
func Sweep(p *show.Page, w fleet.Sweep, changes []fleet.Change) {
	p.Paragraph("", "", fmt.Sprintf("%s in %s: %s reached, %s unreachable. %s, %s for the worse.", show.Plural(w.Hosts, "host"), show.Clock(w.End.Sub(w.Start)), show.Count(w.Reached), show.Count(w.Unreachable),
		show.Plural(w.Changes, "change"), show.Count(w.Alerts)))
	Changes(p, list.Filter(changes, func(c fleet.Change) bool { return c.Alerts() }))
}
