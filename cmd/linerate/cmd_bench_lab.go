package main

import (
	"context"
	"errors"
	"fmt"
	"io"
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

const benchLabLong = `Measure how well the lab of this machine tells two arms apart: what is left of
an A/A comparison when all arms take turns slice by slice, and when they are
tried one after the other, in the same minutes; how often a comparison of
nothing finds something; how small an effect is found that was planted (rules
that never match, a few ns each); and the same with another program on the
measuring CPU. Comparisons of nothing are of pairs of arms, each arm in one pair
only, so that none shares a control with another; about 200 take --minutes 20
on a quiet machine. A study is begun only if it will end in its phase's time, as
far as the last one tells; the first of each phase always is, so that a minute
takes longer. With --keep FILE every study is kept as it ends: the same command
goes on after an interrupt, and with more --minutes after it was complete.`

// labBench is what bench lab finds; its JSON document.
type labBench struct {
	Version int     `json:"version"`
	Label   string  `json:"label"`
	Minutes float64 `json:"minutes"` // that it took
	// Complete is false when it was interrupted: phases that had not ended
	// are empty.
	Complete bool      `json:"complete"`
	AA       widths    `json:"aa"`
	Loaded   widths    `json:"aa_with_a_busy_loop"`
	Alarms   alarms    `json:"false_alarms"`
	Planted  []planted `json:"planted"`
	// Smallest is the least planted effect, in percent, that was found in nine
	// of ten studies or more, of ten at least; null: none was, or too few were
	// run to tell.
	Smallest stats.Number `json:"smallest_found_percent"`
	// PlantedSeconds is how long one study of planted effects took.
	PlantedSeconds float64     `json:"planted_study_seconds"`
	Agreement      []agreement `json:"agreement"`
}

// widths of the A/A interval: medians over studies of either kind, in percent.
type widths struct {
	Sequential        stats.Number `json:"sequential_half_width_percent"`
	Interleaved       stats.Number `json:"interleaved_half_width_percent"`
	SequentialStudies int          `json:"sequential_studies"`
	Studies           int          `json:"interleaved_studies"`
	SequentialSeconds stats.Number `json:"sequential_study_seconds"`
	Seconds           stats.Number `json:"interleaved_study_seconds"`
}

// alarms counts comparisons of nothing that found something.
type alarms struct {
	Studies int          `json:"studies"`
	Found   int          `json:"found"`
	Rate    stats.Number `json:"rate"`
	// SD is the standard deviation of one instance's comparison, in percent.
	SD stats.Number `json:"instance_sd_percent"`
}

// planted is an effect of known size.
type planted struct {
	Rules  int          `json:"rules"`
	NS     stats.Number `json:"ns"` // of that many rules, by a hundred of them
	Effect stats.Number `json:"effect_percent"`
	Found  int          `json:"found"`
	Of     int          `json:"of"`
	Mean   stats.Number `json:"mean_percent"`
}

// agreement is a large effect, measured both ways in the same minutes.
type agreement struct {
	Variant     string       `json:"variant"`
	Sequential  stats.Effect `json:"sequential"`
	Interleaved stats.Effect `json:"interleaved"`
	Agree       bool         `json:"intervals_overlap"`
}

func newBenchLabCmd() *cobra.Command {
	var minutes float64
	var asJSON bool
	var engine, keep string
	var seed uint64
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "what the lab can tell apart: A/A intervals, false alarms, planted effects",
		Long:  benchLabLong,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !(minutes >= 0.5 && minutes <= 600) {
				return hint.Usagef("--minutes %g is not within 0.5 and 600", minutes)
			}
			raw, err := readLabRaw(keep, seed)
			if err != nil {
				return err
			}
			return assemble.Inside(cmd.Context(), func() error {
				b := &labBencher{budget: time.Duration(minutes * float64(time.Minute)), talk: cmd.ErrOrStderr(), keep: keep, raw: raw}
				opened, err := openLab(cmd.Context(), assemble.Options{Engine: engine})
				if err != nil {
					return err
				}
				b.lab = opened.Lab
				b.out.Version, b.out.Label = 1, opened.Label
				if err := b.all(cmd.Context()); err != nil {
					return err
				}
				if asJSON {
					err = cli.PrintJSON(cmd.OutOrStdout(), b.out)
				} else {
					err = b.out.print(cmd.OutOrStdout())
				}
				return errors.Join(err, context.Cause(cmd.Context()))
			})
		},
	}
	cmd.Flags().Float64Var(&minutes, "minutes", 5, "how long to measure, about")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "seed of the studies' schedules")
	cmd.Flags().StringVar(&keep, "keep", "", "file to keep every study in as it ends, and to go on from")
	cmd.Flags().StringVar(&engine, "engine", "auto", "traffic engine: auto, xdp or af_packet")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

// labBencher runs the studies of bench lab.
type labBencher struct {
	lab    *lab.Lab
	budget time.Duration
	talk   io.Writer
	keep   string // file of raw, or none
	raw    labRaw
	began  time.Time // as if all that is kept had been measured just before
	out    labBench
}

// more reports whether to begin studies: the first of a phase, or if those that
// have run before would end in time.
func (b *labBencher) more(had int, until time.Time, yamls ...string) bool {
	return had == 0 || b.fits(until, yamls...)
}

func (b *labBencher) fits(until time.Time, yamls ...string) bool {
	now := b.lab.Machine.Now()
	for _, y := range yamls {
		now = now.Add(time.Duration(b.raw.Took[y] * float64(time.Second)))
	}
	return !now.After(until)
}

