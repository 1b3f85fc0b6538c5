package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/hint"
	"linerate/internal/lab"
	"linerate/internal/stats"
	"linerate/internal/study"
)

const benchLabLong = `Measure how well the lab of this machine tells two arms apart: what is left of
an A/A comparison when all arms take turns slice by slice, and when they are
tried one after the other, in the same minutes; how often a comparison of
nothing finds something; how small an effect is found that was planted (rules
that never match, a few ns each); and the same with another program on the
measuring CPU. Comparisons of nothing are of pairs of arms, each arm in one pair
only, so that none shares a control with another; about 200 take --minutes 30.
A study is begun only if it will end in its phase's time, as far as the last one
tells; the first of each phase always is, so that a minute takes longer.`

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
	var engine string
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
			return inLab(cmd.Context(), func() error {
				b := &labBencher{budget: time.Duration(minutes * float64(time.Minute)), seed: seed, talk: cmd.ErrOrStderr(), took: map[string]float64{}}
				opened, err := openLab(cmd.Context(), labOptions{engine: engine})
				if err != nil {
					return err
				}
				b.lab = opened.lab
				b.out.Version, b.out.Label = 1, opened.label
				if err := b.all(cmd.Context()); err != nil {
					return err
				}
				if asJSON {
					err = printJSON(cmd.OutOrStdout(), b.out)
				} else {
					err = b.out.print(cmd.OutOrStdout())
				}
				return errors.Join(err, context.Cause(cmd.Context()))
			})
		},
	}
	cmd.Flags().Float64Var(&minutes, "minutes", 5, "how long to measure, about")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "seed of the studies' schedules")
	cmd.Flags().StringVar(&engine, "engine", "auto", "traffic engine: auto, xdp or af_packet")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

// labBencher runs the studies of bench lab.
type labBencher struct {
	lab    *lab.Lab
	budget time.Duration
	seed   uint64
	talk   io.Writer
	took   map[string]float64 // seconds, by study
	out    labBench
}

// fits reports whether studies that have run before would end in time.
func (b *labBencher) fits(until time.Time, yamls ...string) bool {
	now := b.lab.Machine.Now()
	for _, y := range yamls {
		now = now.Add(time.Duration(b.took[y] * float64(time.Second)))
	}
	return !now.After(until)
}

