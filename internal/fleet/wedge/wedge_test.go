package wedge

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"linerate/internal/stats"
)

func hostsOf(n, strata int) (out []Host) {
	for i := range n {
		out = append(out, Host{Name: fmt.Sprint("h", i), Stratum: string(rune('a' + i%strata))})
	}
	return out
}

// TestDraw: every host is in a wave, waves take their share of each stratum, half of a wave waits, half of
// those are shams, and a seed gives the same draw again.
func TestDraw(t *testing.T) {
	ends := []int{8, 20, 40, 80}
	drawn := Draw(hostsOf(80, 4), ends, 7)
	n := map[string]int{}
	for _, h := range drawn {
		n[fmt.Sprint("wave ", h.Wave)]++
		n[fmt.Sprint(h.Stratum, " in wave ", h.Wave)]++
		if h.Held {
			n["held"]++
			n[fmt.Sprint("held of ", h.Stratum)]++
		}
		if h.Sham {
			n["sham"]++
			if !h.Held {
				t.Errorf("%+v: a sham host is not in the waiting half", h)
			}
		}
	}
	for key, want := range map[string][2]int{"wave 1": {8, 8}, "wave 2": {12, 12}, "wave 3": {20, 20}, "wave 4": {40, 40}, "a in wave 1": {1, 3}, "d in wave 4": {9, 11}, "held": {38, 40}, "held of b": {8, 12}, "sham": {19, 20}} {
		if n[key] < want[0] || n[key] > want[1] {
			t.Errorf("%s: %d hosts, want %v", key, n[key], want)
		}
	}
	again, other := Draw(hostsOf(80, 4), ends, 7), Draw(hostsOf(80, 4), ends, 8)
	if fmt.Sprint(again) != fmt.Sprint(drawn) || fmt.Sprint(other) == fmt.Sprint(drawn) {
		t.Error("the same seed gives another draw")
	}
}

func TestCheck(t *testing.T) {
	for text, hosts := range map[string][]Host{
		"only one host is b":      append(hostsOf(20, 1), Host{Name: "x", Stratum: "b"}),
		"can be ordered in":       hostsOf(4, 1),
		"10 hosts can be ordered": hostsOf(10, 5),
	} {
		trial := Trial{Harm: 5, Waves: 2, Hosts: Draw(hosts, []int{len(hosts) / 2, len(hosts)}, 1)}
		if err := trial.Check(); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v, want %q", err, text)
		}
	}
	trial := Trial{Harm: 5, Waves: 4, Hosts: Draw(hostsOf(20, 2), []int{2, 5, 10, 20}, 1)}
	if err := trial.Check(); err != nil {
		t.Error(err)
	}
}

// filled is a rollout of 20 hosts: their level, a common trend, and the effect on those with the plan, with
// a scatter of one percent.
func filled(better stats.Direction, effect float64, waves int) *Trial {
	t := &Trial{Better: better, Harm: 5, Seed: 3, Waves: 4, Hosts: Draw(hostsOf(20, 2), []int{2, 5, 10, 20}, 3)}
	r := rand.New(rand.NewPCG(1, 2))
	for p := range Baselines + waves {
		period := Period{Wave: max(0, p-Baselines+1)}
		for i, h := range t.Hosts {
			v := float64(i) + 0.3*float64(p) + 0.01*r.NormFloat64()
			if period.Wave > 0 && h.Step() <= period.Wave {
				v += effect
			}
			period.Values = append(period.Values, stats.Num(math.Exp(v)))
		}
		t.Periods = append(t.Periods, period)
	}
	return t
}

