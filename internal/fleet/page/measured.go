package page

import (
	"fmt"

	"linerate/internal/fleet/wedge"
	"linerate/internal/show"
)

// Saying describes the decision of a look: "no harm beyond 5 %".
func Saying(t *wedge.Trial, says wedge.Says) string {
	limit := t.Limit()
	return map[wedge.Says]string{wedge.Go: "no harm beyond " + limit, wedge.Harm: "harm", wedge.Wait: "harm of " + limit + " is not excluded", wedge.Unseen: "too few hosts to see " + limit}[says]
}

// Measured shows the results so far of a wave that is an experiment.
func Measured(p *show.Page, t *wedge.Trial) {
	p.Paragraph("  ", "  ", fmt.Sprintf("measured by %s, %s is better; %s", show.Clean(t.Metric), t.Better, t.Design()))
	if len(t.Periods) < wedge.Baselines {
		return
	}
	power, _ := t.Power()
	p.Line("  " + power)
	table := show.Table{Header: []string{"  wave", "have it", "have not", "effect", "95 % interval", "sees", ""}, Right: []bool{false, true, true, true, true, true, false}}
	var last wedge.Look
	for _, l := range t.Looks() {
		table.Add(fmt.Sprintf("  %d", l.Wave), show.Count(l.Treated), show.Count(l.Others), l.Effect.Text(), l.Effect.Bounds(), show.Optional(l.Sees, show.Percent), Saying(t, l.Says))
		last = l
	}
	if last.Wave == 0 {
		return
	}
	p.Table(table)
	sham := "  A/A: an empty change " + last.Sham.TextWithBounds()
	switch low, high := last.Sham.CILow.Float(), last.Sham.CIHigh.Float(); {
	case low > 0 || high < 0:
		sham += ": hosts differ that should not; distrust the effect"
	case !last.Sham.CILow.Known():
		sham += ", of too few hosts for an interval"
	}
	p.Line(sham)
	if last.LeftOut > 0 {
		p.Line(fmt.Sprintf("  %s without a reading left out", show.Plural(last.LeftOut, "host")))
	}
}
