package calibrate

import (
	"flag"
	"os"
	"testing"

	"linerate/internal/cli"
	"linerate/internal/list"
)

var (
	reps = flag.Int("reps", 10_000, "simulated studies per line")
	seed = flag.Uint64("seed", 1, "seed of the simulation")
)

// BenchmarkTable measures the false-positive rate, the coverage and the power of linerate's rules, of
// ministat's and of benchstat's by simulation, on the same data, and prints them as a JSON document:
//
//	go test ./bench/calibrate -run '^$' -bench Table -benchtime 1x -args -reps 10000
//
// It fails if a claim does not hold.
func BenchmarkTable(b *testing.B) {
	if *reps < 100 || *reps > 10_000_000 {
		b.Fatalf("-reps %d is not between 100 and 10000000", *reps)
	}
	var rows []Row
	var checks []Check
	for range b.N {
		rows, checks = Table([]int{5, 10, 20}, *reps, *seed), Checks(*reps, *seed)
	}
	if err := cli.PrintJSON(os.Stdout, map[string]any{"version": 1, "reps": *reps, "seed": *seed, "rows": rows, "checks": checks}); err != nil {
		b.Fatal(err)
	}
	if broken := list.Count(rows, func(r Row) bool { return !r.Kept }) + list.Count(checks, func(c Check) bool { return !c.Within }); broken > 0 {
		b.Errorf("%d claims do not hold", broken)
	}
}
