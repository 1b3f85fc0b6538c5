package labbench

import (
	"context"
	"fmt"
	"time"

	"linerate/internal/stats"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

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
func (b *Bench) bothWays(ctx context.Context, until time.Time, w *ways) error {
	yamls := []string{largeInterleaved, largeSequential}
	for b.more(len(w.Half[0]), until, yamls...) {
		for i, yaml := range yamls {
			if i > 0 && len(w.Half[0]) == 1 && !b.fits(until, yaml) {
				break
			}
			_, r, seconds, err := b.run(ctx, yaml)
			if err != nil {
				return err
			}
			w.Half[i].add(r.AA.HalfWidth())
			w.Took[i] = append(w.Took[i], seconds)
			w.Large[i] = r.Verdicts
			if err := b.saveAndSay("A/A interval ±%.2f %%", r.AA.HalfWidth()); err != nil {
				return err
			}
		}
	}
	return nil
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

func (b *Bench) falseAlarms(ctx context.Context, until time.Time) error {
	yaml := alarmYAML
	for i := range 2*alarmPairs - 1 { // the A/A arm is the last pair's other half
		yaml += fmt.Sprintf("  - {name: v%d}\n", i)
	}
	for b.more(b.raw.Alarms.Studies, until, yaml) {
		s, r, _, err := b.run(ctx, yaml)
		if err != nil {
			return err
		}
		b.pairs(s, r)
		if err := b.saveAndSay("%d comparisons of nothing, %d found something", b.raw.Alarms.Studies, b.raw.Alarms.Found); err != nil {
			return err
		}
	}
	return nil
}

// pairs compares each arm of a study of nothing with the next one.
func (b *Bench) pairs(s study.Spec, r study.Results) {
	a, arms := &b.raw.Alarms, s.Arms()
	for i := 0; i+1 < len(arms); i += 2 {
		g := study.Goal{Metric: study.CostNS, Part: s.Parts[0].Name}
		c := stats.CompareBlocks(study.ArmValues(s, b.raw.Seed, g, arms[i], r.Trials),
			[]stats.Arm{study.ArmValues(s, b.raw.Seed, g, arms[i+1], r.Trials)}, stats.Options{NoPlan: true, Draws: 1})[0]
		if c.N < 3 {
			continue
		}
		a.Studies++
		a.SD.add(stats.Percent(c.SD))
		if c.P < 0.05 {
			a.Found++
		}
	}
}

// plantedRules are rules beyond the control's one: the hook's cost is in both.
// The last tells what one rule costs.
var plantedRules = []int{1, 2, 3, 5, 100}

// plant asks for effects of known size, each study all of them at once.
func (b *Bench) plant(ctx context.Context, until time.Time) error {
	yaml := "name: planted\nquestion: What does a rule cost?\nretries: 1\nparts: [{mode: cost, blocks: 10, seconds: 0.3}]\nvariants:\n  - {name: base, settings: [{nft: {linear: 1}}]}\n"
	for _, n := range plantedRules {
		yaml += fmt.Sprintf("  - {name: plus-%d, settings: [{nft: {linear: %d}}]}\n", n, n+1)
	}
	yaml += "metrics: [{metric: cost_ns_per_packet, primary: true, margin_percent: 0.01}]\n"
	p := &b.raw.Planted
	for b.more(len(p.Took), until, yaml) {
		_, r, seconds, err := b.run(ctx, yaml)
		if err != nil {
			return err
		}
		p.add(r, seconds)
		if err := b.saveAndSay("%d studies of planted effects", len(p.Took)); err != nil {
			return err
		}
	}
	return nil
}

// besideLoop is how much longer trials one after the other take there: each
// block's bypass is tried three times in vain.
const besideLoop = 2.5

// loaded repeats the first phase with a busy loop on the measuring CPU.
func (b *Bench) loaded(ctx context.Context, until time.Time) error {
	if !b.more(len(b.raw.Loaded.Half[0]), until, largeInterleaved, largeSequential) {
		return nil
	}
	bed, err := b.lab.Up(ctx, study.Part{Mode: testbed.Cost})
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
	b.raw.Took[largeSequential] *= besideLoop
	return b.bothWays(ctx, until, &b.raw.Loaded)
}
