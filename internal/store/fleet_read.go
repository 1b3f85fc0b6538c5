package store

import (
	"context"
	"fmt"
	"strings"

	"linerate/internal/fleet"
	"linerate/internal/ledger"
)

// Sweeps returns the latest sweeps, newest first.
func (s *Ledger) Sweeps(ctx context.Context, limit int) ([]fleet.Sweep, error) {
	return collect(ctx, s.db, "SELECT "+sweepColumns+" FROM fleet_sweeps ORDER BY n DESC"+limited(limit), nil, scanSweep)
}

func limited(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" LIMIT %d", n)
}

// Status returns the last known state of the fleet, with the given number of latest sweeps.
func (s *Ledger) Status(ctx context.Context, sweeps int) (fleet.Status, error) {
	st := fleet.Status{Groups: []fleet.Group{}, Sweeps: []fleet.Sweep{}}
	err := s.db.Query(ctx, `SELECT role, os, release, COUNT(*), SUM(CASE WHEN unreachable_since > 0 THEN 1 ELSE 0 END), SUM(CASE WHEN last_success = 0 THEN 1 ELSE 0 END),
		SUM(errors), SUM(warnings), SUM(infos), SUM(CASE WHEN drifts > 0 THEN 1 ELSE 0 END), SUM(CASE WHEN record IN ('', 'none') THEN 0 ELSE 1 END),
		SUM(CASE WHEN unread <> '' THEN 1 ELSE 0 END) FROM fleet_hosts GROUP BY role, os, release`, nil, func(r Row) error {
		var g fleet.Group
		var never, applied, unread int
		if err := r.Scan(&g.Role, &g.OS, &g.Release, &g.Hosts, &g.Unreachable, &never, &g.Errors, &g.Warnings, &g.Infos, &g.Drifted, &applied, &unread); err != nil {
			return err
		}
		st.Groups = append(st.Groups, g)
		st.Hosts += g.Hosts
		st.Unreachable += g.Unreachable
		st.Never += never
		st.Drifted += g.Drifted
		st.Applied += applied
		st.Unread += unread
		st.Errors += g.Errors
		st.Warnings += g.Warnings
		st.Infos += g.Infos
		return nil
	})
	if err != nil {
		return st, err
	}
	fleet.SortGroups(st.Groups)
	if sweeps > 0 {
		st.Sweeps, err = s.Sweeps(ctx, sweeps)
	}
	return st, err
}

// Hosts returns the hosts that match a filter.
func (s *Ledger) Hosts(ctx context.Context, f fleet.HostFilter) ([]fleet.Host, error) {
	var w where
	for _, c := range []struct{ column, value string }{{"h.role", f.Role}, {"h.os", f.OS}, {"h.release", f.Release}} {
		if c.value != "" {
			w.add(c.column+" = ?", c.value)
		}
	}
	if f.Role == fleet.NoRole {
		w.args[0] = ""
	}
	if f.Unreachable {
		w.add("h.unreachable_since > 0")
	}
	w.contains(f.Text, "h.name", "h.hostname")
	if f.After != "" {
		w.add("h.name"+s.d.Order+" > ?", f.After)
	}
	var of where
	for _, c := range []struct{ column, value string }{{"f.rule", f.Rule}, {"f.tunable", f.Tunable}} {
		if c.value != "" {
			of.add(c.column+" = ?", c.value)
		}
	}
	if len(of.args) > 0 {
		w.add("h.n IN (SELECT a.host FROM fleet_findings f JOIN fleet_host_findings a ON a.finding = f.n"+of.sql()+")", of.args...)
	}
	return collect(ctx, s.db, "SELECT "+hostColumns+" FROM fleet_hosts h"+w.sql()+" ORDER BY h.name"+s.d.Order+limited(f.Limit), args(w.args...), func(r Row) (fleet.Host, error) { return scanHost(r) })
}

