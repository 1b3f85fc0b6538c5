package plan

import (
	"fmt"

	"linerate/internal/list"
	"linerate/internal/show"
)

// Gain is a setting that an experiment on this host's lab confirmed.
type Gain struct {
	Name, Value string
	// Do is what sets it, in words, where the catalogue does not know it.
	Do       string
	Reason   string
	Evidence Evidence
}

// Confirmed is the plan of settings that were confirmed by experiment, and of nothing
// else; left are those that were tried and are left alone. A gain that the catalogue
// has no record of, or no place to set, is one to set by hand.
func Confirmed(in Input, gains []Gain, left []LeftAlone) (Plan, error) {
	p, err := begin(in)
	if err != nil {
		return Plan{}, err
	}
	p.plan.LeftAlone = left
	for _, g := range gains {
		p.confirmed(g)
	}
	if len(p.plan.ByHand) > 0 {
		p.unmet(fmt.Sprintf("The gain was confirmed with %s, which you set by hand. Without it this plan is not what was confirmed.",
			show.List(list.Map(p.plan.ByHand, func(h ByHand) string { return h.Name + "=" + h.Value }))))
	}
	return p.judged()
}

// confirmed puts one gain into the plan.
func (p *planning) confirmed(g Gain) {
	r, ok := p.Catalogue.Lookup(p.Facts.OS, g.Name)
	switch {
	case !ok:
		p.byHand(g, g.Do)
	case !p.gains(g.Name, r, g.Value, p.at(g.Name, ""), g.Reason, g.Evidence):
		p.byHand(g, setBy(r, g.Name, g.Value))
	}
}

// byHand puts a gain among what the reader sets.
func (p *planning) byHand(g Gain, do string) {
	p.plan.ByHand = append(p.plan.ByHand, ByHand{Name: g.Name, Value: g.Value, Do: do, Reason: g.Reason, Evidence: g.Evidence})
}
