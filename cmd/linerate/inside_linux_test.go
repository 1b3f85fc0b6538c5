package main

import (
	"context"
	"testing"

	"linerate/internal/assemble"
	"linerate/internal/drop"
	"linerate/internal/lab"
	"linerate/internal/labtest"
	"linerate/internal/profile"
	"linerate/internal/study"
)

// TestInsideKnownTruth looks into variants whose time and whose dead frames are
// known: a thousand rules take their time in nft_do_chain, and a rule that
// drops is what the kernel's reason says.
func TestInsideKnownTruth(t *testing.T) {
	labtest.Need(t)
	s, err := study.Parse("inside.yaml", []byte(`name: inside
question: Where do time and frames go?
profile: true
variants:
  - name: none
  - name: rules-1000
    settings: [{nft: {linear: 1000}}]
  - name: drops
    settings:
      - nft: |
          table ip f {
            chain forward { type filter hook forward priority filter; udp sport 1024-1500 drop; }
          }
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
	none, rules, drops := seen["none"], seen["rules-1000"], seen["drops"]
	if none.Stacks == nil || rules.Stacks == nil {
		t.Logf("no profile here: %+v", none.Missing)
	} else if m := profile.Movers(none.Stacks, rules.Stacks)[0]; m.Name != "nft_do_chain" || m.SelfPoints < 30 {
		t.Errorf("with a thousand rules %s moved most, by %.1f points", m.Name, m.SelfPoints)
	}
	if drops.Drops == nil {
		t.Logf("no reasons here: %+v", drops.Missing)
	} else if a := drops.Drops; a.UnknownPercent() > drop.Doubt || a.Percent(drop.Firewall) < 30 || drops.Reasons["NETFILTER_DROP"] == 0 {
		t.Errorf("a rule drops half of the frames: %+v, %v", a, drops.Reasons)
	}
}
