package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"linerate/internal/labtest"
	"linerate/internal/load"
	"linerate/internal/study"
	"linerate/internal/studydir"
)

// beside is a study with an arm some twenty times slower than the control interleaved with it.
const beside = `name: beside
question: Does a slow arm move the control beside it?
variants:
  - name: none
  - name: slow
    settings:
      - firewall: {linear: 8000}
blocks: 2
retries: 0
parts:
  - {mode: cost, seconds: 0.1}
# What else runs on a test's machine is no matter here.
gates: {drift_percent: 100, steal_percent: 100, foreign_percent: 100}
`

// TestSlicesDoNotLeak: although one interleaved arm is twenty times slower, every frame is
// counted for its own arm, and the verdicts can be recomputed from the slices on disk. The
// size of the difference depends on the machine and is not checked.
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
	if text, err := exec.Command("linerate", "study", "run", file, "--out", out, "--seed", "1", "--ledger=none").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	rec, err := studydir.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	s, trials, env := rec.Spec, rec.Trials, rec.Environment
	r := study.Analyse(s, *s.Seed, env, trials)
	// The sample size counts instances, not slices; a disturbed instance may be missing.
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
	again := study.Analyse(s, *s.Seed, env, recomputed)
	if got, want := verdictsOf(t, again), verdictsOf(t, r); got != want {
		t.Errorf("the slices on disk give the verdicts\n%s\nwant\n%s", got, want)
	}
}

// verdictsOf returns a study's verdicts as JSON, so that unknown values compare equal.
func verdictsOf(t *testing.T, r study.Results) string {
	text, err := json.MarshalIndent([]any{r.Verdicts, r.AA}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// instanceIn reads a file of slices and checks it against the recorded hash.
func instanceIn(t *testing.T, file, sum string) (in study.Instance) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if hash := sha256.Sum256(data); hex.EncodeToString(hash[:]) != sum {
		t.Fatalf("%s does not have the hash recorded in its trial", file)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if err := json.Unmarshal([]byte(strings.TrimPrefix(lines[0], "# ")), &in); err != nil {
		t.Fatal(err)
	}
	for _, line := range lines[2:] {
		var s load.Slice
		if _, err := fmt.Sscanf(line, "%d,%d,%d,%d,%d", &s.Lane, &s.Flags, &s.Frames, &s.NS, &s.At); err != nil {
			t.Fatalf("%s: %q: %v", file, line, err)
		}
		in.Slices = append(in.Slices, s)
	}
	return in
}

// recompute judges the trials again from the slices on disk.
func recompute(t *testing.T, dir string, s study.Spec, trials []study.Trial) []study.Trial {
	t.Helper()
	out := slices.Clone(trials)
	for i, trial := range out {
		name, sum, _ := study.RawFile(&trial)
		in := instanceIn(t, filepath.Join(dir, name), sum)
		o, share := *trial.Observed, *trial.Observed.Interleaved
		if in.Arms[share.Lane] != trial.Variant || len(in.Slices) == 0 {
			t.Fatalf("lane %d of %v is not %s", share.Lane, in.Arms, trial.Variant)
		}
		share.Lanes = in.Condense()[share.Lane]
		o.Interleaved = &share
		part, _ := s.Part(trial.Part)
		out[i].Metrics, out[i].Reasons = study.Judge(part, s.Gates, o)
		out[i].Valid = len(out[i].Reasons) == 0
		// On a busy machine a trial may be invalid and give no verdict, but its metrics are always recorded.
		if len(trial.Metrics) == 0 || !maps.Equal(out[i].Metrics, trial.Metrics) {
			t.Errorf("%s, block %d: the slices on disk give %v, want %v", trial.Variant, trial.Block, out[i].Metrics, trial.Metrics)
		}
	}
	return out
}