// Host returns a host by name, with its findings.
func (s *Ledger) Host(ctx context.Context, name string) (fleet.Host, error) {
	tries := []string{"WHERE h.n = (SELECT host FROM fleet_names WHERE name = ?)", "WHERE h.hostname = ?", "WHERE h.id = ?"}
	values := [][]any{{name}, {name}, {name}}
	if len(name) >= minPrefix && strings.Trim(name, "0123456789abcdef") == "" {
		tries, values = append(tries, "WHERE h.id >= ? AND h.id < ?"), append(values, []any{name, name + "g"})
	}
	for i, where := range tries {
		var n int64
		found, err := collect(ctx, s.db, "SELECT "+hostColumns+", h.n FROM fleet_hosts h "+where+" LIMIT 2", args(values[i]...), func(r Row) (fleet.Host, error) { return scanHost(r, &n) })
		if err != nil {
			return fleet.Host{}, err
		}
		if len(found) == 1 {
			return s.whole(ctx, found[0], n)
		}
	}
	return fleet.Host{}, ledger.ErrNotFound
}

// whole adds what is only shown for a single host.
func (s *Ledger) whole(ctx context.Context, h fleet.Host, n int64) (_ fleet.Host, err error) {
	if h.Aliases, err = Column[string](ctx, s.db, "SELECT name FROM fleet_names WHERE host = ? AND name <> ? ORDER BY name"+s.d.Order, n, h.Name); err != nil {
		return h, err
	}
	h.Findings, err = findingsOf(ctx, s.db, n)
	return h, err
}

// Changes returns the changes that match a filter, newest first.
func (s *Ledger) Changes(ctx context.Context, f fleet.ChangeFilter) ([]fleet.Change, error) {
	var w where
	if !f.Since.IsZero() {
		w.add("c.time >= ?", millis(f.Since))
	}
	if len(f.Hosts) > 0 {
		w.add("c.host IN (?" + strings.Repeat(", ?", len(f.Hosts)-1) + ")")
		for _, h := range f.Hosts {
			w.args = append(w.args, h)
		}
	}
	for _, c := range []struct{ column, value string }{{"c.rule", f.Rule}, {"c.kind", string(f.Kind)}, {"c.cause", string(f.Cause)}} {
		if c.value != "" {
			w.add(c.column+" = ?", c.value)
		}
	}
	if f.Before > 0 {
		w.add("(c.time, c.seq) < ((SELECT time FROM fleet_changes WHERE seq = ?), ?)", f.Before, f.Before)
	}
	query := "SELECT c.seq, COALESCE(w.id, ''), c." + strings.ReplaceAll(changeColumns, ", ", ", c.") + " FROM fleet_changes c LEFT JOIN fleet_sweeps w ON w.n = c.sweep" + w.sql() + " ORDER BY c.time DESC, c.seq DESC" + limited(f.Limit)
	return collect(ctx, s.db, query, args(w.args...), func(r Row) (c fleet.Change, err error) {
		var at int64
		err = r.Scan(&c.Seq, &c.Sweep, &at, &c.Host, &c.Name, &c.Kind, &c.Cause, &c.Finding, &c.Rule, &c.Tunable, &c.Severity, &c.Text, &c.Expected, &c.Found)
		c.Time = timeOf(at)
		return c, err
	})
}

// RuleCounts returns how many hosts have each finding of a rule; "" means all rules.
func (s *Ledger) RuleCounts(ctx context.Context, rule string) ([]fleet.RuleCount, error) {
	var w where
	w.add("hosts > 0")
	if rule != "" {
		w.add("rule = ?", rule)
	}
	return collect(ctx, s.db, "SELECT rule, severity, role, os, release, hosts FROM fleet_rule_counts"+w.sql()+
		" ORDER BY rule"+s.d.Order+", "+worstFirst("severity")+", hosts DESC, role"+s.d.Order+", os"+s.d.Order+", release"+s.d.Order, args(w.args...), func(r Row) (c fleet.RuleCount, err error) {
		err = r.Scan(&c.Rule, &c.Severity, &c.Role, &c.OS, &c.Release, &c.Hosts)
		return c, err
	})
}
