// Package labbench measures how well a lab tells two arms apart: A/A intervals, how often
// a comparison of nothing finds something, and how small a planted effect is found.
package labbench

import (
	"context"
	"fmt"
	"io"
	"time"

	"linerate/internal/lab"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// Result is what a bench of the lab finds; the JSON document of bench lab.
type Result struct {
	Version int     `json:"version"`
	Label   string  `json:"label"`
	Minutes float64 `json:"minutes"` // that it took
	// Complete is false when it was interrupted: phases that had not ended
	// are empty.
	Complete bool      `json:"complete"`
	AA       Widths    `json:"aa"`
	Loaded   Widths    `json:"aa_with_a_busy_loop"`
	Alarms   Alarms    `json:"false_alarms"`
	Planted  []Planted `json:"planted"`
	// Smallest is the least planted effect, in percent, that was found in nine
	// of ten studies or more, of ten at least; null: none was, or too few were
	// run to tell.
	Smallest stats.Number `json:"smallest_found_percent"`
	// PlantedSeconds is how long one study of planted effects took.
	PlantedSeconds float64     `json:"planted_study_seconds"`
	Agreement      []Agreement `json:"agreement"`
}

// Widths are of the A/A interval: medians over studies of either kind, in percent.
type Widths struct {
	Sequential        stats.Number `json:"sequential_half_width_percent"`
	Interleaved       stats.Number `json:"interleaved_half_width_percent"`
	SequentialStudies int          `json:"sequential_studies"`
	Studies           int          `json:"interleaved_studies"`
	SequentialSeconds stats.Number `json:"sequential_study_seconds"`
	Seconds           stats.Number `json:"interleaved_study_seconds"`
}

// Alarms counts comparisons of nothing that found something.
type Alarms struct {
	Studies int          `json:"studies"`
	Found   int          `json:"found"`
	Rate    stats.Number `json:"rate"`
	// SD is the standard deviation of one instance's comparison, in percent.
	SD stats.Number `json:"instance_sd_percent"`
}

// Planted is an effect of known size.
type Planted struct {
	Rules  int          `json:"rules"`
	NS     stats.Number `json:"ns"` // of that many rules, by a hundred of them
	Effect stats.Number `json:"effect_percent"`
	Found  int          `json:"found"`
	Of     int          `json:"of"`
	Mean   stats.Number `json:"mean_percent"`
}

// Agreement is a large effect, measured both ways in the same minutes.
type Agreement struct {
	Variant     string       `json:"variant"`
	Sequential  stats.Effect `json:"sequential"`
	Interleaved stats.Effect `json:"interleaved"`
	Agree       bool         `json:"intervals_overlap"`
}

// Bench runs studies on a lab until its budget is spent.
type Bench struct {
	lab    *lab.Lab
	budget time.Duration
	talk   io.Writer
	keep   string // file of raw, or none
	raw    kept
	began  time.Time // as if all that is kept had been measured just before
	out    Result
}

// New is a bench that spends about budget on a lab and says on talk how far it is. What keep,
// the name of a file or "", has of an earlier one is taken in; seed is of the first
// study's schedule where it has nothing.
func New(l *lab.Lab, label string, budget time.Duration, keep string, seed uint64, talk io.Writer) (*Bench, error) {
	raw, err := readKept(keep, seed)
	if err != nil {
		return nil, err
	}
	return &Bench{lab: l, budget: budget, talk: talk, keep: keep, raw: raw, out: Result{Version: 1, Label: label}}, nil
}

// more reports whether to begin studies: the first of a phase, or if those that
// have run before would end in time.
func (b *Bench) more(had int, until time.Time, yamls ...string) bool {
	return had == 0 || b.fits(until, yamls...)
}

func (b *Bench) fits(until time.Time, yamls ...string) bool {
	now := b.lab.Machine.Now()
	for _, y := range yamls {
		now = now.Add(time.Duration(b.raw.Took[y] * float64(time.Second)))
	}
	return !now.After(until)
}

// saveAndSay writes what was measured so far, and says how far that is.
func (b *Bench) saveAndSay(format string, args ...any) error {
	spent := b.lab.Machine.Now().Sub(b.began)
	b.raw.Seconds = spent.Seconds()
	of := " of " + show.Clock(b.budget)
	if spent > b.budget { // each phase begins at least one study
		of = ", more than the " + show.Clock(b.budget) + " asked for"
	}
	fmt.Fprintf(b.talk, "%s%s: %s\n", show.Clock(spent), of, fmt.Sprintf(format, args...))
	return b.raw.write(b.keep)
}

// Run measures until the budget is spent or ctx ends, and returns what was found; an
// interrupted Result is not Complete. With a file to keep studies in, each is written there
// as it ends, and the next Run goes on from it.
func (b *Bench) Run(ctx context.Context) (Result, error) {
	err := b.all(ctx)
	return b.out, err
}

func (b *Bench) all(ctx context.Context) error {
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

func (b *Bench) phases(ctx context.Context) error {
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
func (b *Bench) run(ctx context.Context, yaml string) (study.Spec, study.Results, float64, error) {
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
