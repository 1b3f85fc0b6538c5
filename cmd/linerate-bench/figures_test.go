package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"linerate/internal/hint"
)

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
