package appliance

import (
	"cmp"
	"path"
	"testing"

	"linerate/internal/fact"
	"linerate/internal/fact/release"
)

// TestRecords: each record has all parts that every product needs.
func TestRecords(t *testing.T) {
	products, err := Products()
	if err != nil || len(products) != len(readers) {
		t.Fatalf("%d records, %d readers: %v", len(products), len(readers), err)
	}
	for _, p := range products {
		switch {
		case p.Name == "" || p.Title == "" || p.OS != fact.FreeBSD && p.OS != fact.Linux:
			t.Errorf("%s: name, title and os (freebsd or linux) are needed", p.Name)
		case readers[p.Name] == nil:
			t.Errorf("nothing reads the configuration of %s", p.Name)
		case len(p.Configs) == 0 || p.Tunables == "" || p.Remove == "" || p.Change == "" || p.ByHand == "" || len(p.Sources) == 0:
			t.Errorf("%s: configs, tunables, remove, change, by_hand and sources are needed", p.Name)
		}
		for _, v := range p.Version {
			if v.Pattern == nil || v.Pattern.NumSubexp() == 0 {
				t.Errorf("%s: version %q: a pattern with a group", p.Name, v.File)
			}
		}
		for _, s := range p.Says {
			if s.Match == nil {
				t.Errorf("%s: says %q: a pattern", p.Name, s.As)
			}
		}
		for _, r := range p.Releases {
			if _, err := release.ParseGiven(r.Base); err != nil || r.Release == "" || len(r.Sources) == 0 {
				t.Errorf("%s: release %q: base %q and sources: %v", p.Name, r.Release, r.Base, err)
			}
		}
		for _, n := range p.Nodes {
			if _, err := release.Parse(cmp.Or(n.Since, "1.0")); err != nil || n.Name == "" || n.Node == "" || n.Value(n.Default) == "" || (n.Since == "") != (n.Older == "") || (n.Enable == "") != (n.Disable == "") {
				t.Errorf("%s: nodes %q: name, node and default, since with older, enable with disable", p.Name, n.Name)
			}
		}
		for _, w := range p.Rewrites {
			for _, pattern := range append(w.Only, w.File) {
				if _, err := path.Match(pattern, ""); err != nil || w.When == "" {
					t.Errorf("%s: rewrites %q: a pattern, and when", p.Name, pattern)
				}
			}
		}
	}
}
