package provebench

import (
	"flag"
	"os"
	"testing"

	"linerate/internal/cli"
)

var (
	studies = flag.Int("studies", 400, "simulated studies of each shape")
	seed    = flag.Uint64("seed", 1, "seed of the simulation")
)

// BenchmarkTable simulates days of a live host, and prints what linerate prove reports of a setting
// without effect and of one that lowers the metric by 5 %, next to common practice; how often
// guardrails end a day without harm, and how long they need for one with harm:
//
//	go test ./bench/provebench -run '^$' -bench Table -benchtime 1x -args -studies 400
func BenchmarkTable(b *testing.B) {
	simulate(b, func() map[string]any {
		rows := Table(*studies, *seed)
		rate, coverage := Claims(rows)
		return map[string]any{"false_positive_rate": rate, "coverage": coverage, "rows": rows,
			"guardrails": Guards(*studies/4, *seed), "silences": Silences(*studies/10, *seed)}
	})
}

// BenchmarkConnections simulates studies in which each connection draws its arm: clients with many
// connections or few, heavy-tailed durations, drift, and a bottleneck that the arms share:
//
//	go test ./bench/provebench -run '^$' -bench Connections -benchtime 1x -args -studies 400
func BenchmarkConnections(b *testing.B) {
	simulate(b, func() map[string]any { return map[string]any{"rows": Connections(*studies, *seed)} })
}

func simulate(b *testing.B, run func() map[string]any) {
	if *studies < 100 || *studies > 1_000_000 {
		b.Fatalf("-studies %d is not between 100 and 1000000", *studies)
	}
	var doc map[string]any
	for range b.N {
		doc = run()
	}
	doc["version"], doc["studies"], doc["seed"] = 1, *studies, *seed
	if err := cli.PrintJSON(os.Stdout, doc); err != nil {
		b.Fatal(err)
	}
}
