package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/assemble"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/lab"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
)

const benchServersLong = `Measure how well the lab of this machine tells two servers apart: what is left of an
A/A comparison when all arms' servers are up at once and asked in turns or together,
and when they are tried one after the other, the two in turn in the same minutes. Web
servers in an open and in a closed loop, mail, and files with fsync(2). Three arms are all the
same; the half-width is that of the interval of one against another, a median over
studies of ten blocks of a second each way.`

// serversBench is what bench servers finds; its JSON document.
type serversBench struct {
	Version int          `json:"version"`
	Label   string       `json:"label"`
	Rounds  int          `json:"rounds"`
	Rows    []serversRow `json:"rows"`
}

// serversRow is one kind of server, measured both ways.
type serversRow struct {
	Case   string    `json:"case"`
	Metric string    `json:"metric"`
	Beside serverWay `json:"interleaved"`
	After  serverWay `json:"sequential"`
	yaml   string
}

// serverWay is one way of trying: the A/A intervals' half-widths and the studies'
// seconds, a number for each round.
type serverWay struct {
	Half    []float64    `json:"half_width_percent"`
	Seconds []float64    `json:"study_seconds"`
	Median  stats.Number `json:"median_half_width_percent"`
}

// benchedServers are the cases.
var benchedServers = []serversRow{
	{Case: "web, open loop", Metric: study.RequestMean, yaml: "workload:\n  http: {objects: [24kB], rate: 100, keepalive: false}\n"},
	{Case: "web, closed loop", Metric: study.RequestRate, yaml: "workload:\n  http: {objects: [24kB], connections: 10}\n"},
	{Case: "mail, in bursts", Metric: study.SettledRate, yaml: "workload:\n  smtp: {messages: [2kB, 10kB], burst: 40}\n"},
	{Case: "files, fsync, in bursts", Metric: study.RequestRate, yaml: "workload:\n  files: {fsync: true, burst: 100}\n"},
}

// serversStudy is a study of arms that are all the same.
func (r serversRow) study(blocks int, interleave bool) string {
	return fmt.Sprintf("name: nothing\nquestion: Does nothing differ from nothing?\nretries: 0\ninterleave: %t\n%svariants: [{name: a}, {name: b}]\n"+
		"parts: [{seconds: 1, warmup: 0.1, blocks: %d}]\nmetrics: [{metric: %s, primary: true}]\n", interleave, r.yaml, blocks, r.Metric)
}

func newServersCmd() *cobra.Command {
	var rounds, blocks int
	var asJSON bool
	var only string
	cmd := &cobra.Command{
		Use:   "servers",
		Short: "measure the resolution of the lab of servers, interleaved and sequential",
		Long:  benchServersLong,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if rounds < 1 || blocks < 3 {
				return hint.Usagef("--rounds is at least 1, and --blocks 3")
			}
			cases, err := casesOf(only)
			if err != nil {
				return err
			}
			return assemble.Inside(cmd.Context(), func() error {
				opened, err := assemble.Local(cmd.Context(), assemble.Options{Engine: "auto"})
				if err != nil {
					return err
				}
				defer opened.Close()
				out := serversBench{Version: 1, Label: opened.Label, Rounds: rounds}
				if out.Rows, err = benchServers(cmd.Context(), opened.Lab, cmd.ErrOrStderr(), cases, rounds, blocks); err != nil {
					return err
				}
				return cli.Answer(cmd, asJSON, out, func(p *show.Page) { out.page(p, blocks) })
			})
		},
	}
	cmd.Flags().IntVar(&rounds, "rounds", 1, "studies of each case each way, in turn")
	cmd.Flags().IntVar(&blocks, "blocks", 10, "of each study")
	cmd.Flags().StringVar(&only, "only", "", "cases whose names begin so: web, mail or files (default: all)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

// casesOf are the cases whose names begin so.
func casesOf(only string) (rows []serversRow, err error) {
	for _, r := range benchedServers {
		if strings.HasPrefix(r.Case, only) {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return nil, hint.Unknown("case", only, []string{"web", "mail", "files"})
	}
	return rows, nil
}

// benchServers measures every case both ways.
func benchServers(ctx context.Context, l *lab.Lab, talk io.Writer, rows []serversRow, rounds, blocks int) ([]serversRow, error) {
	seed := uint64(0)
	for round := range rounds {
		for i := range rows {
			r := &rows[i]
			for way, to := range map[bool]*serverWay{true: &r.Beside, false: &r.After} { // in random order
				fmt.Fprintf(talk, "round %d of %d: %s, interleaved %t …\n", round+1, rounds, r.Case, way)
				s, err := study.Parse("bench", []byte(r.study(blocks, way)))
				if err != nil {
					return nil, fmt.Errorf("%s: %w", r.Case, err)
				}
				seed++
				begin := time.Now()
				res, err := l.Measure(ctx, s, seed)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", r.Case, err)
				}
				to.Half, to.Seconds = append(to.Half, res.AA.HalfWidth()), append(to.Seconds, time.Since(begin).Seconds())
			}
		}
	}
	for i := range rows {
		for _, w := range []*serverWay{&rows[i].Beside, &rows[i].After} {
			w.Median = stats.Num(stats.Median(w.Half))
			for k, h := range w.Half {
				if math.IsInf(h, 0) { // no trial was valid; JSON has no infinity
					w.Half[k] = -1
				}
			}
		}
	}
	return rows, nil
}

// page is the table for people.
func (o serversBench) page(p *show.Page, blocks int) {
	p.Line(fmt.Sprintf("A/A, half-width of the 95 %% interval; %s each way, of %d blocks; %s", show.Plural(o.Rounds, "round"), blocks, o.Label))
	p.Line("")
	t := show.Table{Right: show.NumbersAfter(1), Header: []string{"case", "in turns", "study", "one after the other", "study"}}
	for _, r := range o.Rows {
		t.Add(r.Case, r.Beside.half(), r.Beside.took(), r.After.half(), r.After.took())
	}
	p.Table(t)
}

func (w serverWay) half() string {
	v, ok := w.Median.Get()
	if !ok || math.IsInf(v, 0) {
		return show.Unknown
	}
	return show.Percent(v)
}

func (w serverWay) took() string {
	return show.Brief(time.Duration(stats.Median(w.Seconds) * float64(time.Second)))
}
