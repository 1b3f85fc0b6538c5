package tune

import (
	"math"

	"linerate/internal/stats"
)

// A configuration is likely to be confirmed, or hopeless to, from these powers on.
const (
	likely   = 0.6
	hopeless = 0.05
)

// aLine is the probability of an effect from which on a setting is worth a line of the plan: a useless line weighs a
// third of what a useful one does.
const aLine = 0.25

// keeps is the share of the gain expected of what was confirmed that is to be in the plan: of many weak effects none
// is sure, and together they are what was confirmed.
const keeps = 0.9

// own is what a factor does in a configuration: it against the base's level, the others as they are.
func (k *known) own(c Config, factor int) (active, expected, se float64) {
	effect, se := k.contrast(k.row(c), k.row(c.With(factor, 0)))
	active, expected = k.shrink(effect, se)
	return active, expected, se
}

// promises takes the settings off a configuration that may be idle: each must promise to gain more than a sixteenth
// of what matters, and than its standard error times the chance that it does nothing. It ends where the rest would
// not be likely to be confirmed: many weak effects may be worth what none of them is.
func (k *known) promises(c Config) Config {
	return k.without(c, func(active, expected, se float64) float64 { return expected - se*(1-active) - k.Worth/16 },
		func(c Config) bool { return k.power(k.gain(c)) >= likely })
}

// stands takes the settings off a confirmed configuration whose effects hardly are any.
func (k *known) stands(c Config) Config {
	least := keeps * k.gain(c)
	return k.without(c, func(active, _, _ float64) float64 { return active - aLine }, func(c Config) bool { return k.gain(c) >= least })
}

// without takes settings off a configuration, the worst first, as long as one is worth less than nothing and the rest
// will do.
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

// gain is what to expect of a configuration, less what selection adds.
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

// power is the chance that what is left confirms a gain.
func (k *known) power(gain float64) float64 {
	n := float64(min(mostPairs, k.left()/(beside+1)))
	z := gain/math.Sqrt(2*k.noise/max(1, n)) - stats.NormalQuantile(1-Alpha(k.Confirmations)/2)
	return math.Erfc(-z/math.Sqrt2) / 2
}

// choose is the candidate: the dense configuration, every factor at the level that leans to help, less what
// may be idle. ok is false where nothing promises to help.
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

// model is what the screening has come to.
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

// quantile is one of an effect's distribution: normal with the probability that it is one, else zero.
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
