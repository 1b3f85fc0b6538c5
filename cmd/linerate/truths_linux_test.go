package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"linerate/internal/labtest"
	"linerate/internal/study"
	"linerate/internal/studydir"
	"linerate/internal/testbed"
)

// knownTruths is a study of forwarders that differ in their work per frame.
const knownTruths = `name: truths
question: What does each way of forwarding cost here?
variants:
  - name: none
  - {name: rules-1000, settings: [{firewall: {linear: 1000}}]}
  - {name: set-1000, settings: [{firewall: {table: 1000}}]}
  - {name: hop, settings: [{hops: 1}]}
  - {name: xdp, settings: [{forward: xdp}]}
  - {name: bridge, settings: [{forward: bridge}]}
blocks: 2
retries: 2
parts:
  - {mode: cost, seconds: 0.2}
metrics:
  - {metric: cost_ns_per_packet, primary: true, margin_percent: 10}
gates: {foreign_percent: 90, good_rounds_percent: 3}
`

// TestKnownTruths: each arm forwards frames under its own settings, which were read back, and
// has a cost and a comparison with the control. Which arm costs more depends on the machine and
// is only logged.
func TestKnownTruths(t *testing.T) {
	labtest.Need(t)
	file := filepath.Join(t.TempDir(), "truths.yaml")
	if err := os.WriteFile(file, []byte(knownTruths), 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	runLinerate(t, nil, "study", "run", file, "--out", out, "--ledger=none", "--seed", "1")
	rec, err := studydir.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	applied, costs := map[string]string{}, map[string]bool{}
	for _, tr := range rec.Trials {
		if o := tr.Observed; o == nil || o.Received.RxPackets == 0 {
			t.Errorf("%s, block %d: %v", tr.Variant, tr.Block, tr.Reasons)
		} else {
			applied[o.Applied.Digest] = strings.TrimPrefix(tr.Variant, study.AA)
			costs[applied[o.Applied.Digest]] = costs[applied[o.Applied.Digest]] || tr.Metrics[study.CostNS] > 0 // some trials are disturbed on a busy machine
		}
	}
	if len(applied) != len(rec.Spec.Variants) {
		t.Errorf("%d variants have %d distinct applied states: %v", len(rec.Spec.Variants), len(applied), applied)
	}
	for of, cost := range costs {
		if !cost {
			t.Errorf("%s has no trial with a cost", of)
		}
	}
	r := rec.Results()
	if len(r.Verdicts) != len(rec.Spec.Variants)-1 {
		t.Errorf("%d comparisons of %d variants", len(r.Verdicts), len(rec.Spec.Variants))
	}
	for _, v := range r.Verdicts {
		t.Logf("%s is %s (%v ns)", v.Variant, v.Verdict, v.EffectNS)
	}
}

// TestEverySettingForReal runs the variants of the study of every key on the real kernel:
// settings that the kernel lacks are named, and all others give results.
func TestEverySettingForReal(t *testing.T) {
	labtest.Need(t)
	text, err := os.ReadFile(everyKey)
	if err != nil {
		t.Fatal(err)
	}
	s, err := study.Parse(everyKey, text)
	if err != nil {
		t.Fatal(err)
	}
	s.Parts = slices.DeleteFunc(s.Parts, func(p study.Part) bool { return p.Mode != testbed.Cost }) // the other modes take too long
	s = s.Quick()
	s.Retries, s.Profile = 0, false // disturbed trials are good enough, and profiling has its own test
	if text, err = study.Format(s); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "cost.yaml")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	runLinerate(t, nil, "study", "run", file, "--out", out, "--ledger=none")
	everyPart(t, s, out)
}
