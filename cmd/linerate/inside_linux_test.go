package main

import (
	"context"
	"testing"

	"linerate/internal/assemble"
	"linerate/internal/lab"
	"linerate/internal/labtest"
	"linerate/internal/profile"
	"linerate/internal/study"
)

// TestInsideKnownTruth profiles variants whose CPU time goes to a known function: with a
// thousand rules, nft_do_chain.
func TestInsideKnownTruth(t *testing.T) {
	labtest.Need(t)
	s, err := study.Parse("inside.yaml", []byte(`name: inside
question: Where does the time go?
profile: true
variants:
  - name: none
  - name: rules-1000
    settings: [{firewall: {linear: 1000}}]
parts: [{name: cost, mode: cost, blocks: 1, seconds: 0.25}]
retries: 0
`))
	if err != nil {
		t.Fatal(err)
	}
	opened, err := assemble.Local(context.Background(), assemble.Options{Engine: "auto"})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]study.Telemetry{}
	opened.Lab.Looked = func(x study.Telemetry) error { seen[x.Variant] = x; return nil }
	if _, err := opened.Lab.Run(context.Background(), lab.Task{Spec: s, Seed: 1}, func(study.Trial) error { return nil }, nil); err != nil {
		t.Fatal(err)
	}
	none, rules := seen["none"], seen["rules-1000"]
	if none.Stacks == nil || rules.Stacks == nil {
		t.Logf("no profile here: %+v", none.Missing)
	} else if m := profile.Movers(none.Stacks, rules.Stacks)[0]; m.Name != "nft_do_chain" || m.After-m.Before < 30 {
		t.Errorf("with a thousand rules %s moved most, by %.1f points", m.Name, m.After-m.Before)
	}
}
