package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"linerate/bench/calibrate"
	"linerate/internal/hint"
)

// TestKeptOrFail: a single broken claim fails the bench.
func TestKeptOrFail(t *testing.T) {
	coverage := 0.951
	rows := []calibrate.Row{{Shape: "normal", Order: calibrate.Interleaved, N: 5, Rule: "linerate", FalsePositive: 0.05, Coverage: &coverage, Power: 0.8, Claim: "nominal", Kept: true},
		{Shape: "normal", Order: calibrate.Interleaved, N: 5, Rule: "ministat", FalsePositive: 0.2, Claim: calibrate.None, Kept: true}}
	checks := []calibrate.Check{{What: "A/A", N: 10, Value: 0.05, Low: 0.04, High: 0.06, Within: true}, {What: "shown", N: 5, Value: 0.5, High: 1, Within: true}}
	if err := keptOrFail(rows, checks); err != nil {
		t.Error(err)
	}
	rows[0].Kept, checks[0].Within = false, false
	if err := keptOrFail(rows, checks); err == nil || err.Error() != "2 claims do not hold" {
		t.Errorf("%v", err)
	}
}

// TestSimulatedLimits: a simulated bench refuses numbers beyond its bounds, uses fewer with --quick, and passes
// its seed on.
func TestSimulatedLimits(t *testing.T) {
	s := simulated{flag: "runs", usage: "u", usual: 200, least: 10, most: 1000, quick: 20, quickly: "q", seed: "s"}
	for args, want := range map[string]int{"": 200, "--runs 10": 10, "--runs 1000": 1000, "--runs 9": 0, "--runs 1001": 0, "--quick": 20, "--quick --runs 15": 15, "--runs x": 0, "more": 0} {
		got, seed := 0, uint64(0)
		cmd := s.command(&cobra.Command{Use: "x", SilenceErrors: true, SilenceUsage: true}, func(_ *cobra.Command, n int, from uint64) (any, error) {
			got, seed = n, from
			return map[string]int{"n": n}, nil
		})
		cmd.SetArgs(append(strings.Fields(args), "--seed", "7"))
		var out bytes.Buffer
		cmd.SetOut(&out)
		cmd.SetErr(&out)
		err := cmd.Execute()
		if got != want || (err == nil) != (want > 0) || want > 0 && seed != 7 {
			t.Errorf("%q: %d from seed %d, %v; want %d", args, got, seed, err, want)
		}
		if strings.HasPrefix(args, "--runs 9") && !hint.IsUsage(err) {
			t.Errorf("%q: %v", args, err)
		}
	}
}
