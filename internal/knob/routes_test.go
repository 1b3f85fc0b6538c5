package knob

import (
	"net/netip"
	"testing"

	"linerate/internal/setting"
)

// TestRoutesAreATable: the requested number of distinct prefixes, none covering the workload's sources, with
// matches only where requested.
func TestRoutesAreATable(t *testing.T) {
	for _, c := range []struct {
		table setting.Table
		hits  int // at least, among the workload's destinations
	}{
		{setting.Table{Count: 2}, 2},
		{setting.Table{Count: 1000}, 1000},
		{setting.Table{Count: 60000}, 50000},
		{setting.Table{Count: 1000, Miss: true}, 0},
		{setting.Table{Count: 2, Mix: setting.MixFull}, 1},
		{setting.Table{Count: 100000, Mix: setting.MixFull}, 32768},
		{setting.Table{Count: 100000, Mix: setting.MixFull, Miss: true}, 0},
	} {
		list := Routes(c.table)
		seen := map[netip.Prefix]bool{}
		hits, long := 0, 0
		for _, p := range list {
			seen[p] = true
			if workloadNetwork.Overlaps(p) {
				hits++
			} else if p.Overlaps(netip.MustParsePrefix("198.18.0.0/15")) {
				t.Fatalf("%+v: %s is over the lab's networks", c.table, p)
			}
			if p.Bits() == 24 {
				long++
			}
		}
		if len(list) != c.table.Count || len(seen) != len(list) {
			t.Errorf("%+v: %d routes, %d of them different", c.table, len(list), len(seen))
		}
		if hits < c.hits || c.hits == 0 && hits > 0 {
			t.Errorf("%+v: %d routes hold destinations, want %d", c.table, hits, c.hits)
		}
		if c.table.Miss && c.table.Mix == setting.MixFull && (long < c.table.Count/2 || long > c.table.Count*7/10) {
			t.Errorf("%d of %d routes are /24", long, c.table.Count)
		}
	}
}
