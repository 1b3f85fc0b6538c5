package tunebench

import (
	"flag"
	"os"
	"testing"

	"linerate/internal/cli"
)

var (
	studies = flag.Int("studies", 400, "simulated searches of each method at each noise")
	seed    = flag.Uint64("seed", 1, "seed of the simulation")
)

// results is the document that the benchmark prints.
type results struct {
	Version int    `json:"version"`
	Studies int    `json:"studies"` // per method and noise level, and for the null
	Seed    uint64 `json:"seed"`
	// NullWinnerRate is the share of null searches in which linerate reports a winner; Short is by
	// how many points, at worst, it gains less than the best other method.
	NullWinnerRate float64 `json:"null_winner_rate"`
	Short          float64 `json:"short_points"`
	Rows           []Row   `json:"rows"`
}

// BenchmarkTable compares linerate with the other methods on every landscape, and prints what they ship
// as a JSON document:
//
//	go test ./bench/tunebench -run '^$' -bench Table -benchtime 1x -args -studies 200
//
// Optuna takes part where python3 has it, at a second or more a search.
func BenchmarkTable(b *testing.B) {
	if *studies < 10 || *studies > 1_000_000 {
		b.Fatalf("-studies %d is not between 10 and 1000000", *studies)
	}
	methods := Methods()
	if HasOptuna() {
		methods = append(methods, Optuna)
	}
	var rows []Row
	var err error
	for range b.N {
		if rows, err = Table(*studies, *seed, methods); err != nil {
			b.Fatal(err)
		}
	}
	if err := cli.PrintJSON(os.Stdout, summed(rows)); err != nil {
		b.Fatal(err)
	}
}

// summed adds what the rows say of linerate as a whole.
func summed(rows []Row) results {
	doc := results{Version: 1, Studies: *studies, Seed: *seed, Rows: rows}
	for _, r := range rows {
		if r.Active == 0 {
			doc.NullWinnerRate = r.Methods[0].Shipped
		}
		for _, m := range r.Methods {
			doc.Short = max(doc.Short, m.GainPercent-r.Methods[0].GainPercent)
		}
	}
	return doc
}
