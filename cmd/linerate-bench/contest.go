package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/cli"
	"linerate/internal/show"
	"linerate/internal/stats"
)

// contest is a bench in which clients take turns at the same cases.
type contest struct {
	rounds int
	json   bool
	title  string         // of the table
	doc    map[string]any // what the JSON document says beside rounds and rows
	// unit, cpu and said head the columns; without said there is none.
	unit, cpu, said string
	busy            string               // heads what the server used; empty: it is not known
	write, writeOwn func(float64) string // a value, and what the client reported
}

// rival is a client in one case.
type rival struct {
	Case   string    `json:"case"`
	Client string    `json:"client"`
	Values []float64 `json:"values"`         // what is compared, one of each round, in the document's unit
	CPU    []float64 `json:"cpu_seconds"`    // of the client, for the document's cpu
	Said   []float64 `json:"said,omitempty"` // by the client itself; 0: nothing
	Busy   []float64 `json:"server_cpu_share,omitempty"`
	Ratio  float64   `json:"ratio"` // of values, to the first of the case
	Cost   float64   `json:"cpu_ratio"`
	once   func(context.Context) (measurement, error)
}

// measurement is what came of one client's run.
type measurement struct{ value, cpu, said, busy float64 }

// run lets the rivals take turns and prints what came of it.
func (b *contest) run(cmd *cobra.Command, rivals []*rival) error {
	live := cli.NewLive(cmd.ErrOrStderr())
	defer live.End()
	for round := range b.rounds {
		for i := range rivals {
			r := rivals[(i+round)%len(rivals)]
			live.Show("round %d of %d: %s, %s", round+1, b.rounds, r.Case, r.Client)
			o, err := r.once(cmd.Context())
			if err != nil {
				return fmt.Errorf("%s, %s: %w", r.Case, r.Client, err)
			}
			r.Values, r.CPU, r.Said = append(r.Values, o.value), append(r.CPU, o.cpu), append(r.Said, o.said)
			if b.busy != "" {
				r.Busy = append(r.Busy, o.busy)
			}
		}
	}
	live.End()
	compareRivals(rivals)
	doc := map[string]any{"version": 2, "rounds": b.rounds, "unit": b.unit, "cpu": b.cpu, "said": b.said, "rows": rivals}
	maps.Copy(doc, b.doc)
	return cli.Answer(cmd, b.json, doc, func(p *show.Page) { b.page(p, rivals) })
}

// compareRivals works out the ratios to each case's first client, round by round.
func compareRivals(rivals []*rival) {
	var base *rival
	for _, r := range rivals {
		if base == nil || r.Case != base.Case {
			base = r
		}
		r.Ratio, r.Cost = medianRatio(r.Values, base.Values), medianRatio(r.CPU, base.CPU)
	}
}

// medianRatio is the median over rounds of a measurement's ratio to the same
// round's base.
func medianRatio(x, base []float64) float64 {
	ratios := make([]float64, len(x))
	for i := range x {
		ratios[i] = x[i] / base[i]
	}
	return stats.Median(ratios)
}

func (b *contest) page(p *show.Page, rivals []*rival) {
	p.Line(b.title)
	p.Line("")
	t := show.Table{Right: show.NumbersAfter(2), Header: []string{"case", "client", b.unit, "ratio", b.cpu, "ratio"}}
	if b.said != "" {
		t.Header = append(t.Header, b.said)
	}
	if b.busy != "" {
		t.Header = append(t.Header, b.busy)
	}
	for _, r := range rivals {
		row := []string{r.Case, r.Client, b.write(stats.Median(r.Values)), show.Digits(r.Ratio), show.Nanos(stats.Median(r.CPU) * 1e9), show.Digits(r.Cost)}
		if b.said != "" {
			said := show.Unknown
			if v := stats.Median(r.Said); v > 0 {
				said = b.writeOwn(v)
			}
			row = append(row, said)
		}
		if b.busy != "" {
			row = append(row, busyText(stats.Median(r.Busy)))
		}
		t.Add(row...)
	}
	p.Table(t)
}

// busyText is a share of a CPU; none was counted where it is 0.
func busyText(share float64) string {
	if share <= 0 {
		return show.Unknown
	}
	return show.Percent(100 * share)
}

// cpuOf is the CPU time of a process that has ended.
func cpuOf(c *exec.Cmd) time.Duration { return c.ProcessState.UserTime() + c.ProcessState.SystemTime() }

// inSI and inSeconds write medians.
func inSI(v float64) string      { return show.SI(v, "") }
func inSeconds(v float64) string { return show.Nanos(v * 1e9) }

// thisProgram is the path of linerate itself, a client among others.
func thisProgram() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	return self, nil
}

// parsed reads what a pattern of digits matched.
func parsed(text []byte) float64 {
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return 0
	}
	return v
}
