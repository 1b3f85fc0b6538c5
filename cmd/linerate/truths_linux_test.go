package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"linerate/internal/labtest"
	"linerate/internal/stats"
	"linerate/internal/study"
	"linerate/internal/studydir"
	"linerate/internal/testbed"
)

// knownTruths is a study of what is known of every Linux: the arms take turns, so
// that a busy machine does not change their order.
const knownTruths = `name: truths
question: Is what everybody knows true here?
variants:
  - name: none
  - {name: rules-1000, settings: [{firewall: {linear: 1000}}]}
  - {name: set-1000, settings: [{firewall: {table: 1000}}]}
  - {name: hop, settings: [{hops: 1}]}
  - {name: xdp, settings: [{forward: xdp}]}
  - {name: bridge, settings: [{forward: bridge}]}
blocks: 4
retries: 6
parts:
  - {mode: cost, seconds: 0.2}
metrics:
  - {metric: cost_ns_per_packet, primary: true, margin_percent: 10}
gates: {foreign_percent: 90, good_rounds_percent: 3}
`

// TestKnownTruths: a thousand rules in a row cost more than a set of a thousand,
// one more router costs something, an XDP forwarder less than the kernel's, and
// the control costs what it costs. Orders are asked for, and no time; they are by
// verdicts, of which a busy machine leaves too few trials now and then: again.
func TestKnownTruths(t *testing.T) {
	labtest.Need(t)
	file := filepath.Join(t.TempDir(), "truths.yaml")
	if err := os.WriteFile(file, []byte(knownTruths), 0o644); err != nil {
		t.Fatal(err)
	}
	labtest.Again(t, func(t *labtest.Try) { truthsKnown(t, file) })
}

func truthsKnown(t *labtest.Try, file string) {
	out := filepath.Join(t.TempDir(), "out")
	runLinerate(t.T, nil, "study", "run", file, "--out", out, "--no-ledger", "--seed", "1")
	rec, err := studydir.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	r := rec.Results()
	effect, verdict := map[string]float64{}, map[string]stats.Verdict{}
	for _, v := range r.Verdicts {
		effect[v.Variant], verdict[v.Variant] = v.EffectNS.Float(), v.Verdict
	}
	if !(effect["rules-1000"] > 3*effect["set-1000"]) {
		t.Errorf("a thousand rules cost %+.0f ns, a set %+.0f ns", effect["rules-1000"], effect["set-1000"])
	}
	for arm, want := range map[string]stats.Verdict{"rules-1000": stats.Worse, "hop": stats.Worse, "xdp": stats.Better} {
		if verdict[arm] != want {
			t.Errorf("%s is %s (%+.0f ns), not %s", arm, verdict[arm], effect[arm], want)
		}
	}
	if r.AA.Verdict.Differs() {
		t.Errorf("the control differs from itself by %v %%", r.AA.EffectPercent)
	}
}

// TestEverySettingForReal runs the variants of the study of every key on the
// real kernel: whatever it lacks is named, and everything else gives numbers.
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
	s.Parts = slices.DeleteFunc(s.Parts, func(p study.Part) bool { return p.Mode != testbed.Cost }) // the others take their time
	s = s.Quick()
	if text, err = study.Format(s); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "cost.yaml")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	runLinerate(t, nil, "study", "run", file, "--out", out, "--no-ledger")
	everyPart(t, s, out)
}
