package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"linerate/bench/tunebench"
	"linerate/internal/show"
)

const benchTuneLong = `Simulate hosts of which the truth is known, and let linerate tune search them beside
random search with a confirmation, one setting at a time with a confirmation, and
successive halving alone, each with as many trials of one arm. 30 settings, of which
6 act (4 help, 2 harm) and 2 pairs interact; the best configuration gains 3.5 %. Told
are the true gain of what each method ships, and how many of the settings that it
ships do nothing, at three levels of noise. Then how often a method claims a winner
where no setting does anything: linerate promises at most 5 %.`

// tuneBench is the document of the bench.
type tuneBench struct {
	Version int    `json:"version"`
	Studies int    `json:"studies"` // of each method at each noise, and of the nulls
	Seed    uint64 `json:"seed"`
	// NullWinnerRate is linerate's share of searches with a winner where there is
	// none; Nulls are all methods'.
	NullWinnerRate float64                      `json:"null_winner_rate"`
	Nulls          map[tunebench.Method]float64 `json:"nulls"`
	Rows           []tunebench.Row              `json:"rows"`
}

// newTuneCmd simulates searches by experiment.
func newTuneCmd() *cobra.Command {
	s := simulated{flag: "studies", usage: "simulated searches of each method at each noise", usual: 10_000, least: 100, most: 1_000_000, seed: "seed of the simulation"}
	return s.command(&cobra.Command{
		Use:   "tune",
		Short: "gain, useless settings and false winners of searches by experiment, by simulation",
		Long:  benchTuneLong,
	}, func(cmd *cobra.Command, studies int, seed uint64) (any, func(*show.Page), error) {
		doc, err := simulateTune(cmd.Context(), cmd.ErrOrStderr(), studies, seed)
		return doc, doc.page, err
	})
}

// simulateTune runs the bench, and says on talk how far it is.
func simulateTune(ctx context.Context, talk io.Writer, studies int, seed uint64) (tuneBench, error) {
	doc := tuneBench{Version: 1, Studies: studies, Seed: seed}
	total := studies * len(tunebench.Methods()) * (1 + len(tunebench.Noises()))
	done, told := 0, -1
	progress := func(n int) {
		done += n
		if share := 100 * done / total; share/5 > told {
			told = share / 5
			fmt.Fprintf(talk, "%d of %d searches simulated\n", done, total)
		}
	}
	var err error
	if doc.Nulls, err = tunebench.Nulls(ctx, studies, seed, progress); err != nil {
		return doc, err
	}
	doc.NullWinnerRate = doc.Nulls[tunebench.Linerate]
	doc.Rows, err = tunebench.Table(ctx, studies, seed, progress)
	return doc, err
}

func (doc tuneBench) page(page *show.Page) {
	page.Line(fmt.Sprintf("%d simulated searches a line, %d trials each; the best configuration gains %.1f %%.", doc.Studies, tunebench.Slots, tunebench.BestPercent))
	t := show.Table{Header: []string{"scatter", "method", "gain shipped", "useless settings", "winner of nothing"}, Right: []bool{true, false, true, true, true}}
	for _, r := range doc.Rows {
		for i, m := range r.Methods {
			scatter, null := "", ""
			if i == 0 {
				scatter = show.Percent(r.SDPercent)
			}
			if r.SDPercent == tunebench.NullNoise {
				null = fmt.Sprintf("%.1f %%", 100*doc.Nulls[m.Method])
			}
			t.Rows = append(t.Rows, []string{scatter, string(m.Method), fmt.Sprintf("%+.2f %%", m.GainPercent), fmt.Sprintf("%.1f", m.Useless), null})
		}
	}
	page.Table(t)
}