func (b *labBencher) all(ctx context.Context) error {
	start, share := b.lab.Machine.Now(), 0.0
	for _, phase := range []struct {
		what  string
		share float64
		do    func(ctx context.Context, until time.Time) error
	}{
		{"A/A and large effects, both ways", 0.25, func(ctx context.Context, until time.Time) error {
			return b.bothWays(ctx, until, &b.out.AA, &b.out.Agreement)
		}},
		{"planted effects", 0.3, b.plant},
		{"A/A beside a busy loop", 0.2, b.loaded},
		{"comparisons of nothing", 0.25, b.falseAlarms}, // short studies: what others leave is theirs
	} {
		fmt.Fprintf(b.talk, "%s …\n", phase.what)
		share += phase.share // what one phase leaves or takes is the next one's
		until := start.Add(time.Duration(share * float64(b.budget)))
		err := phase.do(ctx, until)
		b.out.Minutes = b.lab.Machine.Now().Sub(start).Minutes()
		if ctx.Err() != nil && b.out.AA.Studies > 0 {
			return nil // what was measured is told
		}
		if err != nil {
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
	b.seed++
	var trials []study.Trial
	start := b.lab.Machine.Now()
	_, err = b.lab.Run(ctx, lab.Task{Spec: s, Seed: b.seed}, func(t study.Trial) error {
		trials = append(trials, t)
		return nil
	}, nil)
	if err != nil {
		return s, study.Results{}, 0, err
	}
	took := b.lab.Machine.Now().Sub(start).Seconds()
	b.took[yaml] = took
	return s, study.Analyse(s, b.seed, study.Environment{}, trials), took, nil
}

// large is a study with large effects, as the two methods ran it when each was
// the lab's.
const large = `
name: large
question: Do both methods agree?
variants:
  - {name: none}
  - {name: rules-100, settings: [{nft: {linear: 100}}]}
  - {name: stateful, settings: [{nft: {stateful: true}}]}
metrics: [{metric: forwarding_rate_pps, primary: true, margin_percent: 1}]
`

const (
	largeSequential  = large + "interleave: false\nretries: 0\nparts: [{mode: cost, blocks: 6, seconds: 0.7, warmup: 0.15}]\n"
	largeInterleaved = large + "retries: 1\nparts: [{mode: cost, blocks: 10, seconds: 0.3}]\n"
)

// bothWays runs the same question both ways in turn, the quicker one first: the
// other may find no time.
func (b *labBencher) bothWays(ctx context.Context, until time.Time, w *widths, agree *[]agreement) error {
	yamls := []string{largeInterleaved, largeSequential}
	var half, took [2][]float64
	var last [2]study.Results
	for first := true; first || b.fits(until, yamls...); first = false {
		for i, yaml := range yamls {
			if i > 0 && first && !b.fits(until, yaml) {
				break
			}
			_, r, seconds, err := b.run(ctx, yaml)
			if err != nil {
				return err
			}
			last[i] = r
			half[i], took[i] = append(half[i], halfWidth(r)), append(took[i], seconds)
		}
	}
	*w = widths{Sequential: stats.Num(stats.Median(half[1])), Interleaved: stats.Num(stats.Median(half[0])), SequentialStudies: len(half[1]), Studies: len(half[0]),
		SequentialSeconds: stats.Num(stats.Median(took[1])), Seconds: stats.Num(stats.Median(took[0]))}
	if agree == nil || len(half[1]) == 0 {
		return nil
	}
	for i, v := range last[0].Verdicts {
		o := last[1].Verdicts[i]
		*agree = append(*agree, agreement{Variant: v.Variant, Sequential: o.Effect, Interleaved: v.Effect,
			Agree: o.CILow.Float() <= v.CIHigh.Float() && v.CILow.Float() <= o.CIHigh.Float()})
	}
	return nil
}

// halfWidth is that of the A/A interval; infinite when no trial was valid.
func halfWidth(r study.Results) float64 {
	half := (r.AA.CIHigh.Float() - r.AA.CILow.Float()) / 2
	if math.IsNaN(half) {
		return math.Inf(1)
	}
	return half
}

// pairs of arms that are all the same: each pair is a study of nothing that
// shares with the others only the machine.
const (
	alarmPairs = 7
	alarmYAML  = `
name: nothing
question: Does nothing differ from nothing?
retries: 0
parts: [{mode: cost, blocks: 6, seconds: 0.1}]
variants:
`
)

func (b *labBencher) falseAlarms(ctx context.Context, until time.Time) error {
	yaml := alarmYAML
	for i := range 2*alarmPairs - 1 { // the A/A arm is the last pair's other half
		yaml += fmt.Sprintf("  - {name: v%d}\n", i)
	}
	var sds []float64
	for first := true; first || b.fits(until, yaml); first = false {
		s, r, _, err := b.run(ctx, yaml)
		if err != nil {
			return err
		}
		arms := s.Arms()
		for i := 0; i+1 < len(arms); i += 2 {
			g := study.Goal{Metric: study.CostNS, Part: s.Parts[0].Name}
			c := stats.CompareBlocks(study.ArmValues(s, b.seed, g, arms[i], r.Trials),
				[]stats.Arm{study.ArmValues(s, b.seed, g, arms[i+1], r.Trials)}, stats.Options{NoPlan: true, Draws: 1})[0]
			if c.N < 3 {
				continue
			}
			b.out.Alarms.Studies++
			sds = append(sds, stats.Percent(c.SD))
			if c.P < 0.05 {
				b.out.Alarms.Found++
			}
		}
	}
	b.out.Alarms.Rate = stats.Num(float64(b.out.Alarms.Found) / float64(b.out.Alarms.Studies))
	b.out.Alarms.SD = stats.Num(stats.Median(sds))
	return nil
}

// plantedRules are rules beyond the control's one: the hook's cost is in both.
// The last tells what one rule costs.
var plantedRules = []int{1, 2, 3, 5, 100}

// plant asks for effects of known size, each study all of them at once.
func (b *labBencher) plant(ctx context.Context, until time.Time) error {
	yaml := "name: planted\nquestion: What does a rule cost?\nretries: 1\nparts: [{mode: cost, blocks: 10, seconds: 0.3}]\nvariants:\n  - {name: base, settings: [{nft: {linear: 1}}]}\n"
	for _, n := range plantedRules {
		yaml += fmt.Sprintf("  - {name: plus-%d, settings: [{nft: {linear: %d}}]}\n", n, n+1)
	}
	yaml += "metrics: [{metric: cost_ns_per_packet, primary: true, margin_percent: 0.01}]\n"
	effects, base, took := make([][]float64, len(plantedRules)), []float64{}, []float64{}
	found := make([]int, len(plantedRules))
	for first := true; first || b.fits(until, yaml); first = false {
		_, r, seconds, err := b.run(ctx, yaml)
		if err != nil {
			return err
		}
		took = append(took, seconds)
		base = append(base, r.Verdicts[0].ControlMean.Float())
		for i, v := range r.Verdicts {
			effects[i] = append(effects[i], v.EffectPercent.Float())
			if v.Verdict.Differs() && v.EffectPercent.Float() > 0 {
				found[i]++
			}
		}
	}
	b.out.PlantedSeconds, b.out.Smallest = stats.Median(took), stats.Num(math.NaN())
	last := len(plantedRules) - 1
	percent := stats.Median(effects[last]) / float64(plantedRules[last])
	for i, n := range plantedRules {
		known := percent * float64(n)
		if 10*found[i] >= 9*len(effects[i]) && len(effects[i]) >= 10 && math.IsNaN(b.out.Smallest.Float()) {
			b.out.Smallest = stats.Num(known)
		}
		b.out.Planted = append(b.out.Planted, planted{Rules: n, NS: stats.Num(known / 100 * stats.Median(base)), Effect: stats.Num(known),
			Found: found[i], Of: len(effects[i]), Mean: stats.Num(stats.Median(effects[i]))})
	}
	return nil
}

// besideLoop is how much longer trials one after the other take there: each
// block's bypass is tried three times in vain.
const besideLoop = 2.5

// loaded repeats the first phase with a busy loop on the measuring CPU.
func (b *labBencher) loaded(ctx context.Context, until time.Time) error {
	bed, err := b.lab.Up(ctx, "cost")
	if err != nil {
		return err
	}
	cpu := bed.Describe().CPUs.Generator
	if err := bed.Close(); err != nil {
		return err
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			default:
				if _, err := b.lab.Machine.Spin(cpu); err != nil {
					return
				}
			}
		}
	}()
	defer func() { close(stop); <-ended }()
	b.took[largeSequential] *= besideLoop
	return b.bothWays(ctx, until, &b.out.Loaded, nil)
}