// TestKnownTruth: hosts that differ a thousandfold, and a trend of 30 % per wave, do not hide an effect.
func TestKnownTruth(t *testing.T) {
	for _, c := range []struct {
		better stats.Direction
		effect float64
		says   Says
	}{
		{stats.LowerIsBetter, 0, Go}, {stats.LowerIsBetter, 0.2, Harm}, {stats.LowerIsBetter, -0.2, Go},
		{stats.HigherIsBetter, 0.2, Go}, {stats.HigherIsBetter, -0.2, Harm}, {stats.HigherIsBetter, 0, Go},
	} {
		trial := filled(c.better, c.effect, 4)
		l, ok := trial.Look(4)
		truth := stats.Percent(c.effect)
		if !ok || l.Says != c.says || math.Abs(l.Effect.EffectPercent.Float()-truth) > 1.5 || l.Effect.CILow.Float() > truth || l.Effect.CIHigh.Float() < truth {
			t.Errorf("%s is better, %.1f %%: %+v", c.better, truth, l)
		}
		if low, high := l.Sham.CILow.Float(), l.Sham.CIHigh.Float(); low > 0 || high < 0 {
			t.Errorf("A/A: %+v", l.Sham)
		}
		if len(trial.Looks()) != 4 || l.Treated != 15 || l.Others != 5 {
			t.Errorf("%d looks, the last %+v", len(trial.Looks()), l)
		}
	}
}

// TestPass: a metric with too much scatter to detect harm says so before the first wave; a wave that shows
// neither harm nor its absence waits, up to its limit.
func TestPass(t *testing.T) {
	trial := filled(stats.LowerIsBetter, 0, 0)
	if text, blind := trial.Power(); blind || !strings.Contains(text, "20 hosts: sees 5 % with power 0.8 after wave") {
		t.Error(text)
	}
	trial.Harm = 0.01
	if text, blind := trial.Power(); !blind || !strings.Contains(text, "no wave sees 0.01 %; the last sees") {
		t.Error(text)
	}
	// By the baselines it can detect 5 %, but then the hosts scatter more.
	trial = filled(stats.LowerIsBetter, 0, 0)
	r, measured := rand.New(rand.NewPCG(4, 4)), 0
	l, err := trial.Pass(3, func() error {
		measured++
		p := Period{Wave: 3}
		for i, h := range trial.Hosts {
			v := float64(i) + 0.3*r.NormFloat64()
			if h.Step() <= 3 {
				v += 0.03
			}
			p.Values = append(p.Values, stats.Num(math.Exp(v)))
		}
		trial.Periods = append(trial.Periods, p)
		return nil
	})
	if err != nil || measured != Patience || l.Says != Wait {
		t.Errorf("%d periods: %+v, %v", measured, l, err)
	}
}

// TestLost: a host without a reading is left out of that period, and the others still count.
func TestLost(t *testing.T) {
	trial := filled(stats.LowerIsBetter, 0.2, 4)
	trial.Periods[4].Values[7] = stats.Num(math.NaN())
	if l, ok := trial.Look(4); !ok || l.LeftOut != 1 || l.Says != Harm {
		t.Errorf("%+v", l)
	}
	if _, ok := trial.Look(5); ok {
		t.Error("a wave without measurements has a look")
	}
}

// TestSmallFleet: one of eight hosts can be drawn in eight ways, none of them improbable: the baselines'
// scatter decides whether harm is excluded, and a harmful wave still stops the rollout.
func TestSmallFleet(t *testing.T) {
	for effect, want := range map[float64]Says{0: Go, 0.04: Wait, 0.2: Harm} {
		trial := &Trial{Better: stats.LowerIsBetter, Harm: 5, Waves: 3, Hosts: Draw(hostsOf(8, 1), []int{1, 4, 8}, 3)}
		r := rand.New(rand.NewPCG(1, 2))
		measure := func(wave int) {
			period := Period{Wave: wave}
			for _, h := range trial.Hosts {
				v := 0.005 * r.NormFloat64()
				if wave > 0 && h.Step() <= wave {
					v += effect
				}
				period.Values = append(period.Values, stats.Num(math.Exp(v)))
			}
			trial.Periods = append(trial.Periods, period)
		}
		measure(0)
		measure(0)
		l, err := trial.Pass(1, func() error { measure(1); return nil })
		if err != nil || l.Treated != 1 || l.Says != want {
			t.Errorf("effect %g: %+v, %v, want %q", effect, l, err, want)
		}
	}
}
