package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"linerate/internal/cli"
	"linerate/internal/labtest"
	"linerate/internal/study"
	"linerate/internal/studydir"
)

// real is a study on the real testbed that is short enough for a test.
const real = `name: real
question: What do a thousand rules cost?
variants:
  - name: none
  - name: rules-1000
    settings:
      - firewall: {linear: 1000}
blocks: 3
retries: 4
parts:
  - {mode: cost, seconds: 0.15, warmup: 0.05}
gates: {foreign_percent: 75, drift_percent: 60}
`

// links returns the names of the devices and namespaces in this namespace, to check that a
// lab leaves none behind.
func links(t *testing.T) string {
	t.Helper()
	out := ""
	for _, dir := range []string{"/sys/class/net", "/run/netns"} {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), labtest.Prefix) {
				out += dir + "/" + e.Name() + "\n"
			}
		}
	}
	return out
}

func realStudy(t *testing.T) (dir, file string) {
	t.Helper()
	labtest.Need(t)
	dir = t.TempDir()
	file = filepath.Join(dir, "real.yaml")
	if err := os.WriteFile(file, []byte(real), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir, file
}

// TestRealStudy runs a study on the real kernel: its record must be complete and nothing may
// be left behind. The measured cost depends on the machine and is not checked.
func TestRealStudy(t *testing.T) {
	dir, file := realStudy(t)
	before := links(t)
	out := filepath.Join(dir, "d")
	cmd := exec.Command("linerate", "study", "run", file, "--out", out, "--seed", "1")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if after := links(t); after != before {
		t.Errorf("left behind:\n%s\nwas:\n%s", after, before)
	}
	rec, err := studydir.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	r, env := rec.Results(), rec.Environment
	if env.Label != "veth, not a NIC" || env.Kernel == "" || env.Testbeds["cost"].Kind != "netns" {
		t.Errorf("environment %+v", env)
	}
	v := r.Verdicts[0]
	if v.Metric != study.CostNS || v.Variant != "rules-1000" {
		t.Errorf("a thousand rules: %+v", v)
	}
	for _, tr := range rec.Trials {
		if o := tr.Observed; o == nil || o.Applied.Digest == "" || o.Received.RxPackets == 0 {
			t.Errorf("trial %s of block %d observed %+v", tr.Variant, tr.Block, o)
		}
	}
}

// TestInterruptedStudyCleansUp interrupts a real study of a hundred blocks: it must exit
// with code 130 before they are done and leave nothing behind but its record.
func TestInterruptedStudyCleansUp(t *testing.T) {
	_, file := realStudy(t)
	before := links(t)
	out := filepath.Join(t.TempDir(), "d")
	cmd := exec.Command("linerate", "study", "run", file, "--out", out, "--seed", "1", "--blocks", "100")
	var talk strings.Builder
	cmd.Stderr = &talk
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	recorded(t, out, 1)
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != cli.ExitInterrupted {
		t.Errorf("exit %d, want %d\n%s", code, cli.ExitInterrupted, talk.String())
	}
	if !strings.Contains(talk.String(), "linerate study resume "+out) {
		t.Errorf("the output does not say how to resume:\n%s", talk.String())
	}
	if after := links(t); after != before {
		t.Errorf("left behind:\n%s\nwas:\n%s", after, before)
	}
	if rec, err := studydir.Read(out); err != nil || len(rec.Trials) >= 100*len(rec.Spec.Arms()) {
		t.Errorf("the study ran to its end despite the interrupt, %v", err)
	}
}

// recorded waits until a study's record has at least n trials.
func recorded(t *testing.T, out string, n int) {
	t.Helper()
	if !labtest.Eventually(func() bool {
		data, err := os.ReadFile(filepath.Join(out, "trials.jsonl"))
		return err == nil && strings.Count(string(data), "\n") >= n
	}) {
		t.Fatalf("fewer than %d trials after %v", n, labtest.Patience)
	}
}

// TestKilledRealStudyGoesOn kills a real study (SIGKILL) and resumes it.
func TestKilledRealStudyGoesOn(t *testing.T) {
	dir, file := realStudy(t)
	before := links(t)
	out := filepath.Join(dir, "d")
	cmd := exec.Command("linerate", "study", "run", file, "--out", out, "--seed", "1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	recorded(t, out, 2)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	kept, err := os.ReadFile(filepath.Join(out, "trials.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command("linerate", "study", "resume", out).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	now, err := os.ReadFile(filepath.Join(out, "trials.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(now), string(kept)) {
		t.Error("a trial that was on record was changed")
	}
	rec, err := studydir.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	if _, more := study.Next(rec.Spec, rec.Seed, rec.Trials, nil); more {
		t.Error("the resumed study is not complete")
	}
	if after := links(t); after != before {
		t.Errorf("left behind:\n%s\nwas:\n%s", after, before)
	}
}
