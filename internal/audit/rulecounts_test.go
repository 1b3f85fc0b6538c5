package audit

import (
	"strings"
	"testing"
)

func TestRulesOfManyHosts(t *testing.T) {
	c := RuleCounts{}
	for i := range 3 {
		r := &Report{Findings: []Finding{
			{ID: "LR-A:x", Name: "x", Severity: Warning, Message: "x is wrong"}, {ID: "LR-A:x@/b", Name: "x", Severity: Warning, Message: "x is wrong"},
			{ID: "LR-I:y", Name: "y", Severity: Info, Message: "y"},
		}}
		if i == 0 {
			r.Findings = append(r.Findings, Finding{ID: "LR-B:z", Name: "z", Severity: Error, Message: "z is gone"})
		}
		c.Add(r)
	}
	var b strings.Builder
	c.Print(&b)
	if want := "\nLR-A on 3 hosts (warning): x is wrong\nLR-B on 1 host (error): z is gone\n"; b.String() != want {
		t.Errorf("%q", b.String())
	}
}
