package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"linerate/internal/labtest"
	"linerate/internal/study"
	"linerate/internal/studydir"
)

// beside has an arm some twenty times slower than the control beside it.
const beside = `name: beside
question: Does a slow arm move the control beside it?
variants:
  - name: none
  - name: slow
    settings:
      - nft: {linear: 8000}
blocks: 3
retries: 3
parts:
  - {mode: cost, seconds: 0.4}
`

// TestSlicesDoNotLeak: beside an arm that is twenty times slower every frame is in its own
// arm's account, and the verdicts can be worked out again from the slices on disk. By how
// much the arms differ is the machine's.
func TestSlicesDoNotLeak(t *testing.T) {
	labtest.Need(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "beside.yaml")
	if err := os.WriteFile(file, []byte(beside), 0o644); err != nil {
		t.Fatal(err)
	}
	nothingLeaks(t, file)
}

func nothingLeaks(t *testing.T, file string) {
	out := filepath.Join(t.TempDir(), "d")
	if text, err := exec.Command("linerate", "study", "run", file, "--out", out, "--seed", "1", "--no-ledger").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	rec, err := studydir.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	s, trials, env := rec.Spec, rec.Trials, rec.Environment
	r := study.Analyse(s, *s.Seed, env, trials)
	// Instances are counted, never slices; a disturbed one may be missing.
	if n, m := r.AA.N, r.Verdicts[0].N; n > s.Blocks || m > s.Blocks {
		t.Errorf("%d and %d instances of %d blocks", n, m, s.Blocks)
	}
	t.Logf("the slow arm: %v %%; the control to itself: %v %%", r.Verdicts[0].EffectPercent, r.AA.EffectPercent)
	for _, trial := range trials {
		if o := trial.Observed; o == nil {
			t.Fatalf("%s: %v", trial.Variant, trial.Reasons)
		} else if o.Received.RxPackets+*o.Received.Lost != o.Sent.TxPackets || o.Received.RxPackets == 0 {
			t.Errorf("%s: received %d + lost %d of %d", trial.Variant, o.Received.RxPackets, *o.Received.Lost, o.Sent.TxPackets)
		}
	}
	recomputed := recompute(t, out, s, trials)
	if again := study.Analyse(s, *s.Seed, env, recomputed); !reflect.DeepEqual(again.Verdicts, r.Verdicts) || !reflect.DeepEqual(again.AA, r.AA) {
		t.Errorf("from the slices on disk come\n%+v, %+v\nwant\n%+v, %+v", again.Verdicts, again.AA, r.Verdicts, r.AA)
	}
}

// recompute judges trials anew by the slices on disk.
func recompute(t *testing.T, dir string, s study.Spec, trials []study.Trial) []study.Trial {
	t.Helper()
	out := slices.Clone(trials)
	for i, trial := range out {
		in, err := studydir.ReadInstance(dir, trial)
		if err != nil {
			t.Fatal(err)
		}
		o, share := *trial.Observed, *trial.Observed.Interleaved
		if in.Arms[share.Lane] != trial.Variant || len(in.Slices) == 0 {
			t.Fatalf("lane %d of %v is not %s", share.Lane, in.Arms, trial.Variant)
		}
		share.Lanes = in.Condense()[share.Lane]
		o.Interleaved = &share
		part, _ := s.Part(trial.Part)
		out[i].Metrics, out[i].Reasons = study.Judge(part, s.Gates, o)
		out[i].Valid = len(out[i].Reasons) == 0
	}
	return out
}
