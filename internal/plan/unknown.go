package plan

import (
	"regexp"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/show"
)

// unknowns lists facts that configuration files do not contain, by their names in expressions, and
// what a plan without them lacks.
var unknowns = []struct {
	fact  string
	named *regexp.Regexp
	lacks func(f *fact.Facts) bool
	text  string
	// decides means that without the fact there is no setting; else there is one without its bound.
	decides bool
}{
	{"memory", regexp.MustCompile(`\bmemory\b`), func(f *fact.Facts) bool { return f.Memory.Physical == 0 }, "Unknown; not held against it:", false},
	{"cpus", regexp.MustCompile(`\bcpus\b`), func(f *fact.Facts) bool { return f.CPU.Count == 0 }, "Unknown; skipped:", true},
	{"interfaces", regexp.MustCompile(`\b(nics|interrupts)\b`), func(f *fact.Facts) bool { return len(f.NICs) == 0 }, "No NIC data; skipped:", true},
	{"CPU power and IOMMU", regexp.MustCompile(`\b(governor|idle_latency|iommu)\b`), func(f *fact.Facts) bool { return f.CPU.Governor == "" }, "Unknown; skipped:", true},
}

// unknown lists the unknown facts of the host and the parts of this plan that need them.
func (p *planning) unknown() {
	if p.Facts.From.Kind != fact.KindTree { // a running host provides all facts that it has
		return
	}
	for _, u := range unknowns {
		if !u.lacks(p.Facts) {
			continue
		}
		var about []string
		for _, a := range p.Library.Advice {
			r, _ := p.Catalogue.Lookup(a.OS, a.Name())
			if a.OS != p.Facts.OS || !slices.Contains(a.Roles, p.Role) || !r.Exists(p.Facts.Release) || slices.Contains(about, a.Name()) {
				continue
			}
			undecided := p.taken[a.Name()] == 0 && u.decides || p.taken[a.Name()] == set && !u.decides
			if undecided && u.named.MatchString(a.expressions()) && len(p.names.missing(a.Needs)) == 0 {
				about = append(about, a.Name())
			}
		}
		if len(about) > 0 {
			p.plan.Unanswered = append(p.plan.Unanswered, Unanswered{Need: u.fact, Reason: u.text + " " + show.List(about) + "."})
		}
	}
}

// expressions returns the expressions that affect the decision, joined into one text.
func (a *Advice) expressions() string {
	all := []string{a.When, a.Unless, a.Want, a.Value, a.Each}
	for _, b := range a.Bounds {
		all = append(all, b.When, b.Most)
	}
	return strings.Join(all, "\n")
}
