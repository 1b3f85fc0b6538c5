package trend

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// nights makes runs of one study, one a night, with a variant of the values.
func nights(x []float64) (runs []Run) {
	for i, v := range x {
		runs = append(runs, Run{
			ID: fmt.Sprintf("run%03d", i), Started: time.Unix(int64(86400*i), 0), Study: "router", Question: "q", Subject: "box", Metric: cost, Control: "plain",
			Values: map[Of]map[int]float64{
				{"cost", "plain", cost}: {1: 500},
				{"cost", "nft", cost}:   {1: v * 0.98, 2: v, 3: v * 1.02},
				{"cost", "aa", cost}:    {1: 500},
			},
		})
	}
	return runs
}

const cost = "cost_ns_per_packet"

// simulated are n nights with 1 % of noise around what at says of a night.
func simulated(r *rand.Rand, n int, at func(i int) float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = at(i) * (1 + 0.01*r.NormFloat64())
	}
	return x
}

var options = Options{Variant: "nft", Minimum: 5, Alpha: 0.05, Seed: 1}

// TestNullLevel holds the level: where nothing changes, no more looks than alpha find
// something, but for the chance of 200 looks.
func TestNullLevel(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	const looks = 200
	alarms := 0
	for i := range looks {
		o := options
		o.Seed = uint64(i)
		found, _ := Find(nights(simulated(r, 40, func(int) float64 { return 500 })), o)
		if len(found[0].Changes) > 0 {
			alarms++
		}
	}
	t.Logf("%d of %d", alarms, looks)
	// P(more than 19 of 200 at 5 %) is 0.3 %.
	if alarms > 19 {
		t.Errorf("%d of %d null series have a change at a level of 5 %%", alarms, looks)
	}
}

func TestStep(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	found, _ := Find(nights(simulated(r, 60, func(i int) float64 {
		if i < 33 {
			return 500
		}
		return 520
	})), options)
	if len(found[0].Changes) != 1 {
		t.Fatalf("%d changes, not 1: %+v", len(found[0].Changes), found[0].Changes)
	}
	c := found[0].Changes[0]
	if c.Kind != Step || c.Before.ID != "run032" || c.After.ID != "run033" || !c.Worse || c.Percent.Float() < 3 || c.Percent.Float() > 5 {
		t.Errorf("a step of 4 %% between nights 32 and 33 is seen as %s %s to %s, %v %%, worse %v", c.Kind, c.Before.ID, c.After.ID, c.Percent, c.Worse)
	}
	if found[0].Follows {
		t.Error("independent nights around a step count as autocorrelated")
	}
}

func TestDrift(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	found, _ := Find(nights(simulated(r, 60, func(i int) float64 { return 500 * (1 + 0.002*float64(i)) })), options)
	if len(found[0].Changes) != 1 || found[0].Changes[0].Kind != Drift {
		t.Fatalf("a drift of 12 %% in 60 nights is seen as %+v", found[0].Changes)
	}
	if c := found[0].Changes[0]; c.Percent.Float() < 8 || c.Percent.Float() > 14 || c.Before.ID != "run000" || c.After.ID != "run059" {
		t.Errorf("a drift of 12 %% from the first to the last night is %v %% from %s to %s", c.Percent, c.Before.ID, c.After.ID)
	}
}

// TestOutliers: single nights that went wrong are no change.
func TestOutliers(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	found, _ := Find(nights(simulated(r, 60, func(i int) float64 {
		if i == 12 || i == 31 || i == 32 || i == 50 {
			return 800
		}
		return 500
	})), options)
	if len(found[0].Changes) != 0 {
		t.Errorf("four odd nights of sixty are seen as %+v", found[0].Changes)
	}
}

// TestStepAmongOutliers: a change is found in spite of them.
func TestStepAmongOutliers(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	found, _ := Find(nights(simulated(r, 60, func(i int) float64 {
		switch {
		case i == 12 || i == 50:
			return 900
		case i < 30:
			return 500
		}
		return 550
	})), options)
	if len(found[0].Changes) != 1 || found[0].Changes[0].Kind != Step || found[0].Changes[0].After.ID != "run030" {
		t.Errorf("a step at night 30 among outliers is seen as %+v", found[0].Changes)
	}
}

// TestFollows: nights that resemble the one before them are told.
func TestFollows(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	x, state := make([]float64, 80), 0.0
	for i := range x {
		state = 0.8*state + r.NormFloat64()
		x[i] = 500 + state
	}
	o := options
	o.Alpha = 1e-9 // nothing is cut
	if found, _ := Find(nights(x), o); !found[0].Follows {
		t.Error("nights that follow each other count as independent")
	}
}

// TestPage: a page draws what changed and says what it counts for.
func TestPage(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	found, _ := Find(nights(simulated(r, 30, func(i int) float64 { return 500 + 50*float64(i/15) })), options)
	found[0].Changes[0].Why = "kernel was <6.12>"
	var b strings.Builder
	if err := WriteHTML(&b, found, "linerate compare changes"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<b>suspected</b>", "between 1970-01-15 and 1970-01-16", "<svg", "not provable here: kernel was &lt;6.12&gt;"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page has no %q", want)
		}
	}
}

// TestSeriesApart: another machine, another question and the control's repetition are
// series of their own, or none; few nights are no series.
func TestSeriesApart(t *testing.T) {
	runs := nights(simulated(rand.New(rand.NewPCG(6, 6)), 30, func(int) float64 { return 500 }))
	for i := range runs[:12] {
		runs[i].Subject = "other box"
	}
	for i := range runs[26:] {
		runs[26+i].Question = "another"
	}
	o := options
	o.Variant = ""
	found, short := Find(runs, o)
	var got []string
	for _, s := range found {
		got = append(got, fmt.Sprintf("%s/%s:%d", s.Subject, s.Variant, len(s.Points)))
	}
	if want := "[box/nft:14 box/plain:14 other box/nft:12 other box/plain:12]"; fmt.Sprint(got) != want || short != 2 {
		t.Errorf("series %v and %d short ones, not %s and 2", got, short, want)
	}
}

// TestEffects: what slows a machine as a whole is no change of a variant's effect.
func TestEffects(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	runs := nights(simulated(r, 40, func(int) float64 { return 600 }))
	for i := 20; i < 40; i++ {
		for of, blocks := range runs[i].Values {
			for b := range blocks {
				runs[i].Values[of][b] *= 1.2
			}
		}
	}
	levels, _ := Find(runs, options)
	o := options
	o.Effects = true
	effects, _ := Find(runs, o)
	if len(levels[0].Changes) != 1 || len(effects[0].Changes) != 0 || effects[0].Against != "plain" {
		t.Errorf("a machine that is slower by 20 %%: values %+v, effects %+v", levels[0].Changes, effects[0].Changes)
	}
}
