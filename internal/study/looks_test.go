package study_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"linerate/internal/stats"
	"linerate/internal/study"
)

func TestLooksUpTo(t *testing.T) {
	for n, want := range map[int][]int{2: {3}, 3: {3}, 4: {4}, 5: {4, 5}, 10: {4, 6, 9, 10}, 20: {4, 6, 9, 13, 19, 20}} {
		if got := study.LooksUpTo(n, 1).Blocks; !slices.Equal(got, want) {
			t.Errorf("up to %d: %v, want %v", n, got, want)
		}
	}
	if got := study.LooksUpTo(10_000, 1).Blocks; len(got) > study.MaxLooks {
		t.Errorf("%d looks", len(got))
	}
}

// play runs a study with planned looks in which b costs factor times the control, and returns how
// many blocks it took.
func play(t *testing.T, seed uint64, factor, noise float64, looks *study.Looks) (s study.Spec, blocks int, trials []study.Trial) {
	t.Helper()
	s = interleavedSpec(t, "")
	s.Looks, s.Parts[0].Blocks = looks, looks.Blocks[len(looks.Blocks)-1]
	rng := rand.New(rand.NewPCG(seed, 5))
	for {
		slot, ok := study.Next(s, seed, trials, nil)
		if !ok {
			return s, blocks, trials
		}
		blocks++
		cost := func(f float64) float64 { return 700 * f * math.Exp(noise*rng.NormFloat64()) }
		trials = append(trials, interleavedTrials(s, slot.Block, 1, map[string]float64{"none": cost(1), "other": cost(factor), study.AA: cost(1)})...)
	}
}

func TestStudyEndsWhenEnoughIsKnown(t *testing.T) {
	looks := &study.Looks{Blocks: []int{4, 6, 9, 20}}
	s, n, trials := play(t, 1, 1.5, 0.001, looks)
	r := study.Analyse(s, 1, study.Environment{}, trials)
	if n != 6 || r.Verdicts[0].Verdict != stats.Worse || r.Verdicts[0].N != 6 || !r.Complete {
		t.Errorf("a large effect took %d blocks: %+v", n, r.Verdicts[0])
	}
	if slices.ContainsFunc(r.Verdicts[0].Warnings, func(w string) bool { return len(w) > 0 && w[0] >= '1' && w[0] <= '9' && w[2:8] == "of 20 " }) {
		t.Errorf("blocks that were not needed are reported as missing: %q", r.Verdicts[0].Warnings)
	}
	if s, n, trials := play(t, 1, 1.002, 0.05, looks); n != 20 || s.Look(1, n, trials)[0].Verdict != stats.Inconclusive {
		t.Errorf("an effect below the noise took %d blocks", n)
	}
	wide := &study.Looks{Blocks: []int{4, 6, 9, 20}, PrecisionPercent: 60}
	if _, n, _ := play(t, 1, 1.002, 0.05, wide); n == 20 {
		t.Error("a study that has reached its precision does not end")
	}
}

// TestSharesAreKnownInPoints: the precision of a share is half its interval in percentage points,
// also where the control lost nothing and a percentage does not exist.
func TestSharesAreKnownInPoints(t *testing.T) {
	control := stats.Arm{Name: "none", Values: make([]float64, 4)}
	c := stats.CompareBlocks(control, []stats.Arm{{Name: "some", Values: []float64{0.01, 0.02, 0, 0.01}}}, stats.Options{Share: true})[0]
	if half := study.HalfWidth(c); !(math.Abs(half-100*c.Effect.Half()) <= 1e-9) || !(half > 1 && half < 2) {
		t.Errorf("precision ±%g points, but half the test's interval is ±%g", half, c.Effect.Half())
	}
	wide := study.Looks{PrecisionPercent: 2}
	if narrow := (study.Looks{PrecisionPercent: 1}); !wide.Enough(c) || narrow.Enough(c) {
		t.Errorf("enough for a precision of 2 points: %t, of 1: %t", wide.Enough(c), narrow.Enough(c))
	}
}

// TestLooksKeepTheErrorRate: repeated looks do not raise the false-positive rate.
func TestLooksKeepTheErrorRate(t *testing.T) {
	const studies = 300
	looks := &study.Looks{Blocks: []int{4, 6, 9, 13}}
	wrong := 0
	for seed := range uint64(studies) {
		// The noise is so large that equivalence within the margin is never shown.
		if s, n, trials := play(t, seed, 1, 0.2, looks); s.Look(seed, n, trials)[0].Verdict.Differs() {
			wrong++
		}
	}
	// 5 % ± 4 standard errors of the count.
	if most := 0.05*studies + 4*math.Sqrt(0.05*0.95*studies); float64(wrong) > most {
		t.Errorf("%d of %d studies without an effect found one", wrong, studies)
	}
}

func TestLooksAreChecked(t *testing.T) {
	for _, bad := range []string{"blocks: [2, 4]", "blocks: [6, 4]", "blocks: []", "blocks: [4, 6], precision_percent: -1"} {
		text := fmt.Sprintf("{name: x, question: '?', variants: [{name: a}, {name: b}], looks: {%s}}", bad)
		if _, err := study.Parse("x.yaml", []byte(text)); err == nil {
			t.Errorf("looks %s are accepted", bad)
		}
	}
}

// TestNoVerdicts: of an unfinished study the effects stay, with wider intervals, and no verdict.
func TestNoVerdicts(t *testing.T) {
	s, err := study.Parse("s", []byte("name: s\nquestion: Does b cost more?\nvariants: [{name: a}, {name: b, settings: [{sysctl: net.ipv4.ip_early_demux, value: 0}]}]\nblocks: 8\nparts: [{mode: cost}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var trials []study.Trial
	for _, slot := range study.Schedule(s, 5)[:21] {
		cost := map[string]float64{"a": 700, study.AA: 700, "b": 980}[slot.Variant] * (1 + 0.01*rng.NormFloat64())
		trials = append(trials, study.Trial{Part: slot.Part, Variant: slot.Variant, Block: slot.Block, Order: slot.Order, Mode: "cost", Valid: true, Metrics: map[string]float64{study.CostNS: cost}})
	}
	r := study.Analyse(s, 5, study.Environment{}, trials)
	had := r.Verdicts[0]
	r.NoVerdicts(s)
	v := r.Verdicts[0]
	if r.Complete || len(r.Verdicts) != 1 || v.Verdict != stats.Inconclusive || v.PHolm.Known() || v.EffectPercent != had.EffectPercent || v.CIHigh.Float()-v.CILow.Float() <= had.CIHigh.Float()-had.CILow.Float() || !strings.Contains(r.Answer, "no verdict before the end") {
		t.Errorf("%+v\nbecame %+v\n%s", had, v, r.Answer)
	}
}
