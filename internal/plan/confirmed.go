package plan

import (
	"fmt"

	"linerate/internal/list"
	"linerate/internal/show"
)

// Gain is a setting confirmed by an experiment in this host's lab.
type Gain struct {
	Name, Value string
	// Do describes how to set it if the catalogue has no record of it.
	Do       string
	Reason   string
	Evidence Evidence
}

// Confirmed returns a plan of only the settings that an experiment confirmed; left lists the
// settings that were tried and are left alone. A gain without a record in the catalogue, or without
// a file to hold it, must be set by hand.
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

// confirmed adds one gain to the plan.
func (p *planning) confirmed(g Gain) {
	r, ok := p.Catalogue.Lookup(p.Facts.OS, g.Name)
	switch {
	case !ok:
		p.byHand(g, g.Do)
	case !p.gains(g.Name, r, g.Value, p.at(g.Name, ""), g.Reason, g.Evidence):
		p.byHand(g, setBy(r, g.Name, g.Value))
	}
}

// byHand adds a gain to the settings to make by hand.
func (p *planning) byHand(g Gain, do string) {
	p.plan.ByHand = append(p.plan.ByHand, ByHand{Name: g.Name, Value: g.Value, Do: do, Reason: g.Reason, Evidence: g.Evidence})
}
