package fleet

import (
	"fmt"
	"strings"
)

// Textfile is a fleet as metrics in Prometheus' text format, for node_exporter's
// textfile collector: without timestamps, which it refuses, and with the time of the
// last whole sweep, by which a file that is written no more shows.
func Textfile(st Status, rules []RuleCount) string {
	var m Gauges
	family := func(name, help string) { m.Family("linerate_fleet_"+name, help) }
	put := func(name string, value any, labels ...string) { m.Put("linerate_fleet_"+name, value, labels...) }
	group := func(g *Group) []string { return []string{"role", g.Role, "os", g.OS, "release", g.Release} }
	family("hosts", "Hosts that are known.")
	for i := range st.Groups {
		put("hosts", st.Groups[i].Hosts, group(&st.Groups[i])...)
	}
	family("unreachable_hosts", "Hosts that the last sweep that tried could not reach.")
	for i := range st.Groups {
		put("unreachable_hosts", st.Groups[i].Unreachable, group(&st.Groups[i])...)
	}
	family("drifted_hosts", "Hosts that are not as linerate apply left them.")
	for i := range st.Groups {
		put("drifted_hosts", st.Groups[i].Drifted, group(&st.Groups[i])...)
	}
	family("applied_hosts", "Hosts on which linerate applied something.")
	put("applied_hosts", st.Applied)
	family("unread_records", "Hosts that the last sweep could not compare with what was applied.")
	put("unread_records", st.Unread)
	family("findings", "Findings that stand, by severity.")
	for i := range st.Groups {
		g := &st.Groups[i]
		put("findings", g.Errors, append(group(g), "severity", "error")...)
		put("findings", g.Warnings, append(group(g), "severity", "warning")...)
		put("findings", g.Infos, append(group(g), "severity", "info")...)
	}
	family("rule_hosts", "Hosts on which a rule finds something.")
	for _, r := range rules {
		put("rule_hosts", r.Hosts, "rule", r.Rule, "severity", string(r.Severity), "role", r.Role, "os", r.OS, "release", r.Release)
	}
	last := lastEnded(st.Sweeps)
	if last == nil {
		return m.String()
	}
	for _, is := range []struct {
		name, help string
		value      any
	}{
		{"last_sweep_end_seconds", "When the last whole sweep ended, as seconds since 1970.", fmt.Sprint(last.End.Unix())},
		{"last_sweep_duration_seconds", "How long it took.", last.End.Sub(last.Start).Seconds()},
		{"last_sweep_reached_hosts", "Hosts that it reached.", last.Reached},
		{"last_sweep_unreachable_hosts", "Hosts that it could not reach.", last.Unreachable},
		{"last_sweep_changes", "Changes that it stored.", last.Changes},
		{"last_sweep_alerts", "Those of them that are for the worse.", last.Alerts},
	} {
		family(is.name, is.help)
		put(is.name, is.value)
	}
	return m.String()
}

// Gauges are metrics in Prometheus' text format, in the making.
type Gauges struct{ strings.Builder }

// Family begins a metric.
func (g *Gauges) Family(name, help string) {
	fmt.Fprintf(g, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name)
}

// Put adds a value with its labels: name, value, name, value …
func (g *Gauges) Put(name string, value any, labels ...string) {
	g.WriteString(name)
	for i := 0; i+1 < len(labels); i += 2 {
		sep := "{"
		if i > 0 {
			sep = ","
		}
		fmt.Fprintf(g, `%s%s="%s"`, sep, labels[i], escape.Replace(labels[i+1]))
	}
	if len(labels) > 0 {
		g.WriteString("}")
	}
	fmt.Fprintf(g, " %v\n", value)
}

// One adds a metric of one value.
func (g *Gauges) One(name, help string, value any) {
	g.Family(name, help)
	g.Put(name, value)
}

var escape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// lastEnded is the newest sweep that came to its end.
func lastEnded(newestFirst []Sweep) *Sweep {
	for i := range newestFirst {
		if !newestFirst[i].End.IsZero() {
			return &newestFirst[i]
		}
	}
	return nil
}
