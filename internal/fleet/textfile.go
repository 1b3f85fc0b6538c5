package fleet

import (
	"fmt"
	"strings"

	"linerate/internal/list"
)

// Textfile formats a fleet as metrics in Prometheus' text format, for
// node_exporter's textfile collector: without timestamps, which it refuses, but with
// the time of the last complete sweep, so that a stale file is noticeable.
func Textfile(st Status, rules []RuleCount) string {
	var m strings.Builder
	family := func(name, help string) {
		fmt.Fprintf(&m, "# HELP linerate_fleet_%[1]s %[2]s\n# TYPE linerate_fleet_%[1]s gauge\n", name, help)
	}
	put := func(name string, value any, labels ...string) {
		fmt.Fprintf(&m, "linerate_fleet_%s%s %v\n", name, labelled(labels), value)
	}
	group := func(g *Group) []string { return []string{"role", g.Role, "os", g.OS, "release", g.Release} }
	for _, is := range []struct {
		name, help string
		of         func(*Group) int
	}{
		{"hosts", "Hosts that are known.", func(g *Group) int { return g.Hosts }},
		{"unreachable_hosts", "Hosts that the last sweep that tried could not reach.", func(g *Group) int { return g.Unreachable }},
		{"drifted_hosts", "Hosts that are not as linerate apply left them.", func(g *Group) int { return g.Drifted }},
	} {
		family(is.name, is.help)
		for i := range st.Groups {
			put(is.name, is.of(&st.Groups[i]), group(&st.Groups[i])...)
		}
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
	last := st.Last()
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

// labelled formats labels, given as name, value, name, value …
func labelled(of []string) string {
	var all []string
	for i := 0; i+1 < len(of); i += 2 {
		all = append(all, fmt.Sprintf(`%s="%s"`, of[i], escape.Replace(of[i+1])))
	}
	if len(all) == 0 {
		return ""
	}
	return "{" + strings.Join(all, ",") + "}"
}

var escape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// Last returns the newest completed sweep, nil if there is none.
func (s Status) Last() *Sweep {
	if w, ok := list.Find(s.Sweeps, func(w Sweep) bool { return !w.End.IsZero() }); ok {
		return &w
	}
	return nil
}
