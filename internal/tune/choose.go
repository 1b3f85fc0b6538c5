package tune

import (
	"math"

	"linerate/internal/stats"
)

// The powers from which on a configuration is likely, or not hopeless, to be confirmed.
const (
	likely   = 0.6
	hopeless = 0.05
)

// aLine is the probability of an effect above which a setting is worth a line in the plan: a
// useless line costs a third of what a useful one gains.
const aLine = 0.25

// keeps is the share of the confirmed configuration's expected gain that the plan must retain: of
// many weak effects none is certain, but together they are what was confirmed.
const keeps = 0.9

// own returns the effect of one factor in a configuration: its level against the base's, all others unchanged.
func (k *known) own(c Config, factor int) (active, expected, se float64) {
	effect, se := k.contrast(k.row(c), k.row(c.With(factor, 0)))
	active, expected = k.shrink(effect, se)
	return active, expected, se
}

// promises drops settings from a configuration that may be idle: each must promise to gain more than a
// sixteenth of what matters plus its standard error times the probability that it does nothing. It stops where
// the rest would no longer be likely to be confirmed, since many weak effects may have value together.
func (k *known) promises(c Config) Config {
	return k.without(c, func(active, expected, se float64) float64 { return expected - se*(1-active) - k.Worth/16 },
		func(c Config) bool { return k.power(k.gain(c)) >= likely })
}

// stands drops settings from a confirmed configuration that hardly have an effect.
func (k *known) stands(c Config) Config {
	least := keeps * k.gain(c)
	return k.without(c, func(active, _, _ float64) float64 { return active - aLine }, func(c Config) bool { return k.gain(c) >= least })
}

// without drops settings from a configuration, the worst first, as long as one is worth less than
// zero and will accepts the rest.
func (k *known) without(c Config, worth func(active, expected, se float64) float64, will func(Config) bool) Config {
	for c.Size() > 1 {
		least, at := 0.0, -1
		for i, l := range c {
			if l == 0 {
				continue
			}
			if w := worth(k.own(c, i)); w < least {
				least, at = w, i
			}
		}
		if at < 0 || !will(c.With(at, 0)) {
			break
		}
		c = c.With(at, 0)
	}
	return c
}

// gain returns the expected gain of a configuration, corrected for selection.
func (k *known) gain(c Config) float64 {
	raw, own, expected := dot(k.row(c), k.mean), 0.0, 0.0
	for i, l := range c {
		if l > 0 {
			e, se := k.contrast(k.row(c), k.row(c.With(i, 0)))
			_, x := k.shrink(e, se)
			own, expected = own+max(0, e), expected+max(0, x)
		}
	}
	return raw * expected / max(own, 1e-12)
}

// power returns the probability that the remaining budget confirms a gain.
func (k *known) power(gain float64) float64 {
	n := float64(min(mostPairs, k.left()/(beside+1)))
	z := gain/math.Sqrt(2*k.noise/max(1, n)) - stats.NormalQuantile(1-Alpha(k.Confirmations)/2)
	return math.Erfc(-z/math.Sqrt2) / 2
}

// choose returns the candidate: every factor at the level that is estimated best, less those that
// may be idle. ok is false if nothing promises to help.
func (k *known) choose() (c Config, ok bool) {
	if m, on := k.last(Confirm); on {
		return m.Arms[0], true
	}
	if len(k.y) == 0 {
		return nil, false
	}
	c = k.promises(k.argmax(k.mean))
	return c, c.Size() > 0 && k.power(k.gain(c)) > hopeless
}

// model returns the result of the screening.
func (k *known) model() Model {
	m := Model{Runs: len(k.y), Effects: []Effect{}, Interactions: []Interaction{}, SD: math.Sqrt(k.noise)}
	c, _ := k.choose()
	if c == nil {
		return m
	}
	var se []float64
	for i, n := range k.Levels {
		for l := 1; l <= n; l++ {
			column := k.first[i] + l - 1
			e := Effect{Factor: i, Level: l, Asked: k.asked[column], Seen: k.seen[column], Lacking: k.lacking(i, l)}
			if e.Seen > 0 {
				e.Effect, e.SE = k.contrast(k.row(c.With(i, l)), k.row(c.With(i, 0)))
				e.Active, e.Expected = k.shrink(e.Effect, e.SE)
				e.Low, e.High = k.quantile(e, 0.025), k.quantile(e, 0.975)
				se = append(se, e.SE)
			}
			m.Effects = append(m.Effects, e)
		}
	}
	for i, p := range k.pairs {
		m.Interactions = append(m.Interactions, Interaction{p[0], p[1], k.mean[k.first[len(c)]+i]})
	}
	m.SE = stats.Median(se)
	m.Simultaneous = m.SE * stats.NormalQuantile((1+math.Pow(0.95, 1/float64(max(1, len(se)))))/2)
	return m
}

// quantile returns a quantile of an effect's distribution: normal with probability Active, else zero.
func (k *known) quantile(e Effect, p float64) float64 {
	keep := k.tau2 / (k.tau2 + e.SE*e.SE)
	mean, sd := keep*e.Effect, math.Sqrt(keep)*e.SE
	below := e.Active * math.Erfc(mean/sd/math.Sqrt2) / 2
	switch {
	case below >= p:
		return mean + sd*stats.NormalQuantile(p/e.Active)
	case below+1-e.Active >= p:
		return 0
	}
	return mean + sd*stats.NormalQuantile((p-1+e.Active)/e.Active)
}
