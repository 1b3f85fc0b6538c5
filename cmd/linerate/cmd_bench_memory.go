package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/calc"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/membench"
	"linerate/internal/show"
)

const benchMemoryLong = `Copy memory that fits no cache, with ordinary stores and with non-temporal ones
that bypass the cache, on one core and on more, and say what serving of files
the bandwidth allows (see linerate calc serving).

An ordinary store to a line that is not in the cache first reads it: read for
ownership. A byte copied then crosses the memory bus three times (read, read for
ownership, written back), with non-temporal stores twice.`

// newBenchMemoryCmd measures the machine's memory, not linerate.
func newBenchMemoryCmd() *cobra.Command {
	var o membench.Options
	var size string
	var asJSON, quick bool
	cmd := &cobra.Command{
		Use:   "memory",
		Short: "measure copy bandwidth over cores, and the serving rate that it allows",
		Long:  benchMemoryLong,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			bytes, err := calc.Parse(size, calc.Bytes)
			if err != nil {
				return hint.Usage(fmt.Errorf("--size: %w", err))
			}
			o.Size = int(min(bytes, 1<<40))
			if quick {
				o.Rounds, o.Time = min(o.Rounds, 3), min(o.Time, 50*time.Millisecond)
			}
			live := cli.NewLive(cmd.ErrOrStderr())
			defer live.End()
			r, err := membench.Run(cmd.Context(), o, func(round int) { live.Show("round %d of %d", round+1, o.Rounds) })
			if err != nil {
				return err
			}
			live.End()
			return cli.Answer(cmd, asJSON, memoryDocument{1, r, servingLimits(r)}, func(p *show.Page) { memoryPage(p, r) })
		},
	}
	cmd.Flags().StringVar(&size, "size", "64MiB", "bytes of each core's source and destination: more than the caches hold")
	cmd.Flags().DurationVar(&o.Time, "time", 200*time.Millisecond, "length of one run")
	cmd.Flags().IntVar(&o.Rounds, "rounds", 11, "runs of each kind, in turns")
	cmd.Flags().IntVar(&o.Cores, "cores", 0, "largest number of cores (default: all)")
	cmd.Flags().BoolVar(&quick, "quick", false, "3 rounds of 50 ms")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

// servingLimit is what a memory bandwidth allows, by calc serving.
type servingLimit struct {
	What  string  `json:"what"`
	Limit float64 `json:"limit_bits_per_second"`
}

// servingLimits takes the most traffic that any row made.
func servingLimits(r membench.Result) []servingLimit {
	bandwidth := r.Busiest().Traffic
	return []servingLimit{
		{"without TLS", calc.ServeLimit(bandwidth, false, false)},
		{"TLS in software, non-temporal stores", calc.ServeLimit(bandwidth, true, true)},
		{"TLS in software, ordinary stores", calc.ServeLimit(bandwidth, true, false)},
	}
}

func memoryPage(pg *show.Page, r membench.Result) {
	pg.Line(pg.Bold("Copies of "+show.Bytes(float64(r.Size))+" a core") + fmt.Sprintf(", on %s", show.Plural(r.CPUs, "CPU")))
	pg.Line("")
	t := show.Table{Header: []string{"cores", "stores", "copied", "lowest", "highest", "on the memory bus", "against ordinary"}, Right: []bool{true, false, true, true, true, true, true}}
	for i, row := range r.Rows {
		against := ""
		if row.Kind == membench.Streaming && i > 0 {
			against = ratioOf(row, r.Rows[i-1])
		}
		t.Add(show.Count(row.Cores), string(row.Kind), gigabytes(row.Median), gigabytes(slices.Min(row.Rates)), gigabytes(slices.Max(row.Rates)), gigabytes(row.Traffic), against)
	}
	pg.Table(t)
	pg.Line("")
	pg.Paragraph("", "", "Traffic on the bus is by arithmetic, not by counters: an ordinary store reads its line first (read for ownership) and counts three crossings for each byte copied, a non-temporal one two. Processors that see whole lines being written may save that read; the ordinary traffic is then less.")
	for _, n := range r.Notes {
		pg.Paragraph(pg.Paint(show.Doubt, "note")+"  ", "      ", n)
	}
	pg.Line("")
	pg.Line(pg.Bold("Serving files, if that were all the memory had to do"))
	pg.Line("")
	t = show.Table{Header: []string{"", "at most"}, Right: []bool{false, true}}
	for _, l := range servingLimits(r) {
		t.Add(l.What, show.Bits(l.Limit))
	}
	pg.Table(t)
	pg.Line("")
	most := r.Busiest()
	pg.Paragraph("", "", fmt.Sprintf("By calc serving with the most traffic seen, %s of %s stores on %s: each byte served crosses the bus twice without TLS, four times with encryption that stores past the cache, five times with ordinary stores. A ceiling that nothing reaches. Netflix's server went from 58 to 65 Gb/s with non-temporal stores. On a busy machine the processor, not the memory, limits the copies: repeat it on an idle one.",
		gigabytes(most.Traffic), most.Kind, show.Plural(most.Cores, "core")))
}

// ratioOf is the median of the rounds' ratios: neighbours in time.
func ratioOf(a, b membench.Row) string {
	ratios := make([]float64, 0, len(a.Rates))
	for i := range a.Rates {
		ratios = append(ratios, a.Rates[i]/b.Rates[i])
	}
	slices.Sort(ratios)
	n := len(ratios)
	return fmt.Sprintf("×%.2f [%.2f, %.2f]", (ratios[(n-1)/2]+ratios[n/2])/2, ratios[0], ratios[n-1])
}

func gigabytes(perSecond float64) string { return show.SI(perSecond, "B/s") }

// memoryDocument is what bench memory --json prints.
type memoryDocument struct {
	Version int `json:"version"`
	membench.Result
	Serving []servingLimit `json:"serving"`
}
