package trend

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"linerate/internal/chart"
	"linerate/internal/list"
	"linerate/internal/show"
)

// Print writes series and their changes for a person.
func Print(p *show.Page, all []Series, short int, o Options) {
	if len(all) > 0 {
		p.Table(table(all))
	}
	if short > 0 {
		p.Paragraph("", "", fmt.Sprintf("%s of fewer than %d runs left out.", show.Count(short)+" series", 2*o.Minimum))
	}
	for i := range all {
		for j := range all[i].Changes {
			p.Line("")
			all[i].print(p, &all[i].Changes[j])
		}
		if s := &all[i]; s.Follows && len(s.Changes) > 0 {
			p.Paragraph("  warning   ", "            ", "neighbouring runs resemble each other (the machine's state goes in waves): changes are suspected more often than the level says")
		}
	}
	if len(all) > 0 && !changed(all) {
		p.Line("")
		p.Paragraph("", "", nothing(all))
	}
}

// nothing says what it means that no change was found.
func nothing(all []Series) string {
	unreached := len(list.Filter(all, func(s Series) bool { return s.Unreached }))
	why := fmt.Sprintf("in %s series no step could reach its level, an equal share of alpha. More runs, fewer series or a larger alpha help.", show.Count(unreached))
	switch unreached {
	case 0:
		return "No change is suspected."
	case len(all):
		return "Whether anything changed cannot be told: " + why
	default:
		return "No change is suspected, but not of all can it be told: " + why
	}
}

// table has a row for each series.
func table(all []Series) show.Table {
	t := show.Table{Header: []string{"study", "variant", "metric", "runs", "last", "changes"}, Right: []bool{false, false, false, true, true, true}}
	for i := range all {
		s := &all[i]
		t.Add(s.Study, s.Variant, s.Metric, show.Count(len(s.Points)), s.words(s.Points[len(s.Points)-1].Value), show.Count(len(s.Changes)))
	}
	return t
}

func changed(all []Series) bool {
	for i := range all {
		if len(all[i].Changes) > 0 {
			return true
		}
	}
	return false
}

// words is a value with its unit.
func (s *Series) words(v float64) string { return strings.TrimSpace(show.Digits(v) + " " + s.Unit) }

// headline says what changed, when.
func (s *Series) headline(c *Change) string {
	when := fmt.Sprintf("between %s and %s", c.from(), c.to())
	if c.Kind == Drift {
		when = fmt.Sprintf("drifting from %s to %s", c.from(), c.to())
	}
	change := show.SignedPercent(c.Percent.Float())
	if !c.Percent.Known() {
		change = ""
	}
	return strings.TrimSpace(fmt.Sprintf("%s of %s, %s: %s → %s, %s", s.Metric, s.Variant, s.Study, show.Digits(c.From), s.words(c.To), change)) + " " + when
}

func (s *Series) print(p *show.Page, c *Change) {
	ink := show.Note
	if c.Worse && c.Status != Refuted {
		ink = show.Bad
	}
	p.Paragraph(p.Headline(ink, string(c.Status))+"  ", "  ", s.headline(c))
	p.Line("  runs      " + short(c.Before.ID) + " and " + short(c.After.ID) + " on " + s.Subject + ", p " + show.P(c.P))
	if len(c.Turns) > 0 {
		p.Paragraph("  changed   ", "            ", strings.Join(c.Turns, "; "))
	}
	if len(c.Beside) > 0 {
		p.Paragraph("  beside    ", "            ", strings.Join(c.Beside, "; "))
	}
	if text := c.rerun(); text != "" {
		p.Paragraph("  re-run    ", "            ", text)
	}
}

// rerun says what a re-run came to, or can.
func (c *Change) rerun() string {
	switch {
	case c.Claim != nil:
		return c.verdict()
	case c.Why != "":
		return "not provable here: " + c.Why
	case c.Rerun != "":
		return "not yet made: both can take turns in a study, here or on testbeds"
	}
	return ""
}

// verdict tells what a re-run came to.
func (c *Change) verdict() string {
	text := string(c.Claim.Verdict)
	if c.Claim.EffectPercent.Known() || c.Claim.EffectPoints.Known() {
		text += ", " + c.Claim.TextWithBounds()
	}
	text += " (" + c.Rerun + ", " + short(c.Claim.Study) + ")"
	if c.Status == Confirmed && len(c.Beside) > 0 {
		text += ": by what changed alone, whatever else differed beside it"
	}
	return text
}

// Figures draw the series that changed, with each level as a line.
func Figures(all []Series) (figures []chart.Figure) {
	for i := range all {
		if s := &all[i]; len(s.Changes) > 0 {
			title := fmt.Sprintf("%s: %s of %s", s.Study, s.Metric, s.Variant)
			note := s.Subject + "."
			if s.Unit != "" {
				note = "In " + s.Unit + "; " + note
			}
			figures = append(figures, chart.Draw(title, note, s.draw)...)
		}
	}
	return figures
}

func (s *Series) draw(width float64) string {
	runs := chart.Series{Name: "runs", Class: 0}
	levels := chart.Series{Name: "level", Class: 1}
	for i, p := range s.Points {
		runs.Points = append(runs.Points, [2]float64{float64(i + 1), p.Value})
	}
	at := func(r Run) float64 {
		for i, p := range s.Points {
			if p.ID == r.ID {
				return float64(i + 1)
			}
		}
		return math.NaN()
	}
	for i := range s.Changes {
		c := &s.Changes[i]
		levels.Points = append(levels.Points, [2]float64{at(c.Before), c.From}, [2]float64{at(c.After), c.To})
	}
	first, last := s.Changes[0], s.Changes[len(s.Changes)-1]
	if first.Kind == Step {
		levels.Points = slices.Insert(levels.Points, 0, [2]float64{1, first.From})
	}
	if last.Kind == Step {
		levels.Points = append(levels.Points, [2]float64{float64(len(s.Points)), last.To})
	}
	axes := chart.Axes{X: func(v float64) string { return s.dayAt(v) }, Y: show.Tick, Across: "run", Up: s.Metric, Close: true}
	return chart.Lines([]chart.Series{runs, levels}, axes, width, "values of the runs over time")
}

// dayAt is the day of a run by its place.
func (s *Series) dayAt(v float64) string {
	i := int(math.Round(v)) - 1
	if i < 0 || i >= len(s.Points) {
		return ""
	}
	return s.Points[i].Started.UTC().Format("02 Jan")
}

// Since leaves the changes that were there for the first time after a moment.
func Since(all []Series, t time.Time) {
	for i := range all {
		kept := []Change{}
		for _, c := range all[i].Changes {
			if c.At().After(t) {
				kept = append(kept, c)
			}
		}
		all[i].Changes = kept
	}
}