// print writes the tables for people.
func (o labBench) print(w io.Writer) error {
	fmt.Fprintf(w, "%.0f minutes; %s\n\n", o.Minutes, o.Label)
	fmt.Fprintf(w, "A/A, half-width of the 95 %% interval   one after the other   slice by slice\n")
	for _, r := range []struct {
		what string
		w    widths
	}{{"as it is", o.AA}, {"with a busy loop on the same CPU", o.Loaded}} {
		fmt.Fprintf(w, "  %-34s  %17s %%  %13s %%\n", r.what, o.number(r.w.Sequential), o.number(r.w.Interleaved))
	}
	fmt.Fprintf(w, "  %-34s  %17.0f s  %13.0f s\n\n", "time of a study", o.AA.SequentialSeconds.Float(), o.AA.Seconds.Float())
	fmt.Fprintf(w, "Comparisons of nothing: %d of %d found something (%.1f %%); SD of an instance %s %%\n\n",
		o.Alarms.Found, o.Alarms.Studies, 100*o.Alarms.Rate.Float(), o.number(o.Alarms.SD))
	fmt.Fprintf(w, "Planted effects, studies of %.0f s:\n  rules       ns   effect  measured  found\n", o.PlantedSeconds)
	for _, p := range o.Planted {
		fmt.Fprintf(w, "  %5d  %7.2f  %5.2f %%  %6.2f %%  %2d of %d\n", p.Rules, p.NS.Float(), p.Effect.Float(), p.Mean.Float(), p.Found, p.Of)
	}
	if _, known := o.Smallest.Get(); known {
		fmt.Fprintf(w, "The smallest found in nine of ten: %s %%\n", o.number(o.Smallest))
	}
	fmt.Fprintf(w, "\nLarge effects, both ways:\n")
	for _, a := range o.Agreement {
		fmt.Fprintf(w, "  %-10s one after the other %s, slice by slice %s\n", a.Variant, interval(a.Sequential), interval(a.Interleaved))
	}
	return nil
}

func (labBench) number(n stats.Number) string {
	v, ok := n.Get()
	if !ok {
		return "unknown"
	}
	return fmt.Sprintf("%.2f", v)
}

func interval(e stats.Effect) string {
	return fmt.Sprintf("%+.1f %% [%+.1f, %+.1f]", e.EffectPercent.Float(), e.CILow.Float(), e.CIHigh.Float())
}
