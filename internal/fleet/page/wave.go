package page

import (
	"cmp"
	"fmt"
	"strings"

	"linerate/internal/fleet"
	"linerate/internal/show"
)

// Outcome describes a wave's outcome.
func Outcome(w fleet.Wave) string { return cmp.Or(string(w.Outcome), "not ended") }

// Wave lists the hosts of a wave by state; hosts without a text share one line.
func Wave(p *show.Page, w fleet.Wave, hosts []fleet.WaveEvent) {
	p.Line(fmt.Sprintf("wave %s: %s, %s", p.Bold(w.ID), show.Plural(w.Hosts, "host"), Outcome(w)))
	if w.Reason != "" {
		p.Paragraph("  ", "  ", show.Clean(strings.Join(strings.Fields(w.Reason), " ")))
	}
	if w.Options.Measure != nil {
		Measured(p, w.Options.Measure)
	}
	for _, state := range fleet.WaveStates() {
		var plain []string
		var noted []fleet.WaveEvent
		for _, h := range hosts {
			switch {
			case h.State != state:
			case h.Text != "":
				noted = append(noted, h)
			default:
				plain = append(plain, show.Clean(h.Name))
			}
		}
		if len(plain)+len(noted) == 0 {
			continue
		}
		p.Paragraph(fmt.Sprintf("%-13s ", state), "              ", strings.TrimSuffix(show.Count(len(plain)+len(noted))+": "+Some(plain, MostChanges), ": "))
		for i, h := range noted {
			if i == MostChanges {
				p.Line(fmt.Sprintf("  … and %s more, in the JSON", show.Count(len(noted)-i)))
				break
			}
			p.Paragraph("  ", "    ", show.Clean(h.Name)+": "+h.Text)
		}
	}
}

// Plans lists the changes in plans, with the number of hosts for each.
func Plans(p *show.Page, s fleet.PlanSummary) {
	few(p, len(s.Changes), MostChanges, "change", func(i int) {
		c := s.Changes[i]
		change := "not set → " + c.Value
		switch {
		case c.Was != nil && *c.Was == c.Value:
			change = c.Value + ", made to last"
		case c.Was != nil:
			change = *c.Was + " → " + c.Value
		}
		p.Paragraph("  ", "    ", show.Clean(fmt.Sprintf("%s %s on %s of %s", c.Setting, change, show.Count(c.Hosts), show.Plural(s.Hosts, "host"))))
	})
}
