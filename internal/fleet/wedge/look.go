package wedge

import (
	"fmt"
	"math"
	"math/rand/v2"

	"linerate/internal/list"
	"linerate/internal/show"
	"linerate/internal/stats"
)

// draws is the number of sampled assignments; the observed one counts in addition.
const draws = 1999

// power is the power for which detectable effects are stated.
const power = 0.8

// Look is the result after a wave has been measured.
type Look struct {
	Wave    int `json:"wave"`
	Periods int `json:"periods"` // measured since the first wave
	// Treated hosts have the plan, Others do not; LeftOut hosts lack a reading and are in neither.
	Treated int `json:"treated"`
	Others  int `json:"others"`
	LeftOut int `json:"left_out,omitempty"`
	// Effect is the effect of the plan on a host, in percent of the metric.
	Effect stats.Effect `json:"effect"`
	P      stats.Number `json:"p"`
	// Harm is the p of "it does no harm", Excluded that of "it does harm of the limit or more": by
	// the random draw, or by the scatter of the baselines if there are too few possible draws.
	Harm     stats.Number `json:"p_harm"`
	Excluded stats.Number `json:"p_excluded"`
	// Sees is the smallest harm, in percent, that this look detects with a power of 0.8, given the
	// scatter of the baselines.
	Sees stats.Number `json:"sees_percent"`
	Says Says         `json:"says"`
	// Sham is the difference between hosts with an empty change and those without one (A/A).
	Sham stats.Effect `json:"sham"`
}

// Says is the decision at a look.
type Says string

// The decisions.
const (
	Go     Says = "no harm"      // harm of the limit is excluded: the next wave may begin
	Harm   Says = "harm"         // harm is shown: everything is rolled back
	Unseen Says = "cannot see"   // too few hosts to detect harm of the limit: the next wave may begin
	Wait   Says = "not excluded" // harm of the limit is detectable, and not yet excluded
)

// sees returns the harm that a contrast can detect, in percent.
func (t *Trial) sees(c *contrast, s scatter) stats.Number {
	if !(c.size > 1e-9) {
		return stats.Num(math.NaN())
	}
	// One-sided: a two-sided test at twice the level.
	return stats.Num(math.Abs(stats.Percent(t.sign() * t.error(c, s) * stats.DetectableEffect(s.df, 2*t.level(), power))))
}

// error returns the standard error of a contrast, from the scatter of the baselines.
func (t *Trial) error(c *contrast, s scatter) float64 {
	return c.error(s.noise, s.trust*s.trust*s.noise/2+(1-s.trust)*(1-s.trust)*s.between)
}

// Foresee returns the harm that each wave can detect, in percent, from the baselines; NaN if none.
func (t *Trial) Foresee() (out []stats.Number) {
	p := t.panel(t.Periods[:Baselines])
	s := p.scatter()
	var columns []int
	for w := 1; w <= t.Waves; w++ {
		columns = append(columns, w)
		out = append(out, t.sees(p.contrast(columns, func(int, int) float64 { return 0 }), s))
	}
	return out
}

// Power says what can be detected, and when; blind is set if no wave can detect harm of the limit.
func (t *Trial) Power() (text string, blind bool) {
	sees, hosts := t.Foresee(), show.Plural(len(t.Hosts), "host")
	for w, v := range sees {
		if v.Float() <= t.Harm {
			return fmt.Sprintf("%s: sees %s with power %g after wave %d of %d", hosts, t.Limit(), power, w+1, t.Waves), false
		}
	}
	return fmt.Sprintf("%s: no wave sees %s; the last sees %s with power %g", hosts, t.Limit(), show.Optional(sees[len(sees)-1], show.Percent), power), true
}

// Look returns the result after a wave; false if it has not been measured yet.
func (t *Trial) Look(wave int) (l Look, ok bool) {
	until := len(t.Periods)
	for until > 0 && t.Periods[until-1].Wave > wave {
		until--
	}
	if wave < 1 || until <= Baselines || t.Periods[until-1].Wave != wave {
		return l, false
	}
	p := t.panel(t.Periods[:until])
	s := p.scatter()
	columns := list.Map(t.Periods[Baselines:until], func(p Period) int { return p.Wave })
	c := p.contrast(columns, func(i, k int) float64 {
		v := p.values[i]
		return v[Baselines+k] - s.trust*(v[0]+v[1])/2
	})
	l = Look{Wave: wave, Periods: len(columns), LeftOut: len(t.Hosts) - len(p.hosts), Sees: t.sees(c, s)}
	for _, h := range p.hosts {
		if h.Step() <= wave {
			l.Treated++
		} else {
			l.Others++
		}
	}
	test := c.test(draws, t.chance(len(columns)))
	l.Effect, l.P = t.effect(test), stats.Num(test.P(0))
	l.Harm, l.Excluded = stats.Num(test.Above(0)), stats.Num(test.Below(t.limit()))
	if ways := orders(p.hosts, func(h Host) int { return min(h.Step(), wave+1) }); ways < math.Log(1/alpha) {
		// With so few draws none is improbable: use the scatter of the baselines.
		l.Excluded = stats.Num(stats.UpperT((t.limit()-test.Estimate)/t.error(c, s), s.df))
	}
	sham := p.sham(columns, s)
	l.Sham = t.effect(sham.test(draws, t.chance(-len(columns))))
	l.Says = t.says(&l, test.Estimate)
	return l, true
}

// Last returns the result after the last measured wave; false if there is none.
func (t *Trial) Last() (l Look, ok bool) {
	for w := t.Waves; w > 0 && !ok; w-- {
		l, ok = t.Look(w)
	}
	return l, ok
}

// Looks returns the result after each measured wave.
func (t *Trial) Looks() (out []Look) {
	for w := 1; w <= t.Waves; w++ {
		if l, ok := t.Look(w); ok {
			out = append(out, l)
		}
	}
	return out
}

func (t *Trial) chance(stream int) *rand.Rand {
	return rand.New(rand.NewPCG(t.Seed, uint64(stream)))
}

// effect converts to percent of the metric, in the metric's own direction.
func (t *Trial) effect(r stats.Randomization) stats.Effect {
	i := r.Interval(0.95)
	if t.sign() < 0 {
		i.Estimate, i.Low, i.High = -i.Estimate, -i.High, -i.Low
	}
	return stats.EffectOf(i.Map(stats.Percent))
}

// Pass measures a wave until it decides or has waited for Patience periods; if the look then
// still says Wait, the rollout must stop.
func (t *Trial) Pass(wave int, measure func() error) (Look, error) {
	for n := 0; ; n++ {
		l, ok := t.Look(wave)
		if ok && (l.Says != Wait || n >= Patience) {
			return l, nil
		}
		if err := measure(); err != nil {
			return l, err
		}
	}
}

// says makes the decision. With few hosts there are too few possible orders for any to be
// improbable; then the scatter of the baselines decides.
func (t *Trial) says(l *Look, estimate float64) Says {
	beyond := estimate > t.limit()
	harm := l.Harm.Float() <= t.level() || beyond && l.Sees.Known() && estimate > t.worse(1+t.sign()*l.Sees.Float()/100)
	waited := len(list.Filter(t.Periods, func(p Period) bool { return p.Wave == l.Wave }))
	switch {
	case l.Excluded.Float() <= alpha:
		return Go
	case harm:
		return Harm
	case !(l.Sees.Float() <= t.Harm) && (!beyond || waited >= Patience):
		return Unseen
	}
	return Wait
}
