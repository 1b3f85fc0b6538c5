package netbenches_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/imports/netbenches"
	"linerate/internal/ledger"
	"linerate/internal/sharedtest"
)

// sample reads the real sample of the archive, if present.
func sample(t *testing.T) *netbenches.Tree {
	t.Helper()
	return read(t, sharedtest.Dir(t, "data/netbenches"))
}

// TestSampleEvidence: the changes that the archive's settings made.
func TestSampleEvidence(t *testing.T) {
	im := netbenches.NewImport(sample(t), time.Unix(0, 0))
	var verdicts []ledger.Verdict
	ids := map[ledger.ID]bool{}
	err := im.Batches(func(b *ledger.Batch) error {
		verdicts = append(verdicts, b.Verdicts...)
		for _, tr := range b.Trials {
			if ids[tr.ID] || len(tr.Sources) == 0 || tr.Sources[0].SHA256 == "" {
				t.Errorf("trial %s of %s: identifier or source", tr.ID, b.Studies[0].Place)
			}
			ids[tr.ID] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range verdicts {
		for _, id := range slices.Concat(v.ControlTrials, v.VariantTrials) {
			if !ids[id] {
				t.Errorf("verdict %s against %s refers to trial %s, which does not exist", v.Variant, v.Control, id)
			}
		}
	}
	for _, c := range []struct {
		tunable, after string
		low, high      float64
		verdict        string
	}{
		{"kern.random.harvest.mask", "351", 3.0, 3.3, "better"},
		{"net.pf.states_hashsize", "262144", 15.2, 15.4, "better"},
		{"hw.igb.rx_process_limit", "-1", 1.2, 1.3, "better"},
		{"ifconfig:tso4", "off", 0.3, 0.4, "inconclusive"},
		{"dev.igb.N.fc", "0", 0, 0.1, "inconclusive"},
		{"machdep.hyperthreading_intr_allowed", "1", -12.2, -12, "worse"},
		{"dev.ixl.N.iflib.tx_abdicate", "1", 67, 68, "better"},
		{"hw.igb.rxd", "4096", -20.7, -20.5, "worse"},
		{"dev.igb.N.iflib.override_nrxqs", "4", 300, 400, "better"},
		{"pf_enable", "YES", -70, -69, "worse"},
	} {
		if !slices.ContainsFunc(verdicts, func(v ledger.Verdict) bool {
			return v.EffectPercent.Float() > c.low && v.EffectPercent.Float() < c.high && string(v.Verdict) == c.verdict &&
				slices.ContainsFunc(v.Changes, func(ch ledger.Change) bool { return ch.Tunable == c.tunable && ch.After == c.after })
		}) {
			t.Errorf("no verdict %s of %s → %s between %g and %g %%", c.verdict, c.tunable, c.after, c.low, c.high)
		}
	}
	if n := im.Totals.Trials; n != 1115 {
		t.Errorf("%d trials, want 1115", n)
	}
}

// TestSampleIsContentAddressed: a part of the archive gives the same studies as the whole.
func TestSampleIsContentAddressed(t *testing.T) {
	refs := func(dir string) (out []string) {
		tree := read(t, sharedtest.Dir(t, dir))
		err := netbenches.NewImport(tree, time.Unix(0, 0)).Batches(func(b *ledger.Batch) error {
			if strings.Contains(b.Studies[0].Place, "hyperthreading") {
				out = append(out, b.Ref)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	whole, part := refs("data/netbenches"), refs("data/netbenches/AMD_Ryzen7-Pro-8845HS_8Cores/Intel_X710/hyperthreading")
	if len(whole) != 1 || !slices.Equal(whole, part) {
		t.Errorf("from the whole %q, from the part %q", whole, part)
	}
}
