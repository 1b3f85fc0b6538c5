package audit

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"linerate/internal/show"
)

// RuleCounts says of how many hosts a rule reports an error or a warning.
type RuleCounts map[string]*ruleCount

type ruleCount struct {
	rule  string
	worst Severity
	hosts int
	// example is what is wrong on the first of them.
	example string
}

// Add counts the rules of one host's report, each once.
func (c RuleCounts) Add(r *Report) {
	seen := map[string]bool{}
	for _, f := range r.Findings {
		if !f.Severity.AtLeast(Warning) {
			continue
		}
		id := f.Rule() + " " + f.Name
		if c[id] == nil {
			c[id] = &ruleCount{rule: f.Rule(), example: f.Message}
		}
		if f.Severity.AtLeast(c[id].worst) || c[id].worst == "" {
			c[id].worst = f.Severity
		}
		if !seen[id] {
			seen[id] = true
			c[id].hosts++
		}
	}
}

// maxRules bounds the list for people; the JSON has all.
const maxRules = 40

// Print lists the rules, those of most hosts first.
func (c RuleCounts) Print(w io.Writer) {
	if len(c) == 0 {
		return
	}
	all := slices.SortedFunc(maps.Values(c), func(a, b *ruleCount) int {
		return cmp.Or(cmp.Compare(b.hosts, a.hosts), -cmp.Compare(severityRank(a.worst), severityRank(b.worst)), cmp.Compare(a.rule, b.rule), cmp.Compare(a.example, b.example))
	})
	fmt.Fprintln(w)
	for i, r := range all {
		if i == maxRules {
			fmt.Fprintf(w, "… and %s more, in the JSON\n", show.Count(len(all)-i))
			break
		}
		fmt.Fprintf(w, "%s on %s (%s): %s\n", r.rule, show.Plural(r.hosts, "host"), r.worst, show.Clean(r.example))
	}
}

func severityRank(s Severity) int { return slices.Index(Severities(), s) }