// saveAndSay writes what was measured so far, and says how far that is.
func (b *labBencher) saveAndSay(format string, args ...any) error {
	spent := b.lab.Machine.Now().Sub(b.began)
	b.raw.Seconds = spent.Seconds()
	of := " of " + show.Clock(b.budget)
	if spent > b.budget { // each phase begins at least one study
		of = ", more than the " + show.Clock(b.budget) + " asked for"
	}
	fmt.Fprintf(b.talk, "%s%s: %s\n", show.Clock(spent), of, fmt.Sprintf(format, args...))
	return b.raw.write(b.keep)
}

func (b *labBencher) all(ctx context.Context) error {
	b.began = b.lab.Machine.Now().Add(-time.Duration(b.raw.Seconds * float64(time.Second)))
	err := b.phases(ctx)
	b.out.Minutes = b.raw.Seconds / 60
	b.raw.summarise(&b.out)
	if ctx.Err() == nil || len(b.raw.AA.Half[0]) == 0 {
		return err
	}
	if b.keep != "" {
		fmt.Fprintf(b.talk, "kept in %s: the same command goes on\n", b.keep)
	}
	return nil // the caller prints what was measured
}

func (b *labBencher) phases(ctx context.Context) error {
	fmt.Fprintf(b.talk, "about %s in all\n", show.Clock(b.budget))
	share := 0.0
	for _, phase := range []struct {
		what  string
		share float64
		do    func(ctx context.Context, until time.Time) error
	}{
		{"A/A and large effects, both ways", 0.2, func(ctx context.Context, until time.Time) error {
			return b.bothWays(ctx, until, &b.raw.AA)
		}},
		{"planted effects", 0.3, b.plant},
		{"A/A beside a busy loop", 0.15, b.loaded},
		{"comparisons of nothing", 0.35, b.falseAlarms}, // short studies: what others leave is theirs
	} {
		fmt.Fprintf(b.talk, "%s …\n", phase.what)
		share += phase.share // what one phase leaves or takes is the next one's
		until := b.began.Add(time.Duration(share * float64(b.budget)))
		if err := phase.do(ctx, until); err != nil {
			return fmt.Errorf("%s: %w", phase.what, err)
		}
	}
	b.out.Complete = true
	return nil
}

// run runs a study in memory.
func (b *labBencher) run(ctx context.Context, yaml string) (study.Spec, study.Results, float64, error) {
	s, err := study.Parse("bench", []byte(yaml))
	if err != nil {
		return s, study.Results{}, 0, err
	}
	b.raw.Seed++
	start := b.lab.Machine.Now()
	r, err := b.lab.Measure(ctx, s, b.raw.Seed)
	if err != nil {
		return s, r, 0, err
	}
	took := b.lab.Machine.Now().Sub(start).Seconds()
	b.raw.Took[yaml] = took
	return s, r, took, nil
}

// print writes the tables for people. What got no time is a dash, never a
// number.
func (o labBench) print(w io.Writer) error {
	p := show.NewPage(cli.StyleOf(w))
	p.Line(show.Grouped(o.Minutes, 0) + " minutes; " + o.Label)
	p.Line("")
	t := show.Table{Header: []string{"A/A, half-width of the 95 % interval", "one after the other", "slice by slice"}, Right: show.NumbersAfter(1)}
	for _, r := range []struct {
		what string
		w    widths
	}{{"as it is", o.AA}, {"with a busy loop on the same CPU", o.Loaded}} {
		t.Add(r.what, percentOf(r.w.Sequential), percentOf(r.w.Interleaved))
	}
	t.Add("time of a study", secondsOf(o.AA.SequentialSeconds), secondsOf(o.AA.Seconds))
	p.Table(t)
	if o.AA.SequentialStudies == 0 || o.Loaded.Studies == 0 {
		p.Paragraph("  ", "  ", "–: there was no time for it. More --minutes measure it.")
	}
	p.Line("")
	p.Line(fmt.Sprintf("Comparisons of nothing: %d of %d found something (%s); SD of an instance %s", o.Alarms.Found, o.Alarms.Studies,
		show.Optional(o.Alarms.Rate, func(v float64) string { return show.Grouped(100*v, 1) + " %" }), percentOf(o.Alarms.SD)))
	p.Line("")
	p.Line(fmt.Sprintf("Planted effects, studies of %s:", show.Grouped(o.PlantedSeconds, 0)+" s"))
	t = show.Table{Header: []string{"rules", "ns", "effect", "measured", "found"}, Right: show.NumbersAfter(0)}
	for _, e := range o.Planted {
		t.Add(show.Count(e.Rules), show.Optional(e.NS, show.Digits), percentOf(e.Effect), percentOf(e.Mean), fmt.Sprintf("%d of %d", e.Found, e.Of))
	}
	p.Table(t)
	if o.Smallest.Known() {
		p.Line("The smallest found in nine of ten: " + percentOf(o.Smallest))
	}
	p.Line("")
	p.Line("Large effects, both ways:")
	t = show.Table{Header: []string{"", "one after the other", "slice by slice"}}
	for _, a := range o.Agreement {
		t.Add(a.Variant, a.Sequential.TextWithBounds(), a.Interleaved.TextWithBounds())
	}
	p.Table(t)
	return p.Flush(w)
}

func percentOf(n stats.Number) string {
	return show.Optional(n, func(v float64) string { return show.Grouped(v, 2) + " %" })
}

func secondsOf(n stats.Number) string {
	return show.Optional(n, func(v float64) string { return show.Grouped(v, 0) + " s" })
}
