package audit

import (
	"fmt"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/factexpr"
	"linerate/internal/tunable"
)

// Answers are what the rules' questions about counters, rates and the time since boot
// come to on a host, of which f need hold no more than its system, release and what
// moves by itself. While they, everything else on the host, and the catalogue are the same,
// an audit has the same findings, but for the numbers in their texts. ok is false where
// a rule cannot be taken apart so (factexpr.Language.Questions).
func (s *RuleSet) Answers(f *fact.Facts, c *tunable.Catalogue) (answers string, ok bool) {
	env := c.NewEnv(f, "")
	a := &auditor{Input: Input{Rules: s}, f: f, c: c, env: env, names: ruleNames(env, f, &s.Lists)}
	var b strings.Builder
	for _, r := range s.rules {
		questions, fine := r.questions()
		if !r.applies(f.OS, f.Release) {
			continue
		}
		if !fine {
			return "", false
		}
		if len(questions) == 0 {
			continue
		}
		subjects := []subject{{env: a.names}}
		if r.Each != EachLine && r.Each != EachLost { // what they read of a line stays
			subjects = a.subjects(r)
		}
		for _, about := range subjects {
			fmt.Fprintf(&b, "%s %s", r.ID, about.name)
			for _, q := range questions {
				v, err := language().Value(q, about.env)
				if err != nil {
					v = "error"
				}
				b.WriteByte(' ')
				b.WriteString(factexpr.Show(v))
			}
			b.WriteByte('\n')
		}
	}
	return b.String(), true
}

// questions are those of all that decides whether there is a finding, how bad it is, and
// what it is about.
func (r *Rule) questions() (all []string, ok bool) {
	when, fine := language().Questions(r.When)
	worse, fine2 := language().Questions(r.Worse)
	name, fine3 := language().TextQuestions(r.Name)
	all = append(append(append(all, when...), worse...), name...)
	return all, fine && fine2 && fine3
}

// Lapsed says which suppressions have expired, as a text that can be compared.
func Lapsed(in *Input) string {
	var b strings.Builder
	for i := range in.Suppressions {
		if in.Suppressions[i].expired(in.Today) {
			fmt.Fprintf(&b, "%d ", i)
		}
	}
	return b.String()
}
