package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"linerate/internal/cli"
	"linerate/internal/study"
)

// simulated runs the command on a simulated testbed and returns its exit code; −1 means that
// a signal killed it.
func simulated(t *testing.T, env []string, args ...string) (code int, stdout string) {
	t.Helper()
	cmd := exec.Command("linerate", args...)
	cmd.Env = append(os.Environ(), append(env, "SIMULATED=1")...)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// slots lists the trials of a study's record, each by its place in the schedule and its variant.
func slots(t *testing.T, dir string) []string {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "trials.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []string
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var tr study.Trial
		if err := json.Unmarshal(s.Bytes(), &tr); err != nil {
			t.Fatalf("line %d: %v", len(out)+1, err)
		}
		out = append(out, fmt.Sprintf("%s %d.%d %s", tr.Part, tr.Block, tr.Order, tr.Variant))
	}
	return out
}

// TestKilledStudyGoesOn kills a study (SIGKILL) in several of its trials: resuming it must
// give the record of a study that was never killed.
func TestKilledStudyGoesOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole")
	if code, _ := simulated(t, nil, "demo", "--quick", "--out", whole, "--seed", "3"); code != cli.ExitOK {
		t.Fatalf("exit %d", code)
	}
	killed := filepath.Join(dir, "killed")
	if code, _ := simulated(t, []string{"SIM_KILL_AFTER=6"}, "demo", "--quick", "--out", killed, "--seed", "3"); code != -1 {
		t.Fatalf("exit %d, but the command should have killed itself", code)
	}
	for kills := 0; ; kills++ {
		code, _ := simulated(t, []string{"SIM_KILL_AFTER=8"}, "study", "resume", killed)
		if code == cli.ExitOK {
			break
		}
		if code != -1 || kills > 10 {
			t.Fatalf("exit %d after %d kills", code, kills)
		}
	}
	if diff := cmp.Diff(slots(t, whole), slots(t, killed)); diff != "" {
		t.Errorf("trials were lost or repeated:\n%s", diff)
	}
}

func TestTornRecordGoesOn(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "d")
	if code, _ := simulated(t, []string{"SIM_KILL_AFTER=6"}, "demo", "--quick", "--out", dir, "--seed", "3"); code != -1 {
		t.Fatalf("exit %d, but the command should have killed itself", code)
	}
	log := filepath.Join(dir, "trials.jsonl")
	info, err := os.Stat(log)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(log, info.Size()-40); err != nil {
		t.Fatal(err)
	}
	if code, _ := simulated(t, nil, "study", "resume", dir); code != cli.ExitOK {
		t.Fatalf("exit %d", code)
	}
	seen := map[string]bool{}
	for _, s := range slots(t, dir) {
		if seen[s] {
			t.Errorf("%s was run twice", s)
		}
		seen[s] = true
	}
	whole := filepath.Join(t.TempDir(), "whole")
	if code, _ := simulated(t, nil, "demo", "--quick", "--out", whole, "--seed", "3"); code != cli.ExitOK {
		t.Fatalf("exit %d", code)
	}
	if want := len(slots(t, whole)); len(seen) != want {
		t.Errorf("%d trials, want the %d of one that was never torn", len(seen), want)
	}
	if _, err := os.Stat(filepath.Join(dir, "trials.torn")); err != nil {
		t.Errorf("the torn tail of the record was not saved: %v", err)
	}
}

func TestExitCodesOfStudies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, c := range []struct {
		name string
		env  []string
		args []string
		want int
	}{
		{"worse fails on worse", nil, []string{"demo", "--quick", "--seed", "3", "--out", at("a"), "--fail-on", "worse"}, cli.ExitVerdict},
		{"worse does not fail on invalid", nil, []string{"report", at("a"), "--fail-on", "invalid"}, cli.ExitOK},
		{"report fails too", nil, []string{"report", at("a"), "--fail-on", "inconclusive"}, cli.ExitVerdict},
		{"interrupted", []string{"SIM_INTERRUPT_AFTER=4"}, []string{"demo", "--quick", "--seed", "3", "--out", at("b")}, cli.ExitInterrupted},
		{"resumed", nil, []string{"study", "resume", at("b")}, cli.ExitOK},
		{"unknown study", nil, []string{"study", "run", "nothing"}, cli.ExitUsage},
		{"mode is missing", []string{"SIM_NO_OVERLOAD=1"}, []string{"demo", "--quick", "--seed", "3", "--out", at("c")}, cli.ExitOK},
		{"no such directory", nil, []string{"report", at("nowhere")}, cli.ExitUsage},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, _ := simulated(t, c.env, c.args...); got != c.want {
				t.Errorf("exit %d, want %d", got, c.want)
			}
		})
	}
	if n, want := len(slots(t, at("b"))), len(slots(t, at("a"))); n != want {
		t.Errorf("an interrupted and resumed study has %d trials, want the %d of one that was not", n, want)
	}
}
