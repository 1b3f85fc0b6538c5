package host

import (
	"strings"
	"testing"

	"linerate/internal/fact"
)

// TestQueriesOfModulesNeedThem: without its module a filter's command makes the kernel print an error, or
// load the module.
func TestQueriesOfModulesNeedThem(t *testing.T) {
	needs := map[string]string{"pfctl": "pf", "ipfw": "ipfw", "ipfw nat": "ipfw_nat", "ipfw pipe": "dummynet"}
	asked := 0
	for _, q := range Queries(fact.FreeBSD) {
		argv := q.Argv()
		want, longer := needs[strings.Join(argv[:min(2, len(argv))], " ")]
		if !longer {
			want = needs[argv[0]]
		}
		if q.Module() != want {
			t.Errorf("%s needs module %q, want %q", q, q.Module(), want)
		}
		if want != "" {
			asked++
		}
	}
	if asked < 8 {
		t.Errorf("%d queries need a module", asked)
	}
}
