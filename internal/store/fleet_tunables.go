package store

import (
	"context"
	"strings"

	"linerate/internal/audit"
	"linerate/internal/fleet"
)

// maxNamesOf is the maximum number of names of one tunable per query: a per-device tunable has many
// in a fleet.
const maxNamesOf = 400

// TunableCounts returns how many hosts of a system have a finding on each requested tunable.
func (s *Ledger) TunableCounts(ctx context.Context, os string, is func(name string) bool) ([]fleet.TunableCount, error) {
	var names []any
	err := s.db.Query(ctx, "SELECT DISTINCT tunable FROM fleet_findings WHERE tunable <> ''", nil, func(r Row) error {
		var name string
		err := r.Scan(&name)
		if err == nil && is(name) && len(names) < maxNamesOf {
			names = append(names, name)
		}
		return err
	})
	if err != nil || len(names) == 0 {
		return []fleet.TunableCount{}, err
	}
	worst := []audit.Severity{audit.Error, audit.Warning, audit.Info} // indexed by worstFirst
	return collect(ctx, s.db, `SELECT c.tunable, c.rule, c.worst, h.role, h.release, COUNT(*) FROM (
			SELECT f.tunable AS tunable, f.rule AS rule, a.host AS host, MIN(`+worstFirst("f.severity")+`) AS worst FROM fleet_findings f
			JOIN fleet_host_findings a ON a.finding = f.n WHERE f.tunable IN (?`+strings.Repeat(", ?", len(names)-1)+`) GROUP BY f.tunable, f.rule, a.host
		) c JOIN fleet_hosts h ON h.n = c.host WHERE h.os = ? GROUP BY c.tunable, c.rule, c.worst, h.role, h.release
		ORDER BY c.tunable`+s.d.Order+", c.worst, c.rule"+s.d.Order+", COUNT(*) DESC, h.role"+s.d.Order+", h.release"+s.d.Order, append(names, os), func(r Row) (fleet.TunableCount, error) {
		c := fleet.TunableCount{RuleCount: fleet.RuleCount{OS: os}}
		var n int
		err := r.Scan(&c.Tunable, &c.Rule, &n, &c.Role, &c.Release, &c.Hosts)
		c.Severity = worst[n]
		return c, err
	})
}
